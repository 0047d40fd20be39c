"""Writes Cohere's streams: what `write_response` says, as events.

Source: streams recorded in 2025 and 2026; thinking and citations follow docs.cohere.com/docs/streaming and
`V2ChatStreamResponse` in cohere 7.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.cohere_chat.answers import body_of
from art_compliance.dialects.framing import data_frame, pieces
from art_compliance.scenarios import WrittenAnswer

END_MARK: Final = b"data: [DONE]\n\n"

UNKNOWN_EVENT: Final = data_frame({"type": "debug", "prompt": "It is fair."}, event="debug")
"""An event with no part in the answer: `DebugV2ChatStreamResponse`."""


def write_stream(answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
    """A streamed answer. Raises CannotWrite as `write_response` does."""
    del payload
    return write_body(body_of(answer))


def write_body(body: dict[str, Any]) -> tuple[bytes, ...]:
    """The stream that says what this body says."""
    return (*(data_frame(event, event=event["type"]) for event in _events(body)), END_MARK)


def write_stream_error(status: int, message: str) -> bytes:
    """An error after the status 200: `ChatMessageEndEventDelta.error` is its message."""
    del status
    event = {"type": "message-end", "delta": {"error": message, "finish_reason": "ERROR"}}
    return data_frame(event, event="message-end")


def _events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    message = body["message"]
    begun: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    yield {"id": body["id"], "type": "message-start", "delta": {"message": begun}}
    for piece in pieces(message.get("tool_plan", "")):
        yield {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}}
    contents = message.get("content", ())
    for index, content in enumerate(contents):
        is_last = index == len(contents) - 1
        yield from _content(index, content, message.get("citations", ()) if is_last else ())
    for index, call in enumerate(message.get("tool_calls", ())):
        yield from _call(index, call)
    ended = {"finish_reason": body["finish_reason"]}
    usage = {"usage": body["usage"]} if "usage" in body else {}
    yield {"type": "message-end", "delta": {**ended, **usage}}


def _content(index: int, content: dict[str, Any], citations: Any) -> Iterator[dict[str, Any]]:
    """A content block; what is cited is between its last piece and its end."""
    kind = content["type"]
    yield _part("content-start", index, {"content": {"type": kind, kind: ""}})
    for piece in pieces(content[kind]):
        yield _part("content-delta", index, {"content": {kind: piece}})
    for at, citation in enumerate(citations):
        yield _part("citation-start", at, {"citations": citation})
        yield {"type": "citation-end", "index": at}
    yield {"type": "content-end", "index": index}


def _call(index: int, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A call. Empty arguments have no piece, as recorded."""
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    yield _part("tool-call-start", index, {"tool_calls": {**call, "function": {"name": name, "arguments": ""}}})
    for piece in pieces("" if arguments == "{}" else arguments):
        yield _part("tool-call-delta", index, {"tool_calls": {"function": {"arguments": piece}}})
    yield {"type": "tool-call-end", "index": index}


def _part(kind: str, index: int, message: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": message}}
