"""A messages request as its rules look at it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from art_compliance.dialects.ruling import Place, Request, objects


class Turn(NamedTuple):
    """Messages of one role that stand next to each other: Anthropic takes them for one."""

    role: Any
    messages: list[Place]

    @property
    def blocks(self) -> list[Place]:
        """All blocks of all its messages."""
        return [block for message in self.messages for block in blocks_of(message)]

    def of_kind(self, *kinds: str) -> list[Place]:
        """Its blocks of these types."""
        return [block for block in self.blocks if block.value.get("type") in kinds]


class Messages(Request):
    """The raw body, with messages, turns and tools found once."""

    @cached_property
    def messages(self) -> list[Place]:
        """Every message."""
        return objects(self.body.get("messages"), "/messages")

    @cached_property
    def turns(self) -> list[Turn]:
        """The messages, joined by role; a system message inside the conversation parts no turns."""
        turns: list[Turn] = []
        for message in self.messages:
            role = message.value.get("role")
            if role == "system":
                continue
            if turns and turns[-1].role == role:
                turns[-1].messages.append(message)
            else:
                turns.append(Turn(role, [message]))
        return turns

    @cached_property
    def tools(self) -> list[Place]:
        """The tools that have a schema of their own; the provider's have none."""
        return [
            tool for tool in objects(self.body.get("tools"), "/tools") if tool.value.get("type") in (None, "custom")
        ]

    @cached_property
    def system(self) -> list[Place]:
        """The blocks of the system prompt."""
        return objects(self.body.get("system"), "/system")

    def texts(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The text blocks of system prompt and messages, each with the pointer to its text."""
        for block in (*self.system, *(block for message in self.messages for block in blocks_of(message))):
            if block.value.get("type") == "text" and isinstance(block.value.get("text"), str):
                yield f"{block.pointer}/text", block.value


def blocks_of(message: Place) -> list[Place]:
    """A message's blocks; text alone is none."""
    return objects(message.value.get("content"), f"{message.pointer}/content")
