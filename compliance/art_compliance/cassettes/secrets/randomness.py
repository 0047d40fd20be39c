"""Tells keys from words: `sk-learn-contrib` begins like a key, but it consists of words."""

from __future__ import annotations

import re
from typing import Final

_PARTS: Final = re.compile(r"[A-Za-z0-9*]+")
_DIGITS_MEET_LETTERS: Final = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_CASES_MEET: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[a-z0-9])|(?<=[a-z])(?=[0-9])")

LOOKED_AT: Final = 256
"""How many letters decide, so that a long run of letters is not read again and again."""

_LONGEST_WORD: Final = 20
_SHORTEST_GENERATED: Final = 8
_SHORTEST_MIXTURE: Final = 24


def looks_random(text: str) -> bool:
    """Whether any part between punctuation looks generated, or all of them together do.

    Masked letters (`***`) count as generated ones.
    """
    beginning = text[:LOOKED_AT]
    parts = _PARTS.findall(beginning)
    return any(map(_is_random, parts)) or _is_mixed(beginning, sum(map(len, parts)))


def _is_random(part: str) -> bool:
    if len(part) > _LONGEST_WORD or "***" in part:
        return True
    if len(part) < _SHORTEST_GENERATED:
        return False
    if part.isdigit():
        return len(part) >= 10
    switches = len(_DIGITS_MEET_LETTERS.findall(part))
    if switches >= 3:
        return True
    return len(part) >= 12 and (switches >= 2 or len(_CASES_MEET.findall(part)) * 2 >= len(part))


def _is_mixed(text: str, letters: int) -> bool:
    """Whether its short parts mix cases and digits: a generated key may have punctuation in several places."""
    if letters < _SHORTEST_MIXTURE:
        return False
    has_digits = _DIGITS_MEET_LETTERS.search(text) is not None
    return len(_CASES_MEET.findall(text)) >= letters * (0.3 if has_digits else 0.45)
