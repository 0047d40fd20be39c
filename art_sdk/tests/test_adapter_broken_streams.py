"""Streams that are not what the provider sends: broken ones, errors after status 200, and other content types."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_sdk import (
    AssistantMessage,
    CallInfo,
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    ResponseHead,
    TokenEvent,
    ToolResultMessage,
    UserMessage,
)
from row_tables import table
from streamed import ADAPTERS, KEY, SSE, STREAMS, end_of, error_of, good_stream, in_order, read, shown, sse


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(provider, case, id=f"{provider}: {name}")
        for provider, table in STREAMS.items()
        for name, case in table[kind].items()
    ]


@table(("provider", "case"), cases("broken"))
def test_a_broken_stream_is_an_error(provider: str, case: dict[str, Any]) -> None:
    body = sse(case["stream"])
    events = read(provider, body)
    error = error_of(events)
    assert case["error"] in error.message
    assert error.message.startswith(f"{provider} answered 200 with a stream that cannot be read: ")
    assert (error.provider, error.status) == (provider, 200)
    assert isinstance(error.__cause__, Exception)
    assert shown(read(provider, body, size=1)) == shown(events)


@pytest.mark.parametrize(("provider", "case"), cases("errors"))
def test_an_error_after_status_200_has_the_provider_s_code_and_message(provider: str, case: dict[str, Any]) -> None:
    events = read(provider, sse(case["stream"]))
    error = error_of(events)
    assert (error.provider_code, error.provider_message) == (case["code"], case["message"])
    assert (error.is_retryable, error.status) == (case["is_retryable"], 200)
    assert error.message == f"{provider} answered 200, then sent an error in the stream: {case['message']}"
    assert error.raw_body
    assert [type(event) for event in events] == [TokenEvent, ErrorEvent, EndEvent]
    assert end_of(events).message == AssistantMessage("x")


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_error_does_not_show_the_key_and_its_raw_body_is_capped(provider: str) -> None:
    data = {"error": {"message": f"bad key {KEY}", "type": KEY, "padding": "x" * 9000}}
    for frames in (
        [("error", data)],
        [f"{KEY} is not JSON"],
        [{"choices": KEY, "candidates": KEY, "type": 7, "key": KEY}],
    ):
        error = error_of(read(provider, sse(frames), ResponseHead(200, SSE | {"x-request-id": KEY, "request-id": KEY})))
        everything = (
            f"{error} {error!r} {error.details} {error.raw_body!r} {error.__cause__} {error.__cause__!r} {vars(error)}"
        )
        assert KEY not in everything
        assert len(error.raw_body) <= 4096


WHOLE = {provider: table["good"]["text"]["whole"] for provider, table in STREAMS.items()}
WRONG_TYPES = {
    "HTML": ("text/html", b"<html><title>502 Bad Gateway</title></html>"),
    "JSON of a whole answer": ("application/json; charset=utf-8", json.dumps(WHOLE["openai"]).encode()),
    "a list, as Gemini streams without alt=sse": ("application/json", json.dumps([WHOLE["gemini"]]).encode()),
    "nothing": ("text/plain", b""),
}


@pytest.mark.parametrize(("kind", "body"), WRONG_TYPES.values(), ids=WRONG_TYPES)
@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_answer_that_is_not_an_event_stream_is_an_error(provider: str, kind: str, body: bytes) -> None:
    events = read(provider, body, ResponseHead(200, {"content-type": kind}))
    error = error_of(events)
    assert "expected an event stream" in error.message
    assert kind in error.message
    assert (error.provider_message, error.raw_body, end_of(events).message) == (None, body, None)


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_error_s_status_is_read_as_in_an_unstreamed_call(provider: str) -> None:
    head = ResponseHead(429, {"content-type": "application/json", "retry-after": "7"})
    error = error_of(read(provider, b'{"error": {"message": "slow down", "code": "c"}}', head, size=3))
    assert (error.status, error.retry_after, error.provider_message, error.is_retryable) == (
        429,
        7.0,
        "slow down",
        True,
    )


@pytest.mark.parametrize("provider", ADAPTERS)
def test_a_network_fault_after_the_end_of_the_answer_changes_nothing(provider: str) -> None:
    body = good_stream(provider)
    for cut, finish in ((body, "stop"), (body[: len(body) // 2], "error")):
        reader = ADAPTERS[provider](api_key=KEY).stream_reader(
            ResponseHead(200, SSE), CallInfo(thread_id="t", trace_id="r", model="m")
        )
        fault = LLMProviderError("cut off", provider=provider)
        events = in_order([*reader.feed(cut), *reader.fail(fault)])
        assert end_of(events).finish == finish
        errors = [str(event.error) for event in events if isinstance(event, ErrorEvent)]
        assert errors == ([] if finish == "stop" else [f"LLM_PROVIDER_ERROR: {provider} answered 200; cut off"])


THINKING = {"type": "thinking", "thinking": "", "signature": ""}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "S=="}
FAILED_ANSWER = [
    {"type": "message_start", "message": {}},
    {"type": "content_block_start", "index": 0, "content_block": THINKING},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "S=="}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    },
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": THINKING},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "thinking_delta", "thinking": "so"}},
]


def test_complete_blocks_of_an_answer_that_failed_go_back_with_what_arrived() -> None:
    message = end_of(read("anthropic", sse(FAILED_ANSWER))).message
    assert message is not None
    assert [call.id for call in message.tool_calls] == ["a"]
    assert message.extensions == {"anthropic-messages": {"blocks": [{"at": 0, "block": THOUGHT}]}}


def blocks(*content: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a message that breaks off: all blocks are complete, but for a last one that is `HALF`."""
    frames: list[dict[str, Any]] = [{"type": "message_start", "message": {}}]
    for index, block in enumerate(content):
        frames.append({"type": "content_block_start", "index": index, "content_block": block})
        if block is not HALF:
            frames.append({"type": "content_block_stop", "index": index})
    return frames


REDACTED = {"type": "redacted_thinking", "data": "+"}
HALF = {"type": "text", "text": "ha"}


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ([THOUGHT], None),
        ([THOUGHT, REDACTED], None),
        ([THOUGHT, {"type": "text", "text": " "}], None),
        ([THOUGHT, HALF], [(0, THOUGHT)]),
        ([THOUGHT, {"type": "text", "text": "whole"}, REDACTED], [(0, THOUGHT)]),
        ([THOUGHT, {"type": "tool_use", "id": "a", "name": "f", "input": {}}, REDACTED], [(0, THOUGHT)]),
    ],
)
def test_the_message_of_an_answer_that_failed_does_not_end_with_thinking(
    content: list[dict[str, Any]], kept: list[tuple[int, dict[str, Any]]] | None
) -> None:
    message = end_of(read("anthropic", sse(blocks(*content)))).message or AssistantMessage("")
    places = kept and [{"at": at, "block": block} for at, block in kept]
    assert message.extensions == (places and {"anthropic-messages": {"blocks": places}})
    if kept:
        results = [ToolResultMessage(tool_call_id=call.id, content="ok") for call in message.tool_calls]
        prompt = [UserMessage("Hi"), message, *results, UserMessage("Go on")]
        ADAPTERS["anthropic"](api_key=KEY).prepare(prompt, {"thread_id": "t"})
