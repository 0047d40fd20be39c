"""Lines for a terminal: what they say, how they look, and how many rows they take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple
from unicodedata import east_asian_width

Style = Literal["plain", "good", "bad"]


class Line(NamedTuple):
    """One line of text, and whether it is good or bad news."""

    text: str
    style: Style = "plain"


def as_text(lines: Iterable[Line]) -> str:
    """The lines without their styles."""
    return "\n".join(line.text for line in lines)


def rows_of(lines: Iterable[Line], width: int | None) -> int:
    """How many rows the lines take on a terminal of this width; without a width, how many lines they are."""
    return sum(_rows(text, width) for line in lines for text in line.text.split("\n"))


def _rows(text: str, width: int | None) -> int:
    return 1 if width is None else max(1, -(-_columns(text) // max(width, 1)))


def _columns(text: str) -> int:
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def counted(count: int, noun: str) -> str:
    """The number with its noun: `1 finding`, `2,400 findings`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
