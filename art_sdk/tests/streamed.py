"""What tests of streams share: the streams in `data/streams`, and a reader of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from art_sdk import (
    AnthropicAdapter,
    BaseAdapter,
    CallInfo,
    EndEvent,
    ErrorEvent,
    GeminiAdapter,
    LLMProviderError,
    MetadataEvent,
    OpenAIAdapter,
    ResponseHead,
    StreamEvent,
)
from art_sdk.stream import follow

KEY = "sk-test/0123456789=="
SSE = {"content-type": "text/event-stream; charset=utf-8"}
ADAPTERS: dict[str, type[BaseAdapter]] = {
    "openai": OpenAIAdapter,
    "anthropic": AnthropicAdapter,
    "gemini": GeminiAdapter,
}
STREAMS: dict[str, dict[str, dict[str, Any]]] = {
    provider: json.loads((Path(__file__).parent / "data" / "streams" / f"{provider}.json").read_text(encoding="utf-8"))
    for provider in ADAPTERS
}
"""By provider: `good` streams, each with the whole answer of the same content; `broken` ones, with a part of the
error's message; and `errors` that the provider sends after a text, with its code and message."""


def sse(frames: list[Any]) -> bytes:
    """Frames as bytes: an object is data, a pair an event's type and data, a text is data as it is."""
    return b"".join(map(_frame, frames))


def _frame(frame: Any) -> bytes:
    match frame:
        case {"bytes": raw} if len(frame) == 1:
            return str(raw).encode("latin-1")
        case str():
            return f"data: {frame}\n\n".encode()
        case [event, data]:
            return f"event: {event}\ndata: {json.dumps(data)}\n\n".encode()
        case _:
            return f"data: {json.dumps(frame)}\n\n".encode()


def good_stream(provider: str, name: str = "text") -> bytes:
    return sse(STREAMS[provider]["good"][name]["stream"])


def read(
    provider: str, body: bytes, head: ResponseHead | None = None, *, size: int = 0, **info: Any
) -> list[StreamEvent]:
    ticks = iter(range(1, 10**9))
    facts = {"thread_id": "t", "trace_id": "r", "model": "m", "clock": lambda: next(ticks) / 1000} | info
    reader = ADAPTERS[provider](api_key=KEY).stream_reader(head or ResponseHead(200, SSE), CallInfo(**facts))
    step = size or max(len(body), 1)
    events = [event for at in range(0, len(body), step) for event in reader.feed(body[at : at + step])]
    events += reader.close()
    assert reader.is_over
    late = (reader.feed(b"data: {}\n\n"), reader.close(), reader.fail(LLMProviderError("x", provider="p")))
    assert late == ([], [], [])
    return in_order(events)


def in_order(events: list[StreamEvent]) -> list[StreamEvent]:
    state: Any = "answering"
    for event in events:
        state = follow(state, event)
    assert state == "ended"
    return events


def end_of(events: list[StreamEvent]) -> EndEvent:
    assert isinstance(events[-1], EndEvent)
    return events[-1]


def error_of(events: list[StreamEvent]) -> LLMProviderError:
    [error] = [event.error for event in events if isinstance(event, ErrorEvent)]
    assert isinstance(error, LLMProviderError)
    assert end_of(events).finish == "error"
    return error


def shown(events: list[StreamEvent]) -> list[Any]:
    """The events without their times, errors as they read."""
    return [
        (event.error.message, event.error.details)
        if isinstance(event, ErrorEvent)
        else event.metadata.raw_stop_reason
        if isinstance(event, MetadataEvent)
        else event
        for event in events
    ]
