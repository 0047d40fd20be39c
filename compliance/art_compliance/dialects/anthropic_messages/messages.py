"""A messages request as its rules look at it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from art_compliance.dialects.ruling import Place, Request, objects


class Turn(NamedTuple):
    """Messages of one role that stand next to each other: Anthropic takes them for one.

    Of all their blocks some are calls (`tool_use`) and some results (`tool_result`).
    """

    role: Any
    blocks: list[Place]
    calls: list[Place]
    results: list[Place]

    def take(self, blocks: list[Place]) -> None:
        """Adds what one more message holds."""
        self.blocks.extend(blocks)
        self.calls.extend([block for block in blocks if block.value.get("type") == "tool_use"])
        self.results.extend([block for block in blocks if block.value.get("type") == "tool_result"])


class Messages(Request):
    """The raw body, with messages, turns and tools found once."""

    @cached_property
    def messages(self) -> list[Place]:
        """Every message."""
        return objects(self.root, "messages")

    @cached_property
    def blocks(self) -> list[list[Place]]:
        """The blocks of every message, message by message; text alone is none."""
        return [objects(message, "content") for message in self.messages]

    @cached_property
    def turns(self) -> list[Turn]:
        """The messages, joined by role; a system message inside the conversation parts no turns."""
        turns: list[Turn] = []
        for message, blocks in zip(self.messages, self.blocks, strict=True):
            role = message.value.get("role")
            if role == "system":
                continue
            if not turns or turns[-1].role != role:
                turns.append(Turn(role, [], [], []))
            turns[-1].take(blocks)
        return turns

    @cached_property
    def tools(self) -> list[Place]:
        """The tools that have a schema of their own; the provider's have none."""
        return [tool for tool in objects(self.root, "tools") if tool.value.get("type") in (None, "custom")]

    @cached_property
    def system(self) -> list[Place]:
        """The blocks of the system prompt."""
        return objects(self.root, "system")

    @cached_property
    def texts(self) -> list[Place]:
        """The text blocks of system prompt and messages."""
        return [block for blocks in (self.system, *self.blocks) for block in blocks if has_text(block)]


def has_text(block: Place) -> bool:
    """Whether it is a block of text."""
    return block.value.get("type") == "text" and isinstance(block.value.get("text"), str)
