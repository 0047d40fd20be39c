"""Slot maps as lines for the terminal, and as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

from art_compliance.publishing.slots import Slot, SlotMap, slot_map
from art_compliance.quoting import escape
from art_compliance.scenarios import load_scenarios

T = TypeVar("T")

ON_THE_PAGE: Final = (
    "one-question",
    "two-leading-systems",
    "late-system-hoisted",
    "multi-turn-history",
    "consecutive-users",
    "text-in-parts",
    "one-image",
    "one-call-and-result",
    "parallel-calls",
    "results-reversed",
    "text-beside-call",
    "tool-requests",
    "failed-result",
    "everything-at-once",
)
"""The scenarios of the page: those whose pieces go to different places in different dialects."""

NOT_SENT: Final = "not sent"

_INTRODUCTION: Final = """\
# Slot maps

Where each piece of a prompt is in the request of each dialect, as a JSON pointer \
([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)). The requests are the canonical payloads of `fixtures/payloads`, \
read by the decoders that judge any adapter. Dialects that put everything at the same places share a column.

`art map SCENARIO` prints the map of any scenario, and `art map --page > docs/slot-maps.md` makes this page.
"""


def describe_map(found: SlotMap) -> Iterator[str]:
    """Piece by piece: its path, what it is, and where it is in each dialect."""
    yield f"{found.scenario}: {found.purpose}"
    for slot in found.slots:
        yield f"{slot.path}  {slot.kind}  {slot.value}"
        groups = _by_pointer(slot)
        width = max(map(len, groups), default=0)
        yield from (f"    {pointer:<{width}}  {', '.join(names)}" for pointer, names in groups.items())
    for why, names in _grouped(found.without).items():
        yield f"{', '.join(names)}: {why}"


def slot_maps_page() -> str:
    """The page of some telling scenarios."""
    by_id = {scenario.id: scenario for scenario in load_scenarios()}
    return "\n".join((_INTRODUCTION, *(line for name in ON_THE_PAGE for line in _section(slot_map(by_id[name])))))


def _section(found: SlotMap) -> Iterator[str]:
    columns = _grouped({name: _column(found, name) for slot in found.slots[:1] for name in slot.pointers})
    yield from (f"## {found.scenario}", "", found.purpose, "")
    yield _row("piece", "value", *(", ".join(names) for names in columns.values()))
    yield _row(*["---"] * (len(columns) + 2))
    for slot in found.slots:
        pointers = (slot.pointers[names[0]] for names in columns.values())
        shown = (f"`{pointer or '/'}`" if pointer is not None else NOT_SENT for pointer in pointers)
        yield _row(f"`{slot.path}` {slot.kind}", f"`{_code(slot.value)}`", *shown)
    yield ""
    for why, names in _grouped(found.without).items():
        yield from (f"{', '.join(names)}: {why}.", "")


def _column(found: SlotMap, dialect: str) -> tuple[str | None, ...]:
    return tuple(slot.pointers[dialect] for slot in found.slots)


def _by_pointer(slot: Slot) -> Mapping[str, list[str]]:
    return _grouped({name: NOT_SENT if pointer is None else pointer or "/" for name, pointer in slot.pointers.items()})


def _grouped(values: Mapping[str, T]) -> dict[T, list[str]]:
    """The names by what they have."""
    groups: dict[T, list[str]] = {}
    for name, value in values.items():
        groups.setdefault(value, []).append(name)
    return groups


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """The text for a span of code in a table."""
    return escape(text).replace("|", "\\|").replace("`", "'")
