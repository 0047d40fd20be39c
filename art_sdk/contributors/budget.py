"""Makes a prompt fit its budget: drops the parts that may go, then cuts from the end, and marks what is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from art_sdk.contributors.system_prompt import IN_THE_PROMPT, SEPARATOR, PromptPart

CUT: Final = "\n[truncated]"
"""What marks a part that was cut."""


def fit(parts: Sequence[PromptPart], max_chars: int | None, drop_order: Sequence[str]) -> list[PromptPart]:
    """The parts, shortened so that those in the prompt take at most `max_chars` characters, separators included.

    First the parts in `drop_order` are dropped, one after the other, as far as needed. If that is not enough, the last
    part is cut, and dropped if it is wrapped in a tag or has no room for a character and the mark; then the one before.
    """
    fitted = list(parts)
    if max_chars is None:
        return fitted
    for index in [*_droppable(fitted, drop_order)]:
        if _length(fitted) <= max_chars:
            return fitted
        fitted[index] = replace(fitted[index], state="dropped")
    for index in reversed(range(len(fitted))):
        if _length(fitted) <= max_chars:
            return fitted
        if fitted[index].state in IN_THE_PROMPT:
            fitted[index] = _shortened(fitted[index], _length(fitted) - max_chars)
    return fitted


def _droppable(parts: Sequence[PromptPart], drop_order: Sequence[str]) -> list[int]:
    """The places of the parts in the prompt that may be dropped, in that order."""
    places = {part.id: index for index, part in enumerate(parts) if part.state in IN_THE_PROMPT}
    return [places[id_] for id_ in dict.fromkeys(drop_order) if id_ in places]


def _shortened(part: PromptPart, excess: int) -> PromptPart:
    """The part, shorter by as many characters, the mark included; dropped if it cannot be."""
    left = part.size - excess - len(CUT)
    if left <= 0 or part.is_wrapped:
        return replace(part, state="dropped")
    return replace(part, text=part.text[:left] + CUT, state="truncated")


def _length(parts: Sequence[PromptPart]) -> int:
    sizes = [part.size for part in parts if part.state in IN_THE_PROMPT]
    return sum(sizes) + len(SEPARATOR) * max(len(sizes) - 1, 0)
