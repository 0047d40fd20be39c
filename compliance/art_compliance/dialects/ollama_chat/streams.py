"""Writes Ollama's streams: what `write_response` says, as lines of JSON, each an answer with the new piece.

Source: streams recorded in 2024, and `streamResponse` in github.com/ollama/ollama, server/routes.go. Calls are whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.framing import json_line, pieces
from art_compliance.dialects.ollama_chat.answers import HEAD, body_of, write_error
from art_compliance.scenarios import WrittenAnswer
from art_sdk.json_data import is_object

UNKNOWN_EVENT: Final = json_line(
    {**HEAD, "message": {"role": "assistant", "content": "", "sun": {"is_up": True}}, "done": False, "weather": "fair"}
)
"""A line without text, and with unknown fields, which JSON decoders skip."""


def write_stream(answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
    """A streamed answer. Raises CannotWrite as `write_response` does."""
    del payload
    return write_body(body_of(answer))


def write_body(body: dict[str, Any]) -> tuple[bytes, ...]:
    """The stream that says what this body says."""
    begun = {name: body[name] for name in HEAD}
    said = [{**begun, "message": {"role": "assistant", **piece}, "done": False} for piece in _pieces(body["message"])]
    last = {**body, "message": {"role": "assistant", "content": ""}}
    return tuple(map(json_line, [*said, last]))


def _pieces(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from ({"content": "", "thinking": piece} for piece in pieces(message.get("thinking", "")))
    yield from ({"content": piece} for piece in pieces(message.get("content", "")))
    yield from ({"content": "", "tool_calls": [call]} for call in message.get("tool_calls", ()))


def write_stream_error(status: int, message: str) -> bytes:
    """An error after the status 200: its own line."""
    return write_error(status, message) + b"\n"


def wants_stream(payload: object, target: str) -> bool:
    """Whether the body asks for a stream, which it does unless `stream` is false: docs.ollama.com/api/streaming."""
    del target
    return not (is_object(payload) and payload.get("stream") is False)
