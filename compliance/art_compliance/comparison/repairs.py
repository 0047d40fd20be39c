"""Repairs that change the turns of a conversation, applied to entries."""

from __future__ import annotations

from itertools import combinations
from typing import Final

from art_compliance.comparison.normal_form import Entry
from art_sdk.adapters.capabilities import Repair

_REPAIRS: Final[tuple[Repair, ...]] = (
    "drops_blank_text",
    "joins_turns",
    "hoists_late_system",
    "adds_filler_turn",
)
TURN_REPAIRS: Final = tuple(
    frozenset(chosen) for count in range(len(_REPAIRS) + 1) for chosen in combinations(_REPAIRS, count)
)
"""Every set of repairs that change turns, from none to all. Each is tried as an explanation."""


def repaired(entries: list[Entry], repairs: frozenset[Repair], dialect: str) -> list[Entry]:
    """Copies of the entries with these repairs made."""
    copies = [_copy(entry, dialect) for entry in entries]
    if "drops_blank_text" in repairs:
        copies = [_without_blank(entry) for entry in copies if not entry.is_empty]
    if "hoists_late_system" in repairs:
        copies = [e for e in copies if e.role == "system"] + [e for e in copies if e.role != "system"]
    return _joined_turns(copies) if "joins_turns" in repairs else copies


def without_filler(wanted: list[Entry], found: list[Entry]) -> list[Entry]:
    """The found entries without a user turn that was added before an opening assistant turn."""
    first, got = (next((e for e in side if e.role != "system"), None) for side in (wanted, found))
    if first is None or got is None or first.role != "assistant" or got.role != "user":
        return found
    return [entry for entry in found if entry is not got]


def _copy(entry: Entry, dialect: str) -> Entry:
    """A copy with only the dialect's own extensions: others mean nothing to it."""
    own = {name: dict(value) for name, value in entry.extensions.items() if name == dialect}
    return Entry(entry.role, entry.texts, entry.path, entry.name, list(entry.calls), entry.images, own)


def _without_blank(entry: Entry) -> Entry:
    kept = [bool(text.strip()) for text in entry.texts]
    entry.images = tuple(image._replace(after=sum(kept[: image.after])) for image in entry.images)
    entry.texts = tuple(text for text in entry.texts if text.strip())
    return entry


def _joined_turns(entries: list[Entry]) -> list[Entry]:
    """The entries with adjacent turns of one role joined. A turn with calls is closed by their results."""
    joined: list[Entry] = []
    for entry in entries:
        before = joined[-1] if joined else None
        if before is not None and before.role == entry.role and not before.calls:
            before.name = before.name if before.name == entry.name else None
            moved = [image._replace(after=image.after + len(before.texts)) for image in entry.images]
            before.images += tuple(moved)
            before.texts += entry.texts
            before.calls += entry.calls
            for dialect, extension in entry.extensions.items():
                before.extensions[dialect] = before.extensions.get(dialect, {}) | extension
        else:
            joined.append(entry)
    return joined
