"""The messages of a prompt for libraries that have types of their own: calls, images, and the call of a result."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from chat_form import refuse

from art_sdk.json_data import is_array


def _same(part: Any) -> Any:
    return part


@dataclass(frozen=True)
class Call:
    """A call of a tool. `text` are its arguments as the model wrote them, which may be no JSON."""

    id: str
    name: str
    text: str

    @property
    def read(self) -> dict[str, Any] | None:
        """The arguments as an object, or None if they are not an object."""
        return read_arguments(self.text)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments, for libraries that take nothing but an object."""
        if (read := self.read) is None:
            raise refuse("the arguments of a call are no object")
        return read


@dataclass(frozen=True)
class Image:
    """An image. Its URL says where it is, or has it whole."""

    url: str

    @property
    def is_inline(self) -> bool:
        """Whether the URL has it whole."""
        return self.url.startswith("data:")

    @property
    def encoded(self) -> tuple[str, str]:
        """The image in base64, and its type, for libraries that take nothing else."""
        if not self.is_inline:
            raise refuse("an image by its URL is not supported")
        mime, _, data = self.url.removeprefix("data:").partition(";base64,")
        return data, mime


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A message: of the `system`, the `user`, the `assistant`, or a `tool`. Without a content, it has calls."""

    chat: dict[str, Any]  # in the form of chat completions, where a library takes that
    role: str
    content: str | list[str | Image] | None
    name: str | None = None  # of a result: the tool's, where the prompt says it
    calls: list[Call] = field(default_factory=list[Call])
    call_id: str = ""  # of a result
    answers: Call | None = None  # the call of a result, if there is one
    is_failed: bool = False  # of a result

    def parts_as(self, text: Callable[[str], Any] = _same, image: Callable[[Image], Any] = _same) -> list[Any]:
        """The content as a list, its texts and images in a library's own types."""
        if self.content is None:
            return []
        parts = self.content if isinstance(self.content, list) else [self.content]
        return [text(part) if isinstance(part, str) else image(part) for part in parts]

    def content_as(self, text: Callable[[str], Any] = _same, image: Callable[[Image], Any] = _same) -> Any:
        """The content as it is, but its parts, if it is a list, in a library's own types."""
        return self.parts_as(text, image) if isinstance(self.content, list) else self.content

    @property
    def call(self) -> Call:
        """The call that a result answers. Raises PromptTranslationFailed if there is none."""
        if self.answers is None:
            raise refuse(f"the result of {self.call_id!r} has no call")
        return self.answers


def read_turns(chats: list[dict[str, Any]]) -> list[Turn]:
    """The turns of messages in the form of chat completions. A later turn may use the id of a call again."""
    turns, known = list[Turn](), dict[str, Call]()
    for chat in chats:
        calls = [_read_call(call) for call in chat.get("tool_calls", ())]
        known |= {call.id: call for call in calls}
        content, call_id = chat["content"], chat.get("tool_call_id", "")
        turns.append(
            Turn(
                chat=chat,
                role=chat["role"],
                content=[_read_part(part) for part in content] if is_array(content) else content,
                name=chat.get("name"),
                calls=calls,
                call_id=call_id,
                answers=known.get(call_id),
                is_failed=chat.get("status") == "error",
            )
        )
    return turns


def _read_call(call: dict[str, Any]) -> Call:
    return Call(call["id"], call["function"]["name"], call["function"]["arguments"])


def _read_part(part: dict[str, Any]) -> str | Image:
    return part["text"] if part["type"] == "text" else Image(part["image_url"]["url"])


def read_arguments(text: str) -> dict[str, Any] | None:
    """Arguments as the object that libraries take in place of their text, or None if they are not an object.

    Raises PromptTranslationFailed if the object would not say the same as the text.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise refuse("a key of the arguments is repeated")
        return dict(pairs)

    def finite(number: str) -> float:
        if math.isinf(float(number)):
            raise refuse("a number of the arguments is too large")
        return float(number)

    def constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        value = json.loads(text.strip() or "{}", object_pairs_hook=unique, parse_float=finite, parse_constant=constant)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
