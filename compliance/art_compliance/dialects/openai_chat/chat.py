"""A chat completion request as its rules read it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from art_compliance.dialects.ruling import JudgedRequest, Place, child, objects


class ChatFunction(Place, frozen=True, gc=False, kw_only=True):
    """A function that is offered or called: its name is None where it is not a string."""

    name: str | None


class ChatCall(Place, frozen=True, gc=False, kw_only=True):
    """A call of an assistant's message: its id is None where it is not a string."""

    id: str | None
    function: ChatFunction


class ChatMessage(Place, frozen=True, gc=False, kw_only=True):
    """A message, read once.

    Its role and the id of the call that it `answers` are None where they are not strings. `content` says whether the
    content has anything in it; None: there is no content.
    """

    role: str | None
    content: bool | None
    has_reasoning: bool
    name: Any
    tool_calls: Any
    answers: str | None
    calls: tuple[ChatCall, ...]


class Round(Struct, frozen=True, gc=False):
    """The calls of an assistant's message (none for another), and the tool messages right after it."""

    calls: tuple[ChatCall, ...]
    results: list[ChatMessage]


class Chat(JudgedRequest):
    """The raw body, with messages, calls and functions found once."""

    @cached_property
    def messages(self) -> tuple[ChatMessage, ...]:
        """Every message."""
        return tuple(map(_read, objects(self.root, "messages")))

    @cached_property
    def calls(self) -> tuple[ChatCall, ...]:
        """Every call of every message."""
        return tuple([call for message in self.messages for call in message.calls])

    @cached_property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds in which something is called or answered."""
        rounds = [Round((), [])]
        for message in self.messages:
            if message.role == "tool":
                rounds[-1].results.append(message)
            elif message.calls or rounds[-1].calls or rounds[-1].results:
                rounds.append(Round(message.calls if message.role == "assistant" else (), []))
        return tuple(rounds)

    @cached_property
    def functions(self) -> tuple[ChatFunction, ...]:
        """Every function offered as a tool."""
        return tuple([_function(tool) for tool in objects(self.root, "tools")])

    @cached_property
    def named(self) -> tuple[ChatFunction, ...]:
        """Every function that is offered or called."""
        return (*self.functions, *[call.function for call in self.calls])


_ROLES: Final = {role: role for role in ("system", "developer", "user", "assistant", "tool", "function")}
"""One string object per role: comparing copies in a long conversation costs cache misses."""


def _read(place: Place) -> ChatMessage:
    value = place.value
    role, content = _text(value.get("role")), value.get("content")
    return ChatMessage(
        value,
        place.above,
        place.under,
        place.at,
        role=_ROLES.get(role, role) if role else role,
        content=None if content is None else bool(content),
        has_reasoning=bool(value.get("reasoning_content")),
        name=value.get("name"),
        answers=_text(value.get("tool_call_id")),
        tool_calls=value.get("tool_calls"),
        calls=tuple(map(_call, objects(place, "tool_calls"))) if "tool_calls" in value else (),
    )


def _call(place: Place) -> ChatCall:
    return ChatCall(
        place.value, place.above, place.under, place.at, id=_text(place.value.get("id")), function=_function(place)
    )


def _function(place: Place) -> ChatFunction:
    found = child(place, "function")
    return ChatFunction(found.value, found.above, found.under, found.at, name=_text(found.value.get("name")))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
