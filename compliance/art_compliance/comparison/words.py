"""Texts in messages: short enough to read, and shown where they part."""

from __future__ import annotations

from typing import Final

_SHOWN: Final = 60


def short(text: str) -> str:
    """The text as it is quoted, its length told where it is cut."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}… ({len(text)} characters)"


def describe_change(wanted: str, found: str) -> str:
    """Both texts where they first part, short enough to read."""
    at = next((i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b), min(len(wanted), len(found)))
    start = max(at - 20, 0)
    lead = "…" if start else ""
    shown = [
        f"{lead}{text[start : start + _SHOWN]}{'…' if len(text) > start + _SHOWN else ''}" for text in (wanted, found)
    ]
    return f"expected {shown[0]!r}, found {shown[1]!r}, from character {at} on"
