"""What Cohere answers: the fields that are read. All others are ignored.

Source: `cohere.V2ChatResponse` of the official client, version 7.3, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, Ending, Piece, Text, Thinking, Usage
from art_sdk.adapters.kept_blocks import keep
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason


class _Function(Struct):
    name: NonEmpty
    arguments: str | None = None


class _Call(Struct):
    id: NonEmpty
    function: _Function


class _Message(Struct):
    content: list[dict[str, Any]] | None = None
    tool_plan: str | None = None
    tool_calls: list[_Call] | None = None
    citations: list[dict[str, Any]] | None = None


class _Tokens(Struct):
    """The official client types counts as floats; recorded ones are whole."""

    input_tokens: float | None = None
    output_tokens: float | None = None


class _Usage(Struct):
    tokens: _Tokens | None = None
    billed_units: _Tokens | None = None
    cached_tokens: float | None = None


class _Chat(Struct):
    message: _Message
    finish_reason: NonEmpty
    usage: dict[str, Any] | None = None
    id: str | None = None


_decode: Final = msgspec.json.Decoder(_Chat).decode


def parse_chat(body: bytes, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    answer = _decode(body)
    message = answer.message
    ending = read_ending(
        answer.finish_reason,
        answer.usage,
        request_id=request_id or answer.id,
        has_calls=bool(message.tool_calls),
        extensions=kept(message.tool_plan, message.content or [], message.citations or []),
    )
    return Answer(pieces=tuple(_pieces(message)), **msgspec.structs.asdict(ending))


def _pieces(message: _Message) -> Iterator[Piece]:
    """The plan, the contents, then the calls."""
    if message.tool_plan:
        yield Thinking(message.tool_plan)
    for block in message.content or ():
        yield from read_block(block)
    for call in message.tool_calls or ():
        yield ToolCall(call.id, FunctionCall(call.function.name, call.function.arguments or "{}"))


def read_block(block: dict[str, Any]) -> Iterator[Piece]:
    """The text or the thinking of a content block; a block of another type has none."""
    kind: Any = block.get("type")
    if not isinstance(kind, str):
        raise ValueError("a block of the content has no type")  # noqa: TRY004 - the bytes are at fault
    if kind not in _TEXTS:
        return
    text = block.get(kind)
    if not isinstance(text, str):
        raise ValueError(f"a block of the type {kind} has no {kind}")  # noqa: TRY004 - likewise
    if text:
        yield _TEXTS[kind](text)


_TEXTS: Final[Mapping[str, type[Text | Thinking]]] = {"text": Text, "thinking": Thinking}


def read_ending(
    reason: str,
    usage: dict[str, Any] | None,
    *,
    request_id: str | None,
    has_calls: bool,
    extensions: dict[str, dict[str, Any]] | None,
) -> Ending:
    """What an answer says besides text and calls. Raises ValueError for one that lacks its calls."""
    if reason == "TOOL_CALL" and not has_calls:
        raise ValueError("finish_reason is TOOL_CALL, but there are no calls")
    return Ending(
        stop_reason=_STOP_REASONS.get(reason, "other"),
        raw_stop_reason=reason,
        usage=_usage(usage),
        request_id=request_id,
        extensions=extensions,
    )


_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
}
"""`cohere.ChatFinishReason`; the sixth, TIMEOUT, is `other`."""


def kept(
    plan: str | None, content: list[dict[str, Any]], citations: list[dict[str, Any]]
) -> dict[str, dict[str, Any]] | None:
    """The message's extensions: its plan, its citations, and its thinking with the place of each block."""
    blocks = keep(("text" if block.get("type") == "text" else "other", block) for block in content if _is_full(block))
    found = {"tool_plan": plan, "citations": citations, "blocks": blocks}
    extension = {name: value for name, value in found.items() if value}
    return {"cohere-chat-v2": extension} if extension else None


def _is_full(block: dict[str, Any]) -> bool:
    return block.get("type") not in _TEXTS or bool(block.get(str(block.get("type"))))


def _usage(raw: dict[str, Any] | None) -> Usage:
    """All tokens of the prompt and the answer. What is billed is fewer: without Cohere's own prompt."""
    if raw is None:
        return Usage()
    read = msgspec.convert(raw, _Usage)
    tokens = read.tokens or read.billed_units or _Tokens()
    return Usage(
        input_tokens=_whole(tokens.input_tokens),
        output_tokens=_whole(tokens.output_tokens),
        cached_tokens=_whole(read.cached_tokens),
        raw=raw,
    )


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)
