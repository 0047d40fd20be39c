"""A streamed answer of Cohere's.

A message begins and ends; between come pieces of its plan, its content blocks one after the other, its calls, and
its citations, which may stand inside a content block and outside. A call is complete when it ends.
An answer has ended with `message-end`; the mark `[DONE]` after it may be missing, as in the documented streams.
Events of other types (`debug`, and newer ones) may come anywhere.
Source: `cohere.V2ChatStreamResponse` of the official client, version 7.3, docs.cohere.com/docs/streaming, and recorded
streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Ending, LongText, Piece, Text, Thinking
from art_sdk.adapters.cohere.answers import kept, read_ending
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, fields_of, follow
from art_sdk.http.framing import Frame
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(Struct):
    function: _Function
    id: str | None = None


class _Content(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None


class _Message(Struct):
    """The new part of the message. In `message-start` its lists are empty."""

    content: _Content | list[Any] | None = None
    tool_plan: str | None = None
    tool_calls: _Call | list[Any] | None = None
    citations: dict[str, Any] | list[Any] | None = None


class _Delta(Struct):
    message: _Message | None = None
    finish_reason: NonEmpty | None = None
    usage: dict[str, Any] | None = None
    error: str | None = None


class _Event(Struct):
    type: str
    index: int | None = None
    id: str | None = None
    delta: _Delta | None = None


class _OpenCall(Struct):
    id: str
    name: str
    arguments: LongText


_T = TypeVar("_T")

_decode_event: Final = msgspec.json.Decoder(_Event).decode

_AFTER: Final[Mapping[tuple[str, str], str]] = {
    ("not begun", "message-start"): "between parts",
    ("between parts", "tool-plan-delta"): "between parts",
    ("between parts", "content-start"): "in a content",
    ("in a content", "content-delta"): "in a content",
    ("in a content", "content-end"): "between parts",
    ("between parts", "tool-call-start"): "in a call",
    ("in a call", "tool-call-delta"): "in a call",
    ("in a call", "tool-call-end"): "between parts",
    ("between parts", "citation-start"): "between parts",
    ("between parts", "citation-end"): "between parts",
    ("in a content", "citation-start"): "in a content",
    ("in a content", "citation-end"): "in a content",
    ("between parts", "message-end"): "ended",
}
_KNOWN: Final = frozenset(kind for _, kind in _AFTER)


class ChatEvents:
    """One streamed answer, event by event."""

    def __init__(self, *, request_id: str | None) -> None:
        self._request_id = request_id
        self._state = "not begun"
        self._plan = LongText()
        self._content: list[dict[str, Any]] = []
        self._text = LongText()
        self._calls: dict[str, int] = {}
        self._call: _OpenCall | None = None
        self._citations: list[dict[str, Any]] = []
        self._last = _Delta()

    def take(self, frame: Frame) -> Iterable[Piece]:
        if frame.data == "[DONE]":
            if self._state != "ended":
                raise StoppedEarly("[DONE] came before message-end")
            return ()
        if frame.event not in _KNOWN and _is_unknown(frame):
            return ()
        event = _decode_event(frame.data)
        if event.type == "content-delta" and self._state == "in a content":  # as most are: this is the hot loop
            return self._add_content(event)
        if frame.event not in ("message", event.type):  # some proxies leave the event's line out
            raise ValueError(f"an event {frame.event!r} with data of the type {event.type!r}")
        if event.delta is not None and event.delta.error:
            raise ErrorInStream(f"{event.type} with an error")  # it may come in the middle of a part
        self._state = follow(_AFTER, self._state, event.type)
        return _TAKERS[event.type](self, event)

    def end(self) -> Ending:
        if self._state != "ended":
            raise StoppedEarly("it stopped before message-end")
        return read_ending(
            _needed(self._last.finish_reason, "message-end has no finish_reason"),
            self._last.usage,
            request_id=self._request_id,
            has_calls=bool(self._calls),
            extensions=self.extensions(),
        )

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """None before the end: until then the last piece may be missing."""
        return kept(self._plan.read(), self._content, self._citations) if self._state == "ended" else None

    def start(self, event: _Event) -> Iterable[Piece]:
        self._request_id = self._request_id or event.id
        return ()

    def plan(self, event: _Event) -> Iterator[Piece]:
        piece = _needed(_message_of(event).tool_plan, "tool-plan-delta has no tool_plan")
        self._plan.write(piece)
        if piece:
            yield Thinking(piece)

    def start_content(self, event: _Event) -> Iterator[Piece]:
        if event.index != len(self._content):
            raise ValueError(f"content-start has the index {event.index}; expected {len(self._content)}")
        content = _content_of(event)
        kind = _needed(content.type, "content-start has no type")
        self._content.append({"type": kind})
        self._text = LongText()
        begun = content.thinking if kind == "thinking" else content.text
        if begun:
            yield from self._add_content(event)

    def end_content(self, event: _Event) -> Iterable[Piece]:
        self._check_index(event, len(self._content) - 1)
        block = self._content[-1]
        block["thinking" if block["type"] == "thinking" else "text"] = self._text.read()
        return ()

    def start_call(self, event: _Event) -> Iterable[Piece]:
        call = _call_of(event)
        call_id, name = call.id, call.function.name
        if not call_id or not name:
            raise ValueError("tool-call-start has no id or no name")
        if call_id in self._calls:
            raise ValueError(f"two calls with the id {call_id!r}")
        self._calls[call_id] = -1 if event.index is None else event.index
        self._call = _OpenCall(call_id, name, LongText())
        self._call.arguments.write(call.function.arguments or "")
        return ()

    def add_arguments(self, event: _Event) -> Iterable[Piece]:
        call = self._current_call(event)
        call.arguments.write(_needed(_call_of(event).function.arguments, "tool-call-delta has no arguments"))
        return ()

    def end_call(self, event: _Event) -> Iterator[Piece]:
        call = self._current_call(event)
        yield ToolCall(call.id, FunctionCall(call.name, call.arguments.read() or "{}"))

    def cite(self, event: _Event) -> Iterable[Piece]:
        citation = _message_of(event).citations
        if not isinstance(citation, dict):
            raise ValueError("citation-start has no citation")  # noqa: TRY004 - the bytes are at fault
        self._citations.append(citation)
        return ()

    def pass_over(self, event: _Event) -> Iterable[Piece]:
        """A citation is whole when it starts."""
        del event
        return ()

    def finish(self, event: _Event) -> Iterable[Piece]:
        self._last = _needed(event.delta, "message-end has no delta")
        return ()

    def _add_content(self, event: _Event) -> Iterable[Piece]:
        content = _content_of(event)
        self._check_index(event, len(self._content) - 1)
        kind = self._content[-1]["type"]
        if kind == "thinking":
            piece = _needed(content.thinking, "a thinking delta has no thinking")
            self._text.write(piece)
            return (Thinking(piece),) if piece else ()
        piece = _needed(content.text, "a text delta has no text")
        self._text.write(piece)
        return (Text(piece),) if piece and kind == "text" else ()

    def _check_index(self, event: _Event, index: int) -> None:
        if event.index != index:
            raise ValueError(f"{event.type} has the index {event.index}; expected {index}")

    def _current_call(self, event: _Event) -> _OpenCall:
        call = _needed(self._call, f"{event.type} without a call")
        self._check_index(event, self._calls[call.id])
        return call


_TAKERS: Final = {
    "message-start": ChatEvents.start,
    "tool-plan-delta": ChatEvents.plan,
    "content-start": ChatEvents.start_content,
    "content-end": ChatEvents.end_content,
    "tool-call-start": ChatEvents.start_call,
    "tool-call-delta": ChatEvents.add_arguments,
    "tool-call-end": ChatEvents.end_call,
    "citation-start": ChatEvents.cite,
    "citation-end": ChatEvents.pass_over,
    "message-end": ChatEvents.finish,
}


def _is_unknown(frame: Frame) -> bool:
    """Whether an event is of a type that has no part in the answer: the official client skips it."""
    fields = fields_of(frame)
    if fields is None:
        return frame.event != "message"
    kind = fields.get("type")
    if not isinstance(kind, str):
        if fields.get("message") and frame.event == "message":
            raise ErrorInStream("an error instead of an event")
        return frame.event != "message"
    return kind not in _KNOWN


def _message_of(event: _Event) -> _Message:
    return _needed(None if event.delta is None else event.delta.message, f"{event.type} has no message")


def _content_of(event: _Event) -> _Content:
    content = _message_of(event).content
    if not isinstance(content, _Content):
        raise ValueError(f"{event.type} has no content")  # noqa: TRY004 - the bytes are at fault
    return content


def _call_of(event: _Event) -> _Call:
    call = _message_of(event).tool_calls
    if not isinstance(call, _Call):
        raise ValueError(f"{event.type} has no call")  # noqa: TRY004 - the bytes are at fault
    return call


def _needed(value: _T | None, lack: str) -> _T:
    if value is None:
        raise ValueError(lack)
    return value
