"""What Anthropic answers: the fields that are read. All others are ignored.

Source: `anthropic.types.Message` of the official client, version 2.12, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece, Text, Thinking, Usage
from art_sdk.adapters.kept_blocks import Role, keep
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason


def parse_message(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    answer = _decode_answer(body)
    ending = read_ending(answer, request_id=request_id)
    return Answer(pieces=tuple(_pieces(answer.content, info)), **msgspec.structs.asdict(ending))


def read_ending(answer: Message, *, request_id: str | None) -> Ending:
    """What an answer says besides text and calls. Raises ValueError for one that lacks something."""
    lack = _find_lack(answer)
    if lack:
        raise ValueError(lack)
    return Ending(
        stop_reason=_STOP_REASONS.get(answer.stop_reason or "", "other"),
        raw_stop_reason=answer.stop_reason,
        usage=_usage(answer.usage),
        request_id=request_id or answer.id,
        extensions=kept_blocks(answer.content),
    )


def _find_lack(answer: Message) -> str | None:
    """What an answer lacks. Its content may be empty: recorded with `end_turn`, in 2026."""
    if answer.stop_reason is None:
        return "stop_reason is null: the answer is not finished"
    kinds = [block.get("type") for block in answer.content]
    if not all(isinstance(kind, str) for kind in kinds):
        return "a block of the content has no type"
    if answer.stop_reason == "tool_use" and "tool_use" not in kinds:
        return "stop_reason is tool_use, but there are no calls"
    return None


def kept_blocks(content: list[dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    """The message's extensions: the blocks that are neither text nor calls, each with its place."""
    kept = keep((role_of(block), block) for block in content)
    return {"anthropic-messages": {"blocks": kept}} if kept else None


THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
"""Blocks that no message may end with (anthropic.thinking-not-last)."""


def role_of(block: dict[str, Any]) -> Role:
    """What a block becomes in the message."""
    if block["type"] == "text":
        return "text" if block["text"].strip() else "blank"
    return "call" if block["type"] == "tool_use" else "other"


class _TextBlock(Struct):
    text: str


class _ThinkingBlock(Struct):
    thinking: str


class ToolUse(Struct):
    """A call in an answer. One without arguments may have no input."""

    id: NonEmpty
    name: NonEmpty
    input: dict[str, Any] | None = None


class _OutputDetails(Struct):
    thinking_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class Message(Struct):
    """A message in an answer."""

    type: Literal["message"]  # a field instead of a tag: msgspec accepts an object without its tag
    content: list[dict[str, Any]]
    stop_reason: str | None
    id: str | None = None
    usage: dict[str, Any] | None = None


_decode_answer: Final = msgspec.json.Decoder(Message).decode
_encode: Final = msgspec.json.Encoder().encode

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


def _pieces(content: list[dict[str, Any]], info: CallInfo) -> Iterator[Piece]:
    own_ids = info.id_map if any(block.get("type") == "tool_use" for block in content) else {}
    for block in content:
        match block.get("type"):
            case "text":
                yield Text(msgspec.convert(block, _TextBlock).text)
            case "thinking":
                yield Thinking(msgspec.convert(block, _ThinkingBlock).thinking)
            case "tool_use":
                call = msgspec.convert(block, ToolUse)
                function = FunctionCall(call.name, _encode(call.input or {}).decode())
                yield ToolCall(own_ids.get(call.id, call.id), function)
            case _:
                pass  # a server's tool, or a newer type of block: kept in the extensions


def _usage(raw: dict[str, Any] | None) -> Usage:
    """Anthropic counts tokens read from and written to caches apart from `input_tokens`; all of them are the prompt."""
    usage = msgspec.convert(raw or {}, _Usage)
    cached, stored = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    details = usage.output_tokens_details
    return Usage(
        input_tokens=None if usage.input_tokens is None else usage.input_tokens + (cached or 0) + (stored or 0),
        output_tokens=usage.output_tokens,
        thinking_tokens=details.thinking_tokens if details else None,
        cached_tokens=cached,
        raw=raw or None,
    )
