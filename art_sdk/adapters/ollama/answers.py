"""What Ollama answers: the fields that are read. All others are ignored.

Source: `ChatResponse` in github.com/ollama/ollama, api/types.go, the same of the official client, version 0.6, and
recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece, Text, Thinking, Usage
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason


class _Function(Struct):
    name: NonEmpty
    arguments: dict[str, Any] | None = None


class Call(Struct):
    """A call in an answer. Its arguments are an object; older servers give no id."""

    function: _Function
    id: str | None = None


class Message(Struct):
    """What the model said, whole or a piece of it."""

    content: str | None = None
    thinking: str | None = None
    tool_calls: list[Call] | None = None


class Chat(Struct):
    """An answer, or a line of a streamed one, which has the same form. Durations are nanoseconds."""

    message: Message | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_duration: int | None = None
    eval_duration: int | None = None
    error: Any = None


_decode: Final = msgspec.json.Decoder(Chat).decode
_encode: Final = msgspec.json.Encoder().encode


def parse_chat(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    answer = _decode(body)
    if answer.error:
        raise ValueError("an error instead of a message")
    if answer.message is None:
        raise ValueError("message is missing")
    if not answer.done:
        raise ValueError("done is not true: the answer is not finished")
    message = answer.message
    calls = message.tool_calls or []
    fresh = info.fresh_call_ids(call.id for call in calls)
    pieces = (*read_texts(message), *(read_call(call, fresh) for call in calls))
    extensions = kept_thinking(message.thinking)
    ending = read_ending(answer, has_calls=bool(calls), request_id=request_id, extensions=extensions)
    return Answer(pieces=pieces, **msgspec.structs.asdict(ending))


def read_texts(message: Message) -> Iterator[Piece]:
    """The reasoning, then the text."""
    if message.thinking:
        yield Thinking(message.thinking)
    if message.content:
        yield Text(message.content)


def read_call(call: Call, fresh_ids: Iterator[str]) -> ToolCall:
    """A call in standard form. Every call uses up a fresh id, so that calls without one are numbered by place."""
    own = next(fresh_ids)
    return ToolCall(call.id or own, FunctionCall(call.function.name, _encode(call.function.arguments or {}).decode()))


def read_ending(
    last: Chat, *, has_calls: bool, request_id: str | None, extensions: dict[str, dict[str, Any]] | None
) -> Ending:
    """What the answer, or the last line of a streamed one, says besides text and calls."""
    return Ending(
        stop_reason=_stop_reason(last.done_reason, has_calls=has_calls),
        raw_stop_reason=last.done_reason or None,
        usage=_usage(last),
        request_id=request_id,
        extensions=extensions,
    )


def kept_thinking(thinking: str | None) -> dict[str, dict[str, Any]] | None:
    """The message's extensions: the reasoning, which goes back with the next request."""
    return {"ollama-chat": {"thinking": thinking}} if thinking else None


_STOP_REASONS: Final[Mapping[str, StopReason]] = {"stop": "stop", "length": "length"}


def _stop_reason(raw: str | None, *, has_calls: bool) -> StopReason:
    """Ollama says `stop` with calls, too. Without a reason, its runner broke off (`DoneReason` in llm/server.go)."""
    reason: StopReason = _STOP_REASONS.get(raw or "", "other")
    return "tool_calls" if reason == "stop" and has_calls else reason


_COUNTS: Final = (
    *("prompt_eval_count", "eval_count", "total_duration"),
    *("load_duration", "prompt_eval_duration", "eval_duration"),
)


def _usage(last: Chat) -> Usage:
    raw = {name: value for name in _COUNTS if (value := getattr(last, name)) is not None}
    return Usage(input_tokens=last.prompt_eval_count, output_tokens=last.eval_count, raw=raw or None)
