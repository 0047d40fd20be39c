"""Keeps a text within a number of tokens, by a counter that the application may give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

TokenCounter = Callable[[str], int]
"""How many tokens a text is for the model."""

_CHARACTERS_PER_TOKEN: Final = 4
_MARK: Final = " [truncated]"


def count_roughly(text: str) -> int:
    """A quarter of the characters, rounded up: how many tokens English text roughly is."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def last_within(texts: Sequence[str], most: int | None, count: TokenCounter) -> list[str]:
    """The last of the texts that are together at most so many tokens, each on a line.

    If even the last is too long, it is cut.
    """
    fitting = how_many_fit(texts, most, count)
    if fitting or not texts:
        return [*texts[len(texts) - fitting :]]
    return [shortened for shortened in [cut(texts[-1], most, count)] if shortened]


def how_many_fit(texts: Sequence[str], most: int | None, count: TokenCounter) -> int:
    """How many of the texts, counted from the last, are together at most so many tokens, each on a line."""
    if most is None:
        return len(texts)
    left = most
    for fitting, text in enumerate(reversed(texts)):
        left -= count(f"{text}\n")
        if left < 0:
            return fitting
    return len(texts)


def cut(text: str, most: int | None, count: TokenCounter) -> str:
    """The beginning of the text that is at most so many tokens, with a mark; empty if not even the mark fits."""
    if most is None or count(text) <= most:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count(text[:middle] + _MARK) <= most:
            fits = middle
        else:
            too_long = middle
    return text[:fits] + _MARK if fits else ""
