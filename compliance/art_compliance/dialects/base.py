"""Dialect: a wire format as a frozen value; and what decoding a request gives.

A dialect's module states which forms it takes for the same thing. It shares no code with an adapter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct, field

from art_compliance.dialects.order import StreamOrder
from art_compliance.dialects.ruling import Request, RuleCheck
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.pointers import escape
from art_compliance.scenarios import WrittenAnswer
from art_sdk.json_data import is_array, is_object, json_type
from art_sdk.messages import ArtStandardPrompt, Part, TextPart, ToolCall, ToolSchema, UserMessage


class DecodeFailed(ValueError):
    """A request that is not of the dialect. `pointer` says where."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer or '/'}: {message}")
        self.pointer = pointer


class Decoded(Struct, frozen=True, kw_only=True):
    """A request in the standard format. Two requests mean the same when their decodings are equal.

    `options` has the names of `CallOptions`. `opaque` holds, by JSON pointer, what the standard
    format has no slot for. `places` says where each thing stood: `prompt/2`,
    `prompt/2/tool_calls/0`, `tools/0`, `options/model` to a JSON pointer.
    """

    prompt: ArtStandardPrompt
    tools: tuple[ToolSchema, ...] = ()
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    opaque: dict[str, Any] = field(default_factory=dict[str, Any])
    places: dict[str, str] = field(default_factory=dict[str, str])


class Decode(Protocol):
    """Decodes a request body, with its URL where the dialect keeps model and stream in it."""

    def __call__(self, payload: object, *, url: str | None = None) -> Decoded:
        """Raises DecodeFailed."""
        ...


class CannotWrite(ValueError):
    """An answer that the dialect has no form for."""


class WriteStream(Protocol):
    """Writes a streamed answer: one element an event, framed as the provider frames it, its end mark included.

    `payload` is the request's body, where what is asked there changes what is told; without it everything is.
    Joined, the events say what `write_response` says. Raises CannotWrite.
    """

    def __call__(self, answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
        """The events, in the provider's own order."""
        ...


class Dialect(Struct, frozen=True, kw_only=True):
    """One wire format, whole. Its wire schema and its rules' words lie in `fixtures/` under its name.

    `hosts` are those whom the published types speak for, `kin` others that have the same rules. `path`
    matches the end of a request's URL path, `base_path` is what stands before it at the provider;
    `history` is the JSON pointer of the list that grows with the conversation; `marks` are fields of a turn or
    of its parts that may come and go as it grows, and change nothing of what was said: "continue from here", "cache
    up to here". `rules` are its rules' functions, each given what `read_request` makes of a body, a model and a URL.

    `write_response` and `write_error` (of a status and a message) give the bodies of answers; `write_stream`
    the events of a streamed one, of the content type `stream_type`, `write_stream_error` the event that ends
    one after its status 200; `unknown_event` is one that a reader passes over; `mix_calls` has the pieces
    of a stream's calls come in turns, where the format can tell them apart; `stream_order` judges the events'
    order. `wants_stream` looks at a request's body and target, `wants_array` at the target alone: whether the
    stream is to be a JSON array. By JSON pointer, `finish` is where an unstreamed answer says why it ended,
    `essential` are fields without which it cannot be read. Of the reasoning, the text goes back where it
    `wants_thinking`, a signature where it `signs_thinking`.
    """

    name: str
    hosts: tuple[str, ...]
    path: str
    base_path: str
    history: str
    marks: tuple[str, ...] = ()
    decode: Decode
    read_request: Callable[[object, str | None, str | None], Request]
    rules: tuple[RuleCheck, ...]
    write_response: Callable[[WrittenAnswer], bytes]
    write_error: Callable[[int, str], bytes]
    write_stream: WriteStream
    write_stream_error: Callable[[int, str], bytes]
    wants_stream: Callable[[object, str], bool]
    wants_array: Callable[[str], bool] | None = None
    mix_calls: Callable[[tuple[bytes, ...]], tuple[bytes, ...]] | None = None
    unknown_event: bytes
    stream_order: StreamOrder
    stream_type: str = "text/event-stream"
    essential: tuple[str, ...]
    finish: str
    wants_thinking: bool = False
    signs_thinking: bool = True
    kin: tuple[str, ...] = ()

    def rules_hold_at(self, url: str | None) -> bool:
        """Whether the rules are those of the service that the URL names; so it is where it names none."""
        host = host_of(url)
        return host is None or is_one_of(host, (*self.hosts, *self.kin))


def user_message(parts: Sequence[Part], name: str | None = None) -> UserMessage:
    """What stands together in a user's message: one text alone is a text, all else is parts."""
    only = parts[0] if len(parts) == 1 else None
    return UserMessage(only.text if isinstance(only, TextPart) else tuple(parts), name)


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """A call's arguments, for a dialect that has objects for them. Raises CannotWrite for what is none."""
    try:
        value: Any = json.loads(call.function.arguments or "{}")
    except ValueError:
        value = None
    if not is_object(value):
        message = "the dialect has an object in the place of arguments"
        raise CannotWrite(message)
    return value


class Ledger:
    """Keeps account while a request is decoded: where things stood, and what nobody took."""

    def __init__(self) -> None:
        self.opaque: dict[str, Any] = {}
        self.places: dict[str, str] = {}

    @contextmanager
    def open(self, value: object, pointer: str) -> Generator[Fields]:
        """The fields of an object; those that nobody took are opaque when it closes."""
        if not is_object(value):
            raise wrong_kind(pointer, "an object", value)
        fields = Fields(dict(value), pointer)
        yield fields
        for name, rest in fields.left.items():
            if rest is not None:
                self.opaque[f"{pointer}/{escape(name)}"] = rest


class Fields:
    """An object's fields, to be taken one by one. A field that is null counts as absent."""

    def __init__(self, left: dict[str, Any], pointer: str) -> None:
        self.left = left
        self.pointer = pointer

    def take(self, *names: str) -> Any:
        """The value under the first of the names that is there, or None."""
        for name in names:
            if self.left.get(name) is not None:
                return self.left.pop(name)
        return None

    def take_list(self, *names: str) -> list[Any]:
        """As `take`, for a list; one object alone counts as a list of one (protobuf's JSON reads it so)."""
        value = self.take(*names)
        if value is None:
            return []
        if is_object(value):
            return [value]
        if not is_array(value):
            raise wrong_kind(f"{self.pointer}/{names[0]}", "a list", value)
        return list(value)

    def take_text(self, *names: str) -> str | None:
        """As `take`, for text."""
        value = self.take(*names)
        if value is not None and not isinstance(value, str):
            raise wrong_kind(f"{self.pointer}/{names[0]}", "text", value)
        return value

    def take_object(self, *names: str) -> dict[str, Any] | None:
        """As `take`, for an object."""
        value = self.take(*names)
        if value is None or is_object(value):
            return value
        raise wrong_kind(f"{self.pointer}/{names[0]}", "an object", value)

    def put_back(self, name: str, value: object) -> None:
        """Gives back what turned out to have no slot: it becomes opaque."""
        self.left[name] = value


def wrong_kind(pointer: str, wanted: str, value: object) -> DecodeFailed:
    """The error for a value of another type than the dialect has there."""
    return DecodeFailed(pointer, f"expected {wanted}, got {json_type(value)}")
