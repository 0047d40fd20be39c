"""What Bedrock's Converse answers: the fields that are read. All others are ignored.

A block of the content is an object with one known member, which names its kind. Source: `ConverseResponse` and
`ContentBlock` of bedrock-runtime in botocore 1.44, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece, Text, Thinking, Usage
from art_sdk.adapters.kept_blocks import Role, keep
from art_sdk.json_data import is_object
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason

DIALECT: Final = "bedrock-converse"
SERVER_TOOL: Final = "server_tool_use"
"""The type of a call that Bedrock executes itself, such as Nova's code interpreter: the caller has nothing to do."""

_KINDS: Final = (
    *("text", "toolUse", "reasoningContent", "toolResult", "citationsContent", "cachePoint", "guardContent"),
    *("image", "document", "video", "audio", "searchResult"),
)


def kind_of(block: Mapping[str, Any]) -> str | None:
    """The kind of a block: its known member, else its only one; `serverToolUse` for a call that Bedrock makes."""
    kind = next((name for name in _KINDS if name in block), next(iter(block), None))
    used = block.get("toolUse")
    return "serverToolUse" if is_object(used) and used.get("type") == SERVER_TOOL else kind


def parse_converse(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    response = _decode_response(body)
    content = response.output.message.content
    ending = read_ending(content, response.stop_reason, response.usage, request_id=request_id)
    return Answer(pieces=tuple(_pieces(content, info)), **msgspec.structs.asdict(ending))


def read_ending(
    content: list[dict[str, Any]], stop_reason: str, usage: dict[str, Any] | None, *, request_id: str | None
) -> Ending:
    """What an answer says besides text and calls. Raises ValueError for one that lacks something."""
    if stop_reason == "tool_use" and not any(kind_of(block) in _CALLS for block in content):
        raise ValueError("stopReason is tool_use, but there are no calls")
    return Ending(
        stop_reason=_STOP_REASONS.get(stop_reason, "other"),
        raw_stop_reason=stop_reason,
        usage=_usage(usage),
        request_id=request_id,
        extensions=kept_blocks(content),
    )


_CALLS: Final = frozenset({"toolUse", "serverToolUse"})


def kept_blocks(content: list[dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    """The message's extensions: the blocks that are neither text nor calls, each with its place."""
    kept = keep((_role_of(block), block) for block in content)
    return {DIALECT: {"blocks": kept}} if kept else None


def _role_of(block: dict[str, Any]) -> Role:
    kind = kind_of(block)
    if kind in {"text", "citationsContent"}:
        return "text" if "".join(_texts(block)).strip() else "blank"
    return "call" if kind == "toolUse" else "other"


class _Reasoning(Struct):
    text: str


class _ReasoningContent(Struct, rename="camel"):
    reasoning_text: _Reasoning | None = None


class ToolUse(Struct, rename="camel"):
    """A call in an answer, or the start of one in a stream."""

    tool_use_id: NonEmpty
    name: NonEmpty
    input: dict[str, Any] | None = None
    type: str | None = None


class _CitedText(Struct):
    text: str = ""


class _CitationsContent(Struct):
    content: list[_CitedText] = []


class _Usage(Struct, rename="camel"):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class _Message(Struct):
    content: list[dict[str, Any]]


class _Output(Struct):
    message: _Message


class _Response(Struct, rename="camel"):
    output: _Output
    stop_reason: str
    usage: dict[str, Any] | None = None


_decode_response: Final = msgspec.json.Decoder(_Response).decode
_encode: Final = msgspec.json.Encoder().encode

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}


def _pieces(content: list[dict[str, Any]], info: CallInfo) -> Iterator[Piece]:
    own_ids = info.id_map if any("toolUse" in block for block in content) else {}
    for block in content:
        match kind_of(block):
            case "text" | "citationsContent":
                yield from map(Text, _texts(block))
            case "reasoningContent":
                reasoning = msgspec.convert(block["reasoningContent"], _ReasoningContent).reasoning_text
                if reasoning is not None:
                    yield Thinking(reasoning.text)
            case "toolUse":
                call = msgspec.convert(block["toolUse"], ToolUse)
                function = FunctionCall(call.name, _encode(call.input or {}).decode())
                yield ToolCall(own_ids.get(call.tool_use_id, call.tool_use_id), function)
            case None:
                raise ValueError("a block of the content is empty")
            case _:
                pass  # what Bedrock's own tools did, or a newer kind of block: kept in the extensions


def _texts(block: dict[str, Any]) -> list[str]:
    """The texts of a block; one with citations has several."""
    if "text" in block:
        return [msgspec.convert(block["text"], str)]
    return [cited.text for cited in msgspec.convert(block["citationsContent"], _CitationsContent).content]


def _usage(raw: dict[str, Any] | None) -> Usage:
    """`inputTokens` leaves out what was read from a cache and written to one; all of them are the prompt.

    Source: docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html.
    """
    usage = msgspec.convert(raw or {}, _Usage)
    cached, stored = usage.cache_read_input_tokens, usage.cache_write_input_tokens
    return Usage(
        input_tokens=None if usage.input_tokens is None else usage.input_tokens + (cached or 0) + (stored or 0),
        output_tokens=usage.output_tokens,
        cached_tokens=cached,
        raw=raw or None,
    )
