"""What a comparison takes and gives: what a request must say, and its differences."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from art_sdk.adapters.capabilities import Loss, Repair
from art_sdk.messages import ArtStandardPrompt, ToolSchema

Slot = Literal[
    "system-text",
    "user-text",
    "image",
    "assistant-text",
    "message-name",
    "extensions",
    "turns",
    "call",
    "call-id",
    "arguments",
    "result",
    "result-status",
    "tool",
    "option",
    "invented",
]


class Difference(Struct, frozen=True, kw_only=True):
    """One slot that did not survive: `path` in the prompt, `pointer` in the payload, and the loss that allows it."""

    slot: Slot
    message: str
    path: str | None = None
    pointer: str | None = None
    loss: Loss | None = None


class Comparison(Struct, frozen=True):
    """The differences, and the repairs that explain others away."""

    differences: tuple[Difference, ...]
    repairs: frozenset[Repair]

    @property
    def weight(self) -> tuple[int, int, int]:
        """The smaller, the better the explanation. A difference that a loss may allow weighs less than a repair."""
        unexplained = sum(difference.loss is None for difference in self.differences)
        return unexplained, len(self.repairs), len(self.differences)


class Expected(Struct, frozen=True, kw_only=True):
    """What a request must say. Extensions of other dialects need not be in it."""

    dialect: str
    prompt: ArtStandardPrompt
    tools: tuple[ToolSchema, ...]
    options: dict[str, Any]
