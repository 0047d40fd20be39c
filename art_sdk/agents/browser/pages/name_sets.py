"""Sets of names, written as text."""

from __future__ import annotations


def name_set(text: str) -> frozenset[str]:
    """The names that stand in the text, between spaces."""
    return frozenset(text.split())
