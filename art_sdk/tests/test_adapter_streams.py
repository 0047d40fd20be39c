"""Laws of streamed answers, over the good streams of every built-in adapter."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import (
    AssistantMessage,
    BaseAdapter,
    CallInfo,
    FunctionCall,
    OpenAIAdapter,
    ResponseHead,
    TokenEvent,
    ToolCall,
    ToolCallEvent,
    fold,
    parse_options,
)
from streamed import ADAPTERS, KEY, STREAMS, end_of, error_of, good_stream, read, shown, sse

GOOD = pytest.mark.parametrize(
    ("provider", "body", "whole"),
    [
        pytest.param(provider, sse(case["stream"]), json.dumps(case["whole"]).encode(), id=f"{provider}: {name}")
        for provider, table in STREAMS.items()
        for name, case in table["good"].items()
    ],
)


@GOOD
def test_a_stream_folds_to_what_the_whole_answer_says(provider: str, body: bytes, whole: bytes) -> None:
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    streamed = fold(read(provider, body))
    unstreamed = fold(ADAPTERS[provider](api_key=KEY).read_response(ResponseHead(200, {}), whole, info))
    assert streamed.message == unstreamed.message
    assert (streamed.finish, streamed.thinking) == (unstreamed.finish, unstreamed.thinking)
    times = ("total_generation_time_ms", "time_to_first_token_ms")
    facts, wanted = (
        {n: getattr(c.metadata, n) for n in c.metadata.__struct_fields__ if n not in times}
        for c in (streamed, unstreamed)
    )
    assert facts == wanted


@GOOD
def test_however_the_bytes_are_cut_the_events_are_the_same(provider: str, body: bytes, whole: bytes) -> None:
    wanted = shown(read(provider, body))
    for size in (1, 2, 7):
        assert shown(read(provider, body, size=size)) == wanted
    assert shown(read(provider, body.replace(b"\n", b"\r\n"), size=1)) == wanted
    assert shown(read(provider, b"\xef\xbb\xbf" + body.replace(b"\n", b"\r"), size=1)) == wanted


@GOOD
def test_the_tokens_make_the_text_and_the_call_events_are_the_message_s_calls(
    provider: str, body: bytes, whole: bytes
) -> None:
    events = read(provider, body)
    message = end_of(events).message
    assert message is not None
    assert "".join(e.text for e in events if isinstance(e, TokenEvent) and e.token_type.endswith("RESPONSE")) == (
        message.content or ""
    )
    assert tuple(e.call for e in events if isinstance(e, ToolCallEvent)) == message.tool_calls


@GOOD
def test_the_time_to_the_first_token_is_that_of_the_first_piece(provider: str, body: bytes, whole: bytes) -> None:
    events = read(provider, body)
    metadata = fold(events).metadata
    pieces = [event for event in events if isinstance(event, TokenEvent | ToolCallEvent)]
    assert metadata.time_to_first_token_ms == (1.0 if pieces else None)
    assert metadata.total_generation_time_ms > (metadata.time_to_first_token_ms or 0)


@pytest.mark.unmeasured
@GOOD
def test_a_stream_cut_short_is_an_error_after_what_did_arrive(provider: str, body: bytes, whole: bytes) -> None:
    events = read(provider, body)
    for at in range(len(body) - 1):
        cut = read(provider, body[:at])
        if provider == "gemini" and end_of(cut).finish != "error":
            assert b"finishReason" in body[:at] or b"blockReason" in body[:at]  # nothing else ends such a stream
            continue
        error = error_of(cut)
        assert error.is_retryable
        assert "it stopped before" in error.message
        assert shown(cut[:-2]) == shown(events[: len(cut) - 2])


MAPPED = {
    "openai": [
        {
            "choices": [
                {"delta": {"tool_calls": [{"index": 0, "id": "SENT", "function": {"name": "f", "arguments": "{}"}}]}}
            ]
        },
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        "[DONE]",
    ],
    "anthropic": [
        {"type": "message_start", "message": {}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "SENT", "name": "f", "input": {}},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ],
}


@pytest.mark.parametrize("provider", MAPPED)
def test_mapped_call_ids_are_undone(provider: str) -> None:
    own = "an id, longer than forty characters, with blanks and a comma in it"
    adapter = ADAPTERS[provider](api_key=KEY)
    sent = adapter.map_call_ids([own])[own]
    prompt = (AssistantMessage(None, (ToolCall(own, FunctionCall("f", "{}")),)),)
    body = sse(MAPPED[provider]).replace(b"SENT", sent.encode())
    message = end_of(read(provider, body, prompt=prompt, map_call_ids=adapter.map_call_ids)).message
    assert message is not None
    assert [call.id for call in message.tool_calls] == [own]


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_calls_without_ids_are_numbered_on_from_the_prompt(provider: str) -> None:
    prompt = (AssistantMessage(None, (ToolCall("call_2", FunctionCall("f", "{}")),)),)
    message = end_of(read(provider, good_stream(provider, "calls without ids"), prompt=prompt)).message
    assert message is not None
    assert [call.id for call in message.tool_calls][:2] == ["call_3", "call_4"]


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_answer_without_a_content_type_is_read_as_a_stream(provider: str) -> None:
    assert end_of(read(provider, good_stream(provider), ResponseHead(200, {}))).finish == "stop"


@pytest.mark.parametrize("provider", ADAPTERS)
def test_streamed_events_carry_the_call_s_context_and_ids(provider: str) -> None:
    events = read(provider, good_stream(provider), call_context="AGENT_THOUGHT", session_id="s")
    assert {(event.thread_id, event.trace_id, event.session_id) for event in events} == {("t", "r", "s")}
    assert {event.token_type for event in events if isinstance(event, TokenEvent)} == {"AGENT_THOUGHT_LLM_RESPONSE"}


# Requests.


def test_a_streamed_call_asks_for_a_stream(make: type[BaseAdapter], user: Any) -> None:
    adapter = make(api_key=KEY)
    plain, streamed = (adapter.prepare([user], {"thread_id": "t", "stream": stream}) for stream in (False, True))
    assert (plain.stream, streamed.stream) == (False, True)
    assert (plain.request.headers["accept"], streamed.request.headers["accept"]) == (
        "application/json",
        "text/event-stream",
    )
    added = {
        "openai": {"stream": True, "stream_options": {"include_usage": True}},
        "anthropic": {"stream": True},
        "gemini": {},
    }[adapter.provider_name]
    assert json.loads(streamed.request.body) == json.loads(plain.request.body) | added
    if adapter.provider_name == "gemini":
        assert streamed.request.url == plain.request.url.replace(":generateContent", ":streamGenerateContent?alt=sse")
    else:
        assert streamed.request.url == plain.request.url


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"include_obfuscation": False}, {"include_usage": True, "include_obfuscation": False}),
        ({"include_usage": False}, {"include_usage": False}),
        ({"include_usage": True}, {"include_usage": True}),
        ({}, {"include_usage": True}),
    ],
)
def test_the_caller_s_own_stream_options_are_sent(
    openai: OpenAIAdapter, translate: Callable[..., Any], user: Any, given: Any, sent: Any
) -> None:
    provider = {"openai-chat": {"stream_options": given}}
    assert translate(openai, [user], stream=True, provider=provider)["stream_options"] == sent


@pytest.mark.parametrize("stream", [True, False])
def test_the_provider_s_own_field_for_streaming_is_refused(
    adapter: BaseAdapter,
    refusal: Callable[..., Any],
    user: Any,
    stream: bool,  # noqa: FBT001
) -> None:
    error = refusal(adapter, [user], stream=stream, provider={adapter.dialect: {"stream": True}})
    assert "set the option stream instead" in error.message


def test_the_caller_s_own_accept_header_is_kept(user: Any) -> None:
    adapter = OpenAIAdapter(api_key=KEY, headers={"accept": "*/*"})
    options = parse_options({"thread_id": "t", "stream": True})
    assert adapter.prepare([user], options).request.headers["accept"] == "*/*"
