"""What the Responses API answers: the fields that are read. All others are ignored.

Source: `openai.types.responses.Response` of the official client, version 3.54, and recorded answers of OpenAI, Azure,
Bedrock, DeepSeek and xAI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece, Text, Thinking, Usage
from art_sdk.adapters.openai_responses.kept import has_open_call, keep_items
from art_sdk.json_data import is_array
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason


class _Part(Struct):
    """A part of a message, of a reasoning item's content, or of its summary."""

    type: str
    text: str | None = None
    refusal: str | None = None


class OutputItem(Struct):
    """An item of the output: a message, a call, reasoning, or another one; with the fields that go back."""

    type: str
    id: str | None = None
    status: str | None = None
    phase: str | None = None
    encrypted_content: str | None = None
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class _Call(Struct):
    call_id: NonEmpty
    name: NonEmpty
    arguments: str


class _IncompleteDetails(Struct):
    reason: str | None = None


class Response(Struct):
    """A response, whole or as an event of a stream has it. Only a whole one needs a status."""

    status: str | None = None
    output: list[dict[str, Any]] | None = None
    id: str | None = None
    error: dict[str, Any] | None = None
    incomplete_details: _IncompleteDetails | None = None
    usage: dict[str, Any] | None = None


class _InputDetails(Struct):
    cached_tokens: int | None = None


class _OutputDetails(Struct):
    reasoning_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


_decode_answer: Final = msgspec.json.Decoder(Response).decode

_PENDING: Final = frozenset({"queued", "in_progress"})
_INCOMPLETE: Final[Mapping[str | None, StopReason]] = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}


def parse_response(body: bytes, info: CallInfo, *, dialect: str, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    response = _decode_answer(body)
    if response.output is None and not response.error:
        raise ValueError("the response has no output")
    output = Output(dialect)
    pieces = tuple(piece for item in response.output or () for piece in output.read(item, info))
    ending = output.end(response, request_id=request_id)
    return Answer(pieces=pieces, **msgspec.structs.asdict(ending))


class Output:
    """The items of an answer so far, and what is kept of them."""

    def __init__(self, dialect: str) -> None:
        self.items: list[dict[str, Any]] = []
        self._dialect = dialect
        self._lengths: list[int] = []
        self._has_calls = False
        self._is_refusal = False

    def read(self, given: dict[str, Any], info: CallInfo) -> Iterator[Piece]:
        """The pieces of a whole item, which is added. Raises ValueError for an item that lacks something."""
        item = msgspec.convert(given, OutputItem)
        match item.type:
            case "message":
                texts = message_texts(item)
                yield from texts
            case "reasoning":
                yield from (Thinking(part.text) for part in (*(item.summary or ()), *(item.content or ())) if part.text)
            case "function_call":
                yield read_call(given, info)
            case _:
                pass  # a tool of the server's, or a newer kind of item: kept in the extensions
        self.add(given, item)

    def add(self, given: dict[str, Any], item: OutputItem, *, length: int | None = None) -> None:
        """Adds an item whose pieces are known already; `length` is that of a message's texts, if it lacks them."""
        if item.type == "function_call":
            self._has_calls = True
        elif item.type == "message":
            given = {name: value for name, value in given.items() if name != "content"}  # it may be long
            self._lengths.append(sum(len(piece.text) for piece in message_texts(item)) if length is None else length)
            self._is_refusal = self._is_refusal or any(part.type == "refusal" for part in item.content or ())
        self.items.append(given)

    def end(self, response: Response, *, request_id: str | None) -> Ending:
        """What the response says besides its output. Raises ValueError for one that is not an answer."""
        status, details = response.status, response.incomplete_details
        if status is None:
            raise ValueError("the response has no status")
        if response.error or status == "failed":
            raise ValueError("the response failed")
        if status in _PENDING:
            raise ValueError(f"the response is not complete: its status is {status!r}")
        reason = details.reason if details and status == "incomplete" else None
        return Ending(
            stop_reason=self._stop_reason(status, reason),
            raw_stop_reason=reason or status,
            usage=_usage(response.usage),
            request_id=request_id or response.id,
            extensions=self.extensions(),
        )

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """The message's extensions."""
        kept = keep_items(self.items, self._lengths)
        return None if kept is None else {self._dialect: kept}

    def _stop_reason(self, status: str, reason: str | None) -> StopReason:
        if status != "completed":
            return _INCOMPLETE.get(reason, "other")
        if self._is_refusal:
            return "content_filter"
        if has_open_call(self.items):
            return "other"
        return "tool_calls" if self._has_calls else "stop"


def message_texts(item: OutputItem) -> list[Text]:
    """The texts of a message, a refusal's included. Raises ValueError for a message without content."""
    if not is_array(item.content):
        raise ValueError("a message has no content")
    return [Text(text) for part in item.content if (text := _text_of(part)) is not None]


def _text_of(part: _Part) -> str | None:
    if part.type not in {"output_text", "refusal"}:
        return None
    text = part.text if part.type == "output_text" else part.refusal
    if text is None:
        raise ValueError(f"a part of type {part.type} has no text")
    return text


def read_call(given: dict[str, Any], info: CallInfo) -> ToolCall:
    """The call of a `function_call`. Raises ValueError for one without name, arguments or id."""
    call = msgspec.convert(given, _Call)
    return ToolCall(info.id_map.get(call.call_id, call.call_id), FunctionCall(call.name, call.arguments))


def _usage(raw: dict[str, Any] | None) -> Usage:
    usage = msgspec.convert(raw or {}, _Usage)
    read, written = usage.input_tokens_details, usage.output_tokens_details
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thinking_tokens=written.reasoning_tokens if written else None,
        cached_tokens=read.cached_tokens if read else None,
        raw=raw or None,
    )
