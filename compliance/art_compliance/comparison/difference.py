"""What a comparison takes and tells: what a request must say, and each difference with its places."""

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
    """One slot that did not survive; `path` in the prompt, `pointer` in the payload."""

    slot: Slot
    message: str
    path: str | None = None
    pointer: str | None = None
    loss: Loss | None = None


class Comparison(Struct, frozen=True):
    """The differences, and the repairs without which there would be more."""

    differences: tuple[Difference, ...]
    repairs: frozenset[Repair]

    @property
    def weight(self) -> tuple[int, int, int]:
        """Smaller is the better explanation. What may be a declared loss weighs less than a repair."""
        unexplained = sum(difference.loss is None for difference in self.differences)
        return unexplained, len(self.repairs), len(self.differences)


class Expected(Struct, frozen=True, kw_only=True):
    """What a request must say. Of a message's extensions it need say those of its own dialect alone."""

    dialect: str
    prompt: ArtStandardPrompt
    tools: tuple[ToolSchema, ...]
    options: dict[str, Any]
