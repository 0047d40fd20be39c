"""Quotes long texts in messages: their beginning, or where two of them differ."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 120
"""The default length of a quotation in characters."""

AT_LENGTH: Final = 600
"""The length for messages of others, such as a provider's, in characters."""

_WINDOW: Final = 60
_BEFORE: Final = 20


def shorten(text: str, longest: int = LONGEST) -> str:
    """The text, cut at this many characters, with an ellipsis."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def show(value: object) -> str:
    """The value's repr, cut if it is long."""
    return shorten(repr(value))


def quote(text: str) -> str:
    """The text's repr, with the length if it is cut."""
    return repr(text) if len(text) <= _WINDOW else f"{text[:_WINDOW]!r}… ({len(text)} characters)"


def quote_difference(one: str, other: str) -> tuple[int, str, str]:
    """The index of the first different character, and the reprs of both texts from shortly before it."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(at - _BEFORE, 0)
    return at, _window(one, start), _window(other, start)


def _window(text: str, start: int) -> str:
    shown = shorten(text[start:], _WINDOW)
    return repr(f"…{shown}" if start else shown)


def describe_change(wanted: str, found: str) -> str:
    """Both texts where they first differ, short enough to read."""
    at, one, other = quote_difference(wanted, found)
    return f"expected {one}, found {other}, from character {at} on"
