"""SystemPrompt: what a build makes, with every part for inspection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from art_sdk.contributors.configuration import Stability

LevelName = Literal["base", "instance", "thread", "call"]
"""Whose a contributor is: the agent's configuration, this agent's, one thread's, or one call's."""

PartState = Literal["kept", "empty", "failed", "repeated", "dropped", "truncated"]
"""What became of a part. `dropped` and `truncated`: the prompt was too long. `repeated`: the prompt has it already."""

IN_THE_PROMPT: Final = frozenset({"kept", "truncated"})
"""The states of the parts whose text is in the prompt."""

SEPARATOR: Final = "\n\n"


@dataclass(frozen=True, kw_only=True, repr=False)
class PromptPart:
    """What one contributor gave: its text, how long that took in milliseconds, and what went wrong.

    A text that `is_wrapped` in tags is never cut. The repr does not show the text.
    """

    id: str
    priority: int
    level: LevelName
    stability: Stability
    text: str
    state: PartState
    milliseconds: float
    error: str | None = None
    is_wrapped: bool = False

    @property
    def size(self) -> int:
        """Characters of the text."""
        return len(self.text)

    def __repr__(self) -> str:
        error = "" if self.error is None else f", error={self.error!r}"
        shown = f"{self.id!r}, {self.level}, {self.state}, {self.size:,} characters, {self.milliseconds:.1f} ms"
        return f"PromptPart({shown}{error})"


@dataclass(frozen=True, repr=False)
class SystemPrompt:
    """A system prompt. `parts` are all contributors' in the order of the prompt, also those that are not in it."""

    parts: tuple[PromptPart, ...]

    @property
    def text(self) -> str:
        """The whole prompt: the parts by priority, with a blank line between them."""
        return _joined(self.parts)

    def blocks(self) -> tuple[str, ...]:
        """The prompt as one or two texts: what stays from turn to turn, then what changes. Empty ones are left out.

        As two leading system messages, they let a provider's cache keep the first.
        """
        stable = _joined(part for part in self.parts if part.stability != "turn")
        changing = _joined(part for part in self.parts if part.stability == "turn")
        return tuple(text for text in (stable, changing) if text)

    @property
    def errors(self) -> dict[str, str]:
        """What went wrong, by the contributor's id."""
        return {part.id: part.error for part in self.parts if part.error is not None}

    def __repr__(self) -> str:
        return f"SystemPrompt({', '.join(map(repr, self.parts))})"


def _joined(parts: Iterable[PromptPart]) -> str:
    return SEPARATOR.join(part.text for part in parts if part.state in IN_THE_PROMPT)
