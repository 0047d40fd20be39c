"""Writes Anthropic's streams: what `write_response` says, as events.

Source: streams recorded in 2025 and 2026; the order follows Anthropic's documentation of streaming.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.anthropic_messages.answers import write_error, write_response
from art_compliance.dialects.framing import data_frame, pieces, to_json
from art_compliance.dialects.writing import with_object_arguments
from art_compliance.scenarios import WrittenAnswer

UNKNOWN_EVENT: Final = data_frame({"type": "weather_report", "index": 7}, event="weather_report")
"""Anthropic's documentation says that new event types may come, and that clients should skip them."""


_CLOSING: Final = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
)
"""The counts that the last usage has."""


def write_stream(answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
    """A streamed answer. Raises CannotWrite as `write_response` does; arguments cut by length may be any text."""
    del payload
    body = json.loads(write_response(with_object_arguments(answer)))
    return _framed(_events(body, [call.function.arguments for call in answer.tool_calls]))


def write_body(body: dict[str, Any]) -> tuple[bytes, ...]:
    """The stream that says what this body says."""
    return _framed(_events(body, [to_json(block["input"]) for block in body["content"] if block["type"] == "tool_use"]))


def _framed(events: Iterator[dict[str, Any]]) -> tuple[bytes, ...]:
    return tuple(data_frame(event, event=event["type"]) for event in events)


def write_stream_error(status: int, message: str) -> bytes:
    """An error after the status 200."""
    error = json.loads(write_error(status, message))
    return data_frame(error, event="error")


def _events(body: dict[str, Any], all_arguments: list[str]) -> Iterator[dict[str, Any]]:
    blocks, usage = body["content"], body["usage"]
    ended = {name: body[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    del body["container"], usage["server_tool_use"]  # recorded streams leave out what is null
    begun = {**usage, "output_tokens": min(1, usage["output_tokens"])}  # counts are cumulative
    begun.pop("output_tokens_details")
    yield {"type": "message_start", "message": {**body, **dict.fromkeys(ended), "content": [], "usage": begun}}
    yield {"type": "ping"}
    arguments = iter(all_arguments)
    for index, block in enumerate(blocks):
        empty, deltas = _streamed(
            block, next(arguments) if block["type"] == "tool_use" else to_json(block.get("input"))
        )
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": ended, "usage": {name: usage[name] for name in _CLOSING}}
    yield {"type": "message_stop"}


def _streamed(block: dict[str, Any], arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it starts, and the deltas that fill it. Arguments begin with an empty piece, perhaps the only one."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
            return {"type": "text", "text": ""}, deltas
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
        case "redacted_thinking" | "web_search_tool_result":
            return block, []
        case _:
            parts = ("", *pieces(arguments))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]
