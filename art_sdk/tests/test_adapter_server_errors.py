"""Errors of xAI, Ollama, Azure and servers that nobody knows, in their own words; wrong answers are errors too."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from art_sdk import (
    AzureOpenAIAdapter,
    BaseAdapter,
    CallInfo,
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    OllamaAdapter,
    OpenAICompatibleAdapter,
    ResponseHead,
    StreamEvent,
    XAIAdapter,
)
from art_sdk.stream import follow
from row_tables import table
from streamed import KEY, SSE, sse

JSON = {"content-type": "application/json"}
INFO = CallInfo(thread_id="t", trace_id="r", model="m")
SERVERS: dict[str, BaseAdapter] = {
    "xai": XAIAdapter(api_key=KEY),
    "ollama": OllamaAdapter(api_key=KEY),
    "azure": AzureOpenAIAdapter(api_key=KEY, base_url="https://mine.openai.azure.com/openai/v1", model="m"),
    "any other": OpenAICompatibleAdapter(api_key=KEY, base_url="http://127.0.0.1:8000/v1", model="m"),
}
ERRORS: dict[str, tuple[Any, str | None, str]] = {
    "a detail": ({"detail": "no"}, None, "no"),
    "details of a validation": ({"detail": [{"msg": "no"}]}, None, '[{"msg":"no"}]'),
    "a text": ({"error": "no"}, None, "no"),
    "a text and a code": ({"code": "invalid-argument", "error": "no"}, "invalid-argument", "no"),
    "a text and a number": ({"code": 404, "error": "no"}, "404", "no"),
    "a type": ({"error": {"message": "no", "type": "api_error", "param": None, "code": None}}, "api_error", "no"),
    "a number": ({"error": {"message": "no", "code": 404}}, "404", "no"),
    "a number as text": ({"error": {"code": "404", "message": "no"}}, "404", "no"),
    "bare": ({"object": "error", "message": "no", "type": "BadRequestError", "code": 400}, "BadRequestError", "no"),
    "a list": ([{"error": {"message": "no", "code": 404}}], "404", "no"),
}
"""A body, and its code and message."""

CALL = {"id": "c1", "index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}}
SAID = {"role": "assistant", "content": "hi", "reasoning_content": "hm", "reasoning": "hm", "tool_calls": [CALL]}
HEAD = {"id": "a1", "object": "chat.completion", "created": 1, "model": "m", "system_fingerprint": "f"}
USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 5,
    "total_tokens": 12,
    "prompt_tokens_details": {"cached_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
ANSWER = HEAD | {"choices": [{"index": 0, "message": SAID, "finish_reason": "tool_calls"}], "usage": USAGE}
CHUNKS: list[Any] = [
    HEAD | {"choices": [{"index": 0, "delta": SAID, "finish_reason": None}]},
    HEAD | {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    HEAD | {"choices": [], "usage": USAGE},
]

each_server = pytest.mark.parametrize("server", SERVERS)


def whole(server: str, body: Any, status: int = 200) -> list[StreamEvent]:
    return list(SERVERS[server].read_response(ResponseHead(status, JSON), json.dumps(body).encode(), INFO))


def streamed(server: str, frames: list[Any], headers: dict[str, str] = SSE) -> list[StreamEvent]:
    reader = SERVERS[server].stream_reader(ResponseHead(200, headers), INFO)
    body = sse(frames) if headers is SSE else json.dumps(frames[0]).encode()
    return [*reader.feed(body), *reader.close()]


def failure(events: list[StreamEvent]) -> LLMProviderError | None:
    """The error of events in good order, or None."""
    state: Any = "answering"
    for event in events:
        state = follow(state, event)
    errors = [event.error for event in events if isinstance(event, ErrorEvent)]
    end = events[-1]
    assert isinstance(end, EndEvent)
    assert (end.finish == "error") is bool(errors)
    assert all(isinstance(error, LLMProviderError) for error in errors)
    return next((error for error in errors if isinstance(error, LLMProviderError)), None)


@each_server
@table(("body", "code", "message"), ERRORS.values(), ids=ERRORS)
def test_a_refusal_quotes_the_server(server: str, body: Any, code: str | None, message: str) -> None:
    error = failure(whole(server, body, status=404))
    assert error is not None
    assert (error.status, error.provider_code, error.provider_message) == (404, code, message)
    assert str(SERVERS[server].provider_name) in error.message


CALLS: dict[str, Callable[[str, Any], list[StreamEvent]]] = {
    "whole": whole,
    "instead of a stream": lambda server, body: streamed(server, [body], JSON),
    "first in a stream": lambda server, body: streamed(server, [body]),
    "later in a stream": lambda server, body: streamed(server, [CHUNKS[0], body]),
    "as an event of its own": lambda server, body: streamed(server, [CHUNKS[0], ("error", body)]),
}


@each_server
@pytest.mark.parametrize("way", CALLS)
@table(("body", "code", "message"), ERRORS.values(), ids=ERRORS)
def test_an_error_inside_a_200_is_an_error(server: str, way: str, body: Any, code: str | None, message: str) -> None:
    error = failure(CALLS[way](server, body))
    assert error is not None
    assert error.status == 200
    if isinstance(body, dict) and "error" in body:
        assert (error.provider_code, error.provider_message) == (code, message)


WRONG: list[tuple[str, Any]] = [
    *(("/choices", value) for value in (None, {}, "x", 7)),
    *(("/choices/0", value) for value in (None, [], "x", 7)),
    *(("/choices/0/{said}", value) for value in ([], "x", 7)),
    *(("/choices/0/{said}/content", value) for value in (7, True, ["x"], [{"text": "x"}])),
    *(("/choices/0/{said}/tool_calls", value) for value in ({}, "x", ["x"], [7])),
    *(("/choices/0/{said}/tool_calls/0/function", value) for value in ([], "x", 7)),
    *(("/choices/0/{said}/tool_calls/0/function/name", value) for value in (None, "", 7, {})),
    *(("/choices/0/{said}/tool_calls/0/function/arguments", value) for value in (7, [], True)),
    *(("/choices/0/{said}/tool_calls/0/id", value) for value in (7, {})),
    ("/error", {"message": "no"}),
    ("/error", "no"),
]
"""Places of an answer, and what no reader can read there."""


def changed(data: Any, place: str, value: Any) -> Any:
    """A copy with another value at the place, a JSON pointer."""
    *steps, last = (int(step) if step.isdecimal() else step for step in place.split("/")[1:])
    parent = copied = copy.deepcopy(data)
    for step in steps:
        parent = parent[step]
    parent[last] = value
    return copied


@each_server
@table(("place", "value"), WRONG, ids=json.dumps)
def test_a_field_of_another_type_is_an_error(server: str, place: str, value: Any) -> None:
    assert failure(whole(server, ANSWER)) is None
    assert failure(streamed(server, [*CHUNKS, "[DONE]"])) is None
    assert failure(whole(server, changed(ANSWER, place.format(said="message"), value))) is not None
    first = changed(CHUNKS[0], place.format(said="delta"), value)
    if place != "/choices" or value is not None:  # a chunk may have none
        assert failure(streamed(server, [first, *CHUNKS[1:], "[DONE]"])) is not None


def places(value: Any, at: str = "") -> Iterator[str]:
    """Every place below the root."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield f"{at}/{step}"
        yield from places(inner, f"{at}/{step}")


@each_server
def test_whatever_a_field_has_events_come_in_order(server: str) -> None:
    for value in (None, 7, -1.5, True, "x", [], [7], {}, {"x": [None]}):
        for place in places(ANSWER):
            failure(whole(server, changed(ANSWER, place, value)))
        for at, chunk in enumerate(CHUNKS):
            for place in places(chunk):
                frames = [*CHUNKS[:at], changed(chunk, place, value), *CHUNKS[at + 1 :], "[DONE]"]
                failure(streamed(server, frames))
