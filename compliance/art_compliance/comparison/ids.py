"""Call ids that were not mapped one to one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from art_compliance.comparison.normal_form import EntryCall
from art_compliance.quoting import show

_Pair = tuple[EntryCall, EntryCall]
"""A call of the prompt, and the one that was sent for it."""


def wrong_mappings(pairs: Sequence[_Pair]) -> Iterator[tuple[str, _Pair]]:
    """Each id that was sent for several, and each for which several were sent, with the last call that shows it."""
    for sent, own in _grouped((found.id, wanted.id, (wanted, found)) for wanted, found in pairs):
        all_of_them = "both" if len(own) == 2 else "all"
        yield f"the call ids {_listed([*own])} were {all_of_them} sent as {show(sent)}", [*own.values()][-1]
    for own_id, sent_ids in _grouped((wanted.id, found.id, (wanted, found)) for wanted, found in pairs):
        yield f"the call id {show(own_id)} was sent as {_listed([*sent_ids])}", [*sent_ids.values()][-1]


def _grouped(rows: Iterable[tuple[str, str, _Pair]]) -> Iterator[tuple[str, dict[str, _Pair]]]:
    """The ids of one side to which several of the other belong, each of these with its first pair."""
    groups: dict[str, dict[str, _Pair]] = {}
    for one, other, pair in rows:
        groups.setdefault(one, {}).setdefault(other, pair)
    return ((one, others) for one, others in groups.items() if len(others) > 1)


def _listed(ids: list[str]) -> str:
    shown = [*map(show, ids[:_SHOWN]), *([f"{len(ids) - _SHOWN} more"] if len(ids) > _SHOWN else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


_SHOWN: Final = 3
