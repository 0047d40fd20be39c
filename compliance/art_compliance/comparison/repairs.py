"""The repairs that change which turns there are: how entries read once they were made."""

from __future__ import annotations

from itertools import combinations
from typing import Final

from art_compliance.comparison.normal_form import Entry
from art_sdk.adapters.capabilities import Repair

_TURN_REPAIRS: Final[tuple[Repair, ...]] = (
    "drops_blank_text",
    "joins_turns",
    "hoists_late_system",
    "adds_filler_turn",
)
READINGS: Final = tuple(
    frozenset(chosen) for count in range(len(_TURN_REPAIRS) + 1) for chosen in combinations(_TURN_REPAIRS, count)
)
"""The repairs that change which turns there are, from none to all: each is tried as an explanation."""


def repaired(entries: list[Entry], repairs: frozenset[Repair], dialect: str) -> list[Entry]:
    """The entries as they read once the repairs were made. Only copies are changed."""
    told = [_copy(entry, dialect) for entry in entries]
    if "drops_blank_text" in repairs:
        told = [_without_blank(entry) for entry in told if not entry.is_empty]
    if "hoists_late_system" in repairs:
        told = [e for e in told if e.role == "system"] + [e for e in told if e.role != "system"]
    return _joined_turns(told) if "joins_turns" in repairs else told


def without_filler(wanted: list[Entry], found: list[Entry]) -> list[Entry]:
    """A user's turn that was put before a conversation that begins with the assistant is left out."""
    first, got = (next((e for e in side if e.role != "system"), None) for side in (wanted, found))
    if first is None or got is None or first.role != "assistant" or got.role != "user":
        return found
    return [entry for entry in found if entry is not got]


def _copy(entry: Entry, dialect: str) -> Entry:
    """A copy with the extensions of the dialect alone: another's say nothing in it."""
    own = {name: dict(value) for name, value in entry.extensions.items() if name == dialect}
    return Entry(entry.role, entry.texts, entry.path, entry.name, list(entry.calls), entry.images, own)


def _without_blank(entry: Entry) -> Entry:
    kept = [bool(text.strip()) for text in entry.texts]
    entry.images = tuple(image._replace(after=sum(kept[: image.after])) for image in entry.images)
    entry.texts = tuple(text for text in entry.texts if text.strip())
    return entry


def _joined_turns(entries: list[Entry]) -> list[Entry]:
    """Turns of one role that stand together, as one. A turn whose calls were answered is closed."""
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
