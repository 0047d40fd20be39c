"""How messages quote what may be long: the beginning of it, or where two of them part."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 120
"""Characters of a quotation, where nobody says otherwise."""

AT_LENGTH: Final = 600
"""Characters of what somebody else says, and who is worth hearing."""

_WINDOW: Final = 60
_BEFORE: Final = 20


def shorten(text: str, longest: int = LONGEST) -> str:
    """The text, or so many characters of it and an ellipsis."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def show(value: object) -> str:
    """Any value as Python writes it, cut where it is long."""
    return shorten(repr(value))


def quote(text: str) -> str:
    """A text as Python writes it, its length told where it is cut."""
    return repr(text) if len(text) <= _WINDOW else f"{text[:_WINDOW]!r}… ({len(text)} characters)"


def quote_parting(one: str, other: str) -> tuple[int, str, str]:
    """The first character in which the texts differ, and both as Python writes them from shortly before."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(at - _BEFORE, 0)
    return at, _window(one, start), _window(other, start)


def _window(text: str, start: int) -> str:
    shown = shorten(text[start:], _WINDOW)
    return repr(f"…{shown}" if start else shown)


def describe_change(wanted: str, found: str) -> str:
    """Both texts where they first part, short enough to read."""
    at, one, other = quote_parting(wanted, found)
    return f"expected {one}, found {other}, from character {at} on"
