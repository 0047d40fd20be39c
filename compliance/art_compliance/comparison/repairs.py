"""Repairs that change the turns of a conversation, applied to entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final, NamedTuple

from msgspec.structs import replace

from art_compliance.comparison.constants import Constants, Filler
from art_compliance.comparison.normal_form import Entry, Role
from art_sdk.adapters.capabilities import Repair


class _TurnRepair(NamedTuple):
    """A repair: whether a prompt has anything to repair, and the wanted entries after it."""

    has_cause: Callable[[list[Entry], Constants], bool]
    apply: Callable[[list[Entry], Constants], list[Entry]]


_Repairs = frozenset[Repair]


def explanations(wanted: list[Entry], dialect: str, constants: Constants) -> Iterator[tuple[_Repairs, ...]]:
    """The sets of repairs that may have been made, those of one repair first, then those of two, and so on."""
    copies = [_copy(entry, dialect) for entry in wanted]
    chosen: list[Repair] = [name for name, repair in _REPAIRS.items() if repair.has_cause(copies, constants)]
    for count in range(1, len(chosen) + 1):
        yield tuple(_Repairs(names) for names in combinations(chosen, count))


def wanted_after(entries: list[Entry], repairs: frozenset[Repair], dialect: str, constants: Constants) -> list[Entry]:
    """Copies of the wanted entries with these repairs made."""
    copies = [_copy(entry, dialect) for entry in entries]
    for name, repair in _REPAIRS.items():
        if name in repairs:
            copies = repair.apply(copies, constants)
    return copies


def found_after(
    wanted: list[Entry], found: list[Entry], repairs: frozenset[Repair], dialect: str, constants: Constants
) -> list[Entry]:
    """Copies of the found entries, with what these repairs account for as it was wanted."""
    copies = [_copy(entry, dialect) for entry in found]
    if {"drops_blank_text", "fills_blank_text"} <= repairs:  # some blank texts left out, others filled
        copies = _blanked(copies, constants)
    if "drops_blank_text" in repairs:
        copies = _without_blank(copies, constants)
    if "fills_blank_text" in repairs:
        copies = _filled_blank(copies, constants)
    if "adds_filler_turn" in repairs:
        copies = without_fillers(wanted, copies, constants)
    return _joined_turns(copies, constants) if "joins_turns" in repairs else copies


def without_fillers(wanted: list[Entry], found: list[Entry], constants: Constants) -> list[Entry]:
    """The found entries without the adapter's fillers, where the roles would not alternate without them."""
    kept: list[Entry] = []
    left = [_shape(entry) for entry in wanted]
    for at, entry in enumerate(found):
        is_surplus = not (left and left[0] == _shape(entry))
        if is_surplus and _is_filler(entry, constants) and _fills_a_gap(found, at):
            continue
        kept.append(entry)
        left = left[1:]
    return kept


def _is_filler(entry: Entry, constants: Constants) -> bool:
    is_plain = len(entry.texts) == 1 and not (entry.calls or entry.images)
    return is_plain and Filler(entry.role, entry.texts[0]) in constants.fillers


def _fills_a_gap(entries: list[Entry], at: int) -> bool:
    """Whether the turns around this one do not alternate by themselves."""
    before = next((_last_role(e) for e in reversed(entries[:at]) if e.role != "system"), None)
    after = next((e.role for e in entries[at + 1 :] if e.role != "system"), None)
    return (before, after) not in _ALTERNATING


_ALTERNATING: Final = frozenset(
    {
        ("user", "assistant"),
        ("assistant", "user"),
        ("result", "assistant"),
        (None, "user"),
        ("user", None),
        ("result", None),
    }
)


def _last_role(entry: Entry) -> Role:
    """Whose turn it is that ends there: that of the results, where its calls have any."""
    return "result" if any(call.result for call in entry.calls) else entry.role


def _shape(entry: Entry) -> tuple[object, ...]:
    return entry.role, entry.texts, len(entry.calls)


def _copy(entry: Entry, dialect: str) -> Entry:
    """A copy with only the dialect's own extensions: others mean nothing to it."""
    own = {name: dict(value) for name, value in entry.extensions.items() if name == dialect}
    return replace(entry, calls=list(entry.calls), extensions=own)


def _has_blank(entries: list[Entry], constants: Constants) -> bool:
    del constants
    return any(one.is_empty or one.had_blank or not all(text.strip() for text in one.texts) for one in entries)


def _without_blank(entries: list[Entry], constants: Constants) -> list[Entry]:
    del constants
    kept = [entry for entry in entries if not entry.is_empty]
    for entry in kept:
        is_kept = [bool(text.strip()) for text in entry.texts]
        entry.images = tuple(image._replace(after=sum(is_kept[: image.after])) for image in entry.images)
        entry.texts = tuple(text for text in entry.texts if text.strip())
        entry.had_blank = False
    return kept


def _filled_blank(entries: list[Entry], constants: Constants) -> list[Entry]:
    """The entries with placeholders in place of blank texts; next to calls, both are the same as no text."""
    for entry in entries:
        text = constants.blanks.get(entry.role)
        if text is not None and entry.calls:
            entry.texts = tuple(one for one in entry.texts if one.strip() and one != text)
        elif text is not None:
            texts = entry.texts or ("",) * entry.had_blank
            entry.texts = tuple(one if one.strip() else text for one in texts)
    return entries


def _blanked(entries: list[Entry], constants: Constants) -> list[Entry]:
    """The entries with blank texts in place of the adapter's placeholders."""
    for entry in entries:
        placeholder = constants.blanks.get(entry.role)
        entry.texts = tuple("" if text == placeholder else text for text in entry.texts)
    return entries


def _late(entries: list[Entry]) -> list[Entry]:
    """The system entries after the first turn of another role."""
    first = next((at for at, entry in enumerate(entries) if entry.role != "system"), len(entries))
    return [entry for entry in entries[first:] if entry.role == "system"]


def _has_late(entries: list[Entry], constants: Constants) -> bool:
    del constants
    return bool(_late(entries))


def _hoisted(entries: list[Entry], constants: Constants) -> list[Entry]:
    del constants
    return [e for e in entries if e.role == "system"] + [e for e in entries if e.role != "system"]


def _delayed(entries: list[Entry], constants: Constants) -> list[Entry]:
    """Late system entries after an assistant's turn, moved behind the user's turn that follows them."""
    del constants
    moved: list[Entry] = []
    waiting: list[Entry] = []
    for entry in entries:
        if entry.role == "system" and moved and _last_role(moved[-1]) == "assistant":
            waiting.append(entry)
        elif waiting:
            moved += [entry, *waiting] if entry.role == "user" else [*waiting, entry]
            waiting = []
        else:
            moved.append(entry)
    return moved + waiting


def _demoted_late(entries: list[Entry], constants: Constants) -> list[Entry]:
    _demote(_late(entries), constants)
    return entries


def _demoted(entries: list[Entry], constants: Constants) -> list[Entry]:
    _demote([entry for entry in entries if entry.role == "system"], constants)
    return entries


def _demote(entries: list[Entry], constants: Constants) -> None:
    for entry in entries:
        before, after = constants.beside_demoted
        entry.role = "user"
        entry.texts = (*before, *map(constants.demoted.around, entry.texts), *after)


def _prefill(entries: list[Entry]) -> Entry | None:
    """The assistant's text at the end, if it ends in whitespace. System messages may stand after it."""
    last = next((entry for entry in reversed(entries) if entry.role != "system"), None)
    is_prefill = last is not None and last.role == "assistant" and not last.calls
    return last if is_prefill and last is not None and any(one != one.rstrip() for one in last.texts) else None


def _trimmed(entries: list[Entry], constants: Constants) -> list[Entry]:
    del constants
    last = _prefill(entries)
    if last is not None:
        last.texts = tuple(text.rstrip() for text in last.texts)
    return entries


def _joined_turns(entries: list[Entry], constants: Constants) -> list[Entry]:
    """The entries with adjacent turns of one role joined. A turn with calls is closed by the first of their results."""
    del constants
    joined: list[Entry] = []
    for entry in entries:
        before = joined[-1] if joined else None
        if before is not None and before.role == entry.role and not _is_closed(before, entry):
            before.name = before.name if before.name == entry.name else None
            moved = [image._replace(after=image.after + len(before.texts)) for image in entry.images]
            before.images += tuple(moved)
            before.texts += entry.texts
            before.turns += entry.turns
            before.calls += entry.calls
            for dialect, extension in entry.extensions.items():
                before.extensions[dialect] = before.extensions.get(dialect, {}) | extension
        else:
            joined.append(entry)
    return joined


def _is_closed(before: Entry, entry: Entry) -> bool:
    """Whether a result is between the calls of a turn and the next one, or no result is after that."""
    places = [_place(call.result.path) for call in before.calls if call.result is not None]
    return bool(before.calls) and not (places and min(places) > _place(entry.path))


def _place(path: str) -> int:
    """The number of the message at a path like `$[2].content`."""
    return int(path[2 : path.index("]")])


def _is_never_empty(entries: list[Entry], constants: Constants) -> bool:
    del constants
    return bool(entries)


def _has_placeholder(entries: list[Entry], constants: Constants) -> bool:
    return bool(constants.blanks) and _has_blank(entries, constants)


def _has_system(entries: list[Entry], constants: Constants) -> bool:
    del constants
    return any(entry.role == "system" for entry in entries)


def _has_prefill(entries: list[Entry], constants: Constants) -> bool:
    del constants
    return _prefill(entries) is not None


def _has_fillers(entries: list[Entry], constants: Constants) -> bool:
    del entries
    return bool(constants.fillers)


def _as_they_are(entries: list[Entry], constants: Constants) -> list[Entry]:
    """Fillers are in the found entries alone."""
    del constants
    return entries


_REPAIRS: Final[dict[Repair, _TurnRepair]] = {
    "drops_blank_text": _TurnRepair(_has_blank, _without_blank),
    "fills_blank_text": _TurnRepair(_has_placeholder, _filled_blank),
    "demotes_late_system": _TurnRepair(_has_late, _demoted_late),
    "demotes_system": _TurnRepair(_has_system, _demoted),
    "delays_late_system": _TurnRepair(_has_late, _delayed),
    "hoists_late_system": _TurnRepair(_has_late, _hoisted),
    "trims_prefill": _TurnRepair(_has_prefill, _trimmed),
    "adds_filler_turn": _TurnRepair(_has_fillers, _as_they_are),
    "joins_turns": _TurnRepair(_is_never_empty, _joined_turns),
}
"""The repairs in the order in which they are made."""
