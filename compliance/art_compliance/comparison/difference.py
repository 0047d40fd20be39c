"""What a comparison takes and gives: what a request must say, and its differences."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from art_compliance.comparison.constants import NO_CONSTANTS, Constants
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
    """One slot that did not survive: `path` in the prompt, `pointer` in the payload, and the loss that allows it.

    `is_last_of_keys`: what is missing are earlier values of repeated keys, which most readers of JSON drop.
    """

    slot: Slot
    message: str
    path: str | None = None
    pointer: str | None = None
    loss: Loss | None = None
    is_last_of_keys: bool = False


class Comparison(Struct, frozen=True):
    """The differences, and the repairs that explain others away."""

    differences: tuple[Difference, ...]
    repairs: frozenset[Repair]

    def weight(self, declared: frozenset[Repair]) -> tuple[int, int, int, int]:
        """The smaller, the better the explanation. A difference that a loss may allow weighs less than a repair.

        Of two explanations that are equally good, the one with the declared repairs is better.
        """
        unexplained = sum(difference.loss is None for difference in self.differences)
        return unexplained, len(self.repairs), len(self.repairs - declared), len(self.differences)


class Expected(Struct, frozen=True, kw_only=True):
    """What a request must say. Extensions of other dialects need not be in it.

    `constants` are the texts that the adapter adds when it repairs a prompt, `declared` the repairs that it declares.
    `has_own_form` says that it keeps extensions in a form of its own, which cannot be compared; `text_names` are those
    that may have the text of a message with calls.
    """

    dialect: str
    prompt: ArtStandardPrompt
    tools: tuple[ToolSchema, ...]
    options: dict[str, Any]
    constants: Constants = NO_CONSTANTS
    declared: frozenset[Repair] = frozenset()
    has_own_form: bool = False
    text_names: frozenset[str] = frozenset()
