"""A chat completion request as its rules look at it."""

from __future__ import annotations

from functools import cached_property

from art_compliance.dialects.ruling import Place, Request, child, objects


class Chat(Request):
    """The raw body, with messages, calls and functions found once."""

    @cached_property
    def messages(self) -> list[Place]:
        """Every message."""
        return objects(self.root, "messages")

    @cached_property
    def calls(self) -> list[Place]:
        """Every call of every message."""
        return [call for message in self.messages for call in calls_of(message)]

    @cached_property
    def functions(self) -> list[Place]:
        """Every function that is offered as a tool."""
        return [child(tool, "function") for tool in objects(self.root, "tools")]

    @cached_property
    def named(self) -> list[Place]:
        """Whatever carries a function's name: offered functions and called ones."""
        return [*self.functions, *(child(call, "function") for call in self.calls)]


def calls_of(message: Place) -> list[Place]:
    """A message's calls."""
    return objects(message, "tool_calls")


def role_of(message: Place) -> str | None:
    """A message's role, or None where it is no text."""
    role = message.value.get("role")
    return role if isinstance(role, str) else None
