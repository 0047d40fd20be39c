"""The stream readers of the three adapters: what they read, and what they do not let through."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import (
    AnthropicAdapter,
    AssistantMessage,
    BaseAdapter,
    CallInfo,
    EndEvent,
    ErrorEvent,
    FunctionCall,
    GeminiAdapter,
    LLMProviderError,
    MetadataEvent,
    OpenAIAdapter,
    ResponseHead,
    StreamEvent,
    TokenEvent,
    ToolCall,
    ToolCallEvent,
    fold,
    parse_options,
)
from art_sdk.stream import follow

KEY = "sk-test/0123456789=="
SSE = {"content-type": "text/event-stream; charset=utf-8"}
ADAPTERS: dict[str, type[BaseAdapter]] = {
    "openai": OpenAIAdapter,
    "anthropic": AnthropicAdapter,
    "gemini": GeminiAdapter,
}
Stream = list[Any]
"""Frames: an object is data, a pair names the event's type too, a text stands as it is."""


def sse(frames: Stream) -> bytes:
    return b"".join(_frame(frame) for frame in frames)


def _frame(frame: Any) -> bytes:
    match frame:
        case bytes():
            return frame
        case str():
            return f"data: {frame}\n\n".encode()
        case (event, data):
            return f"event: {event}\ndata: {json.dumps(data)}\n\n".encode()
        case _:
            return f"data: {json.dumps(frame)}\n\n".encode()


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
    assert (reader.feed(b"data: {}\n\n"), reader.close(), reader.fail(LLMProviderError("x", provider="p"))) == (
        [],
        [],
        [],
    )
    return _in_order(events)


def _in_order(events: list[StreamEvent]) -> list[StreamEvent]:
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


# What a good stream of each provider looks like, and the whole answer that says the same.


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c1", "object": "chat.completion.chunk", "choices": choices, **more}


def called(index: int, arguments: str | None = None, **named: str) -> dict[str, Any]:
    function = {
        key: value for key, value in {"name": named.get("name"), "arguments": arguments}.items() if value is not None
    }
    return {"tool_calls": [{"index": index, "function": function, **({"id": named["id"]} if "id" in named else {})}]}


USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12, "prompt_tokens_details": {"cached_tokens": 2}}
DONE = "[DONE]"


def completion(message: dict[str, Any], finish: str, usage: Any = USAGE) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def function(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT: dict[str, tuple[Stream, dict[str, Any]]] = {
    "text": (
        [
            chunk({"role": "assistant", "content": ""}, usage=None),
            chunk({"content": " he"}),
            chunk({"content": "llo\r\n "}),
            chunk({}, "stop"),
            chunk(usage=USAGE),
            DONE,
        ],
        completion({"content": " hello\r\n "}, "stop"),
    ),
    "calls whose pieces are interleaved": (
        [
            chunk({"role": "assistant", "content": None}),
            chunk(called(0, "", id="a", name="f")),
            chunk(called(1, '{"y"', id="b", name="g")),
            chunk(called(0, '{"x":')),
            chunk(called(1, ": 2}")),
            chunk(called(0, ' "\\u00e9"}')),
            chunk({}, "tool_calls"),
            chunk(usage=USAGE),
            DONE,
        ],
        completion(
            {"content": None, "tool_calls": [function("f", '{"x": "\\u00e9"}', "a"), function("g", '{"y": 2}', "b")]},
            "tool_calls",
        ),
    ),
    "text, and calls whole in the chunk of the finish (Mistral)": (
        [
            chunk({"content": "so"}),
            chunk(called(0, "{}", id="a", name="f"), "tool_calls", usage=USAGE),
            DONE,
        ],
        completion({"content": "so", "tool_calls": [function("f", "{}", "a")]}, "tool_calls"),
    ),
    "arguments that were cut short": (
        [chunk(called(0, '{"x": 1', id="a", name="f")), chunk({}, "length", usage=USAGE), DONE],
        completion({"content": None, "tool_calls": [function("f", '{"x": 1', "a")]}, "length"),
    ),
    "calls without ids": (
        [
            chunk(called(0, "{}", name="f")),
            chunk(called(1, "{}", id="", name="g")),
            chunk({}, "tool_calls", usage=USAGE),
            DONE,
        ],
        completion({"tool_calls": [function("f", "{}", ""), function("g", "{}", "")]}, "tool_calls"),
    ),
    "reasoning (DeepSeek)": (
        [
            chunk({"reasoning_content": "hm"}),
            chunk({"content": "ok"}),
            chunk({"content": ""}, "stop", usage=USAGE),
            DONE,
        ],
        completion({"content": "ok", "reasoning_content": "hm"}, "stop"),
    ),
    "reasoning, and comments (OpenRouter, whose finish is told twice)": (
        [
            b": OPENROUTER PROCESSING\n\n",
            chunk({"reasoning": "hm", "content": ""}),
            b": OPENROUTER PROCESSING\n",
            chunk({"reasoning": None, "content": "ok"}),
            chunk({"content": ""}, "stop"),
            chunk({"content": "", "role": "assistant"}, "stop", usage=USAGE),
            DONE,
        ],
        completion({"content": "ok", "reasoning": "hm"}, "stop"),
    ),
    "usage of Groq's own": (
        [chunk({"content": "ok"}, x_groq={"id": "q"}), chunk({}, "stop", x_groq={"id": "q", "usage": USAGE}), DONE],
        completion({"content": "ok"}, "stop"),
    ),
    "usage with every chunk (Databricks)": (
        [
            chunk({"content": "ok"}, usage={"prompt_tokens": 5, "completion_tokens": None}),
            chunk({"content": ""}, "stop", usage=USAGE),
            DONE,
        ],
        completion({"content": "ok"}, "stop"),
    ),
    "a verdict on the prompt before the answer (Azure)": (
        [
            {"id": "", "choices": [], "prompt_filter_results": []},
            chunk({"content": "ok"}),
            chunk({}, "stop", usage=USAGE),
            DONE,
        ],
        completion({"content": "ok"}, "stop"),
    ),
    "verdicts in choices without a delta (Azure)": (
        [
            chunk({"content": "ok"}),
            {"id": "", "choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]},
            chunk({}, "stop", usage=USAGE),
            {"id": "", "choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]},
            DONE,
        ],
        completion({"content": "ok"}, "stop"),
    ),
    "a refusal": (
        [chunk({"refusal": "I "}), chunk({"refusal": "won't"}), chunk({}, "stop", usage=USAGE), DONE],
        completion({"content": None, "refusal": "I won't"}, "stop"),
    ),
    "an empty text": (
        [chunk({"content": ""}), chunk({}, "stop", usage=USAGE), DONE],
        completion({"content": ""}, "stop"),
    ),
    "a second choice is not read": (
        [
            chunk({"content": "ok"}),
            {"id": "c1", "choices": [{"index": 1, "delta": {"content": "no"}}]},
            chunk({}, "stop", usage=USAGE),
            DONE,
        ],
        completion({"content": "ok"}, "stop"),
    ),
    "no usage": ([chunk({"content": "ok"}), chunk({}, "stop"), DONE], completion({"content": "ok"}, "stop", None)),
}


CALLED = {"type": "tool_use", "id": "a", "name": "f"}
BLANK = {"type": "input_json_delta", "partial_json": " "}


def started(**usage: int) -> tuple[str, Any]:
    message = {"id": "m1", "type": "message", "role": "assistant", "content": [], "stop_reason": None, "usage": usage}
    return "message_start", {"type": "message_start", "message": message}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> Stream:
    return [
        ("content_block_start", {"type": "content_block_start", "index": index, "content_block": start}),
        *(("content_block_delta", {"type": "content_block_delta", "index": index, "delta": d}) for d in deltas),
        ("content_block_stop", {"type": "content_block_stop", "index": index}),
    ]


def text_block(index: int, *texts: str) -> Stream:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts))


def use(index: int, call_id: str, name: str, *pieces: str, given: Any = None) -> Stream:
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return block(index, {"type": "tool_use", "id": call_id, "name": name, "input": given or {}}, *deltas)


def stopped(reason: str | None, **usage: Any) -> Stream:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [("message_delta", {"type": "message_delta", "delta": delta, "usage": usage}), STOP]


STOP = ("message_stop", {"type": "message_stop"})
PING = ("ping", {"type": "ping"})
THINKING = {"type": "thinking", "thinking": "", "signature": ""}
THOUGHT = [
    {"type": "thinking_delta", "thinking": "h"},
    {"type": "thinking_delta", "thinking": "m"},
    {"type": "signature_delta", "signature": "S=="},
]
REDACTED = {"type": "redacted_thinking", "data": "R=="}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]}


def message(content: list[Any], reason: str, **usage: int) -> dict[str, Any]:
    return {"type": "message", "id": "m1", "content": content, "stop_reason": reason, "usage": usage}


ANTHROPIC: dict[str, tuple[Stream, dict[str, Any]]] = {
    "text": (
        [
            started(input_tokens=5, output_tokens=1),
            PING,
            *text_block(0, " he", "llo "),
            PING,
            *stopped("end_turn", output_tokens=7),
        ],
        message([{"type": "text", "text": " hello "}], "end_turn", input_tokens=5, output_tokens=7),
    ),
    "text and calls": (
        [
            started(input_tokens=5, output_tokens=1),
            *text_block(0, "so"),
            *use(1, "a", "f", "", '{"x": 12345678901234567', '890123, "y"', ": 1.5}"),
            *use(2, "b", "g"),
            *use(3, "c", "h", given={"z": 1}),
            *stopped("tool_use", input_tokens=6, output_tokens=7, cache_read_input_tokens=None),
        ],
        message(
            [
                {"type": "text", "text": "so"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 12345678901234567890123, "y": 1.5}},
                {"type": "tool_use", "id": "b", "name": "g", "input": {}},
                {"type": "tool_use", "id": "c", "name": "h", "input": {"z": 1}},
            ],
            "tool_use",
            input_tokens=6,
            output_tokens=7,
        ),
    ),
    "a call whose input comes in deltas alone (llama-server)": (
        [
            started(input_tokens=5, output_tokens=1),
            *block(0, CALLED, {"type": "input_json_delta", "partial_json": '{"x": 1}'}),
            *stopped("tool_use", output_tokens=7),
        ],
        message([CALLED | {"input": {"x": 1}}], "tool_use", input_tokens=5, output_tokens=7),
    ),
    "a call that begins before the one before has stopped (llama-server)": (
        [
            started(input_tokens=5, output_tokens=1),
            *use(0, "a", "f", '{"x": 1}')[:-1],
            *use(1, "b", "g", '{"y": 2}')[:-1],
            ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": BLANK}),
            *block(0, {})[-1:],
            *block(1, {})[-1:],
            *stopped("tool_use", output_tokens=7),
        ],
        message(
            [CALLED | {"input": {"x": 1}}, {"type": "tool_use", "id": "b", "name": "g", "input": {"y": 2}}],
            "tool_use",
            input_tokens=5,
            output_tokens=7,
        ),
    ),
    "thinking with its signature, redacted thinking, a server's tool": (
        [
            started(input_tokens=5, output_tokens=1),
            *block(0, THINKING, *THOUGHT),
            *block(1, REDACTED),
            *text_block(2, "let me", " see"),
            *block(
                3,
                SEARCH,
                {"type": "input_json_delta", "partial_json": '{"q": '},
                {"type": "input_json_delta", "partial_json": '"x"}'},
            ),
            *block(4, FOUND),
            *text_block(5, "so"),
            *use(6, "a", "f", "{}"),
            *stopped("tool_use", output_tokens=7, output_tokens_details={"thinking_tokens": 3}),
        ],
        message(
            [
                {"type": "thinking", "thinking": "hm", "signature": "S=="},
                REDACTED,
                {"type": "text", "text": "let me see"},
                SEARCH | {"input": {"q": "x"}},
                FOUND,
                {"type": "text", "text": "so"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            ],
            "tool_use",
            input_tokens=5,
            output_tokens=7,
            output_tokens_details={"thinking_tokens": 3},
        ),
    ),
    "blank text before a thought keeps the places": (
        [
            started(input_tokens=1),
            *text_block(0, " "),
            *block(1, THINKING, *THOUGHT),
            *text_block(2, "x"),
            *stopped("end_turn", output_tokens=2),
        ],
        message(
            [
                {"type": "text", "text": " "},
                {"type": "thinking", "thinking": "hm", "signature": "S=="},
                {"type": "text", "text": "x"},
            ],
            "end_turn",
            input_tokens=1,
            output_tokens=2,
        ),
    ),
    "citations, and a text that stands in its block's start": (
        [
            started(input_tokens=1),
            *block(
                0,
                {"type": "text", "text": "a"},
                {"type": "citations_delta", "citation": {}},
                {"type": "text_delta", "text": "b"},
            ),
            *stopped("end_turn", output_tokens=2),
        ],
        message([{"type": "text", "text": "ab"}], "end_turn", input_tokens=1, output_tokens=2),
    ),
    "a text block without text": (
        [started(input_tokens=1), *text_block(0), *use(1, "a", "f"), *stopped("tool_use", output_tokens=2)],
        message(
            [{"type": "text", "text": ""}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}],
            "tool_use",
            input_tokens=1,
            output_tokens=2,
        ),
    ),
    "nothing at all": (
        [started(input_tokens=1), *stopped("end_turn", output_tokens=2)],
        message([], "end_turn", input_tokens=1, output_tokens=2),
    ),
    "an event that is newer than this": (
        [
            started(input_tokens=1),
            ("news", {"type": "news"}),
            *text_block(0, "x"),
            *stopped("end_turn", output_tokens=2),
        ],
        message([{"type": "text", "text": "x"}], "end_turn", input_tokens=1, output_tokens=2),
    ),
    "without the lines that name the events": (
        [frame[1] for frame in [started(input_tokens=1), *text_block(0, "x"), *stopped("end_turn", output_tokens=2)]],
        message([{"type": "text", "text": "x"}], "end_turn", input_tokens=1, output_tokens=2),
    ),
    "compacted": (
        [
            started(input_tokens=1),
            *block(
                0,
                {"type": "compaction", "content": None},
                {"type": "compaction_delta", "content": "sum", "encrypted_content": "E"},
            ),
            *text_block(1, "x"),
            *stopped("end_turn", output_tokens=2),
        ],
        message(
            [{"type": "compaction", "content": "sum", "encrypted_content": "E"}, {"type": "text", "text": "x"}],
            "end_turn",
            input_tokens=1,
            output_tokens=2,
        ),
    ),
}
COUNTED = {"promptTokenCount": 5, "candidatesTokenCount": 7, "thoughtsTokenCount": 3, "totalTokenCount": 15}


def gen(parts: list[Any] | None = None, finish: str | None = None, usage: Any = None, **more: Any) -> dict[str, Any]:
    content = {} if parts is None else {"content": {"role": "model", "parts": parts}}
    candidate = content | ({} if finish is None else {"finishReason": finish}) | {"index": 0}
    return {
        "candidates": [candidate],
        "responseId": "g1",
        **({} if usage is None else {"usageMetadata": usage}),
        **more,
    }


def asked(name: str, args: Any, **more: Any) -> dict[str, Any]:
    signature = {"thoughtSignature": more.pop("signature")} if "signature" in more else {}
    return {"functionCall": {"name": name, "args": args, **more}, **signature}


GEMINI: dict[str, tuple[Stream, dict[str, Any]]] = {
    "text": (
        [
            gen([{"text": " he"}], usage={"promptTokenCount": 5}),
            gen([{"text": "llo "}]),
            gen([{"text": ""}], "STOP", COUNTED),
        ],
        gen([{"text": " hello "}, {"text": ""}], "STOP", COUNTED),
    ),
    "thoughts, text and calls, with signatures": (
        [
            gen([{"text": "h", "thought": True}]),
            gen([{"text": "m", "thought": True}]),
            gen([{"text": "so", "thoughtSignature": "T"}]),
            gen([asked("f", {"x": 1}, id="a", signature="S")]),
            gen([asked("g", {}, id="b")], "STOP", COUNTED),
        ],
        gen(
            [
                {"text": "hm", "thought": True},
                {"text": "so", "thoughtSignature": "T"},
                asked("f", {"x": 1}, id="a", signature="S"),
                asked("g", {}, id="b"),
            ],
            "STOP",
            COUNTED,
        ),
    ),
    "calls without ids": (
        [gen([asked("f", {})]), gen([asked("g", {}), asked("h", {}, id="x")]), gen(None, "STOP", COUNTED)],
        gen([asked("f", {}), asked("g", {}), asked("h", {}, id="x")], "STOP", COUNTED),
    ),
    "a signature on an empty text at the end": (
        [gen([{"text": "x"}]), gen([{"text": "", "thoughtSignature": "T"}], "STOP", COUNTED)],
        gen([{"text": "x"}, {"text": "", "thoughtSignature": "T"}], "STOP", COUNTED),
    ),
    "usage after the finish": (
        [gen([{"text": "x"}], "MAX_TOKENS"), {"usageMetadata": COUNTED, "responseId": "g1"}],
        gen([{"text": "x"}], "MAX_TOKENS", COUNTED),
    ),
    "a prompt that was blocked": (
        [{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": COUNTED, "responseId": "g1"}],
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": COUNTED, "responseId": "g1"},
    ),
    "cut by a filter": (
        [gen([{"text": "x"}]), gen(None, "SAFETY", COUNTED)],
        gen([{"text": "x"}], "SAFETY", COUNTED),
    ),
    "nothing at all": ([gen([], "STOP", COUNTED)], gen([], "STOP", COUNTED)),
    "a second candidate is not read": (
        [
            {"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}}], "responseId": "g1"},
            gen([{"text": "x"}], "STOP", COUNTED),
        ],
        gen([{"text": "x"}], "STOP", COUNTED),
    ),
}
GOOD = [
    pytest.param(provider, sse(stream), json.dumps(whole).encode(), id=f"{provider}: {name}")
    for provider, table in {"openai": CHAT, "anthropic": ANTHROPIC, "gemini": GEMINI}.items()
    for name, (stream, whole) in table.items()
]


@pytest.mark.parametrize(("provider", "body", "whole"), GOOD)
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


@pytest.mark.parametrize(("provider", "body", "whole"), GOOD)
def test_however_the_bytes_are_cut_the_events_are_the_same(provider: str, body: bytes, whole: bytes) -> None:
    wanted = shown(read(provider, body))
    for size in (1, 2, 7):
        assert shown(read(provider, body, size=size)) == wanted
    assert shown(read(provider, body.replace(b"\n", b"\r\n"), size=1)) == wanted
    assert shown(read(provider, b"\xef\xbb\xbf" + body.replace(b"\n", b"\r"), size=1)) == wanted


@pytest.mark.parametrize(("provider", "body", "whole"), GOOD)
def test_the_tokens_make_the_text_and_the_call_events_are_the_message_s_calls(
    provider: str, body: bytes, whole: bytes
) -> None:
    events = read(provider, body)
    said = end_of(events).message
    assert said is not None
    assert "".join(e.text for e in events if isinstance(e, TokenEvent) and e.token_type.endswith("RESPONSE")) == (
        said.content or ""
    )
    assert tuple(e.call for e in events if isinstance(e, ToolCallEvent)) == said.tool_calls


@pytest.mark.parametrize(("provider", "body", "whole"), GOOD)
def test_the_first_piece_stops_the_time(provider: str, body: bytes, whole: bytes) -> None:
    events = read(provider, body)
    metadata = fold(events).metadata
    tells = [event for event in events if isinstance(event, TokenEvent | ToolCallEvent)]
    assert metadata.time_to_first_token_ms == (1.0 if tells else None)
    assert metadata.total_generation_time_ms > (metadata.time_to_first_token_ms or 0)


@pytest.mark.parametrize(("provider", "body", "whole"), GOOD)
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


@pytest.mark.parametrize("provider", ADAPTERS)
def test_ids_that_were_sent_for_others_are_undone(provider: str) -> None:
    if provider == "gemini":
        pytest.skip("it maps none")
    own = "an id, longer than forty characters, with blanks and a comma in it"
    adapter = ADAPTERS[provider](api_key=KEY)
    sent = adapter.map_call_ids([own])[own]
    prompt = (AssistantMessage(None, (ToolCall(own, FunctionCall("f", "{}")),)),)
    body = {
        "openai": [chunk(called(0, "{}", id=sent, name="f")), chunk({}, "tool_calls"), DONE],
        "anthropic": [started(), *use(0, sent, "f"), *stopped("tool_use")],
    }[provider]
    message = end_of(read(provider, sse(body), prompt=prompt, map_call_ids=adapter.map_call_ids)).message
    assert message is not None
    assert [call.id for call in message.tool_calls] == [own]


def test_calls_without_ids_are_numbered_on_from_the_prompt_s() -> None:
    prompt = (AssistantMessage(None, (ToolCall("call_2", FunctionCall("f", "{}")),)),)
    for provider, table in {"openai": CHAT, "gemini": GEMINI}.items():
        message = end_of(read(provider, sse(table["calls without ids"][0]), prompt=prompt)).message
        assert message is not None
        assert [call.id for call in message.tool_calls][:2] == ["call_3", "call_4"]


# What is no stream, or breaks its provider's grammar.

BAD_CHAT: dict[str, tuple[Stream, str]] = {
    "nothing": ([], "it stopped before finish_reason"),
    "comments alone": ([b": hello\n\n"], "it stopped before finish_reason"),
    "no finish": ([chunk({"content": "x"}), DONE], "the end mark in the state 'answering'"),
    "no mark at the end": ([chunk({"content": "x"}), chunk({}, "stop")], "it stopped before [DONE]"),
    "the mark alone": ([DONE], "the end mark in the state 'begun'"),
    "two marks": ([chunk({"content": "x"}), chunk({}, "stop"), DONE, DONE], "nothing may come here"),
    "usage after the end": (
        [chunk({"content": "x"}), chunk({}, "stop"), DONE, chunk(usage=USAGE)],
        "an aside in the state 'done'",
    ),
    "text after the finish": (
        [chunk({"content": "x"}), chunk({}, "stop"), chunk({"content": "y"}), DONE],
        "a delta in the state 'finished'",
    ),
    "another finish": (
        [chunk({"content": "x"}), chunk({}, "stop"), chunk({}, "length"), DONE],
        "a finish in the state 'finished'",
    ),
    "calls announced and none": ([chunk({}, "tool_calls"), DONE], "is tool_calls, but there are no calls"),
    "neither content nor calls": ([chunk({}, "stop"), DONE], "neither content nor calls"),
    "arguments before the name": (
        [chunk(called(0, "{}", id="a")), chunk(called(0, name="f"))],
        "call 0, which has no name",
    ),
    "a call that begins twice": (
        [chunk(called(0, "{}", id="a", name="f")), chunk(called(0, "{}", id="a", name="f"))],
        "begins twice",
    ),
    "a call that was left out": ([chunk(called(1, "{}", id="a", name="f"))], "whose index is not the next one"),
    "a call before the first": ([chunk(called(-1, "{}", id="a", name="f"))], "whose index is not the next one"),
    "no choices": ([{"id": "c1"}], "neither choices nor an error"),
    "a choice without a delta": ([{"choices": [{"index": 0}]}], "delta"),
    "a number for text": ([chunk({"content": 7})], "Expected `str | null`, got `int`"),
    "no object": (["7"], "Expected `object`, got `int`"),
    "broken JSON": (['{"choices": ['], "Input data was truncated"),
    "no JSON": (["hello"], "malformed"),
    "no UTF-8": ([b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n'], "not UTF-8"),
    "an event begun after the end": (
        [chunk({"content": "x"}), chunk({}, "stop"), DONE, b"data: {"],
        "began after the answer's end",
    ),
}
BAD_ANTHROPIC: dict[str, tuple[Stream, str]] = {
    "nothing": ([], "it stopped before message_stop"),
    "no start": (text_block(0, "x"), "content_block_start in the state 'begun'; message_start may come here"),
    "two starts": ([started(), started()], "message_start in the state 'between blocks'"),
    "no end": ([started(), *text_block(0, "x"), stopped("end_turn")[0]], "it stopped before message_stop"),
    "no message_delta": ([started(), *text_block(0, "x"), STOP], "message_stop in the state 'between blocks'"),
    "no reason to stop": ([started(), *text_block(0, "x"), *stopped(None)], "stop_reason is null"),
    "a block without an end": (
        [started(), *text_block(0, "x")[:-1], *stopped("end_turn")],
        "message_delta in the state 'in a block'",
    ),
    "text of a block after the next has begun": (
        [started(), *text_block(0)[:1], *text_block(1)[:1], *text_block(0, "x")[1:2]],
        "content_block_delta of the block 0; expected block 1",
    ),
    "a block that never stops": (
        [started(), *text_block(0, "x")[:-1], *stopped("end_turn")],
        "message_delta in the state 'in a block'",
    ),
    "a block that begins twice": (
        [started(), text_block(0)[0], text_block(0)[0]],
        "content_block_start of the block 0; expected block 1",
    ),
    "a block left out": ([started(), *text_block(1, "x")], "content_block_start of the block 1; expected block 0"),
    "a delta for another block": (
        [started(), text_block(0)[0], text_block(1, "x")[1]],
        "content_block_delta of the block 1",
    ),
    "a delta without a block": (
        [started(), text_block(0, "x")[1]],
        "content_block_delta in the state 'between blocks'",
    ),
    "a delta of another kind": (
        [started(), *block(0, THINKING, {"type": "text_delta", "text": "x"})],
        "'text_delta' in a block of the type 'thinking'",
    ),
    "a delta that would change what goes back": (
        [started(), *block(0, REDACTED, {"type": "new_delta"})],
        "'new_delta' in a block",
    ),
    "a delta without its text": (
        [started(), *block(0, {"type": "text", "text": ""}, {"type": "text_delta"})],
        "text_delta has no text",
    ),
    "a call without a name": (
        [started(), *block(0, {"type": "tool_use", "id": "a", "input": {}})],
        "missing required field `name`",
    ),
    "a block without a type": ([started(), *block(0, {"text": ""})], "has no type"),
    "calls announced and none": (
        [started(), *text_block(0, "x"), *stopped("tool_use")],
        "is tool_use, but there are no calls",
    ),
    "something after the end": ([started(), *stopped("end_turn"), started()], "message_start in the state 'done'"),
    "two ends": ([started(), *stopped("end_turn"), STOP], "nothing may come here"),
    "an event that is another": (
        [started(), ("ping", text_block(0)[0][1])],
        "an event 'ping' with data of the type 'content_block_start'",
    ),
    "data without a type": ([{"index": 0}], "missing required field `type`"),
    "a call without any input": ([started(), *block(0, CALLED)], "neither an input nor a delta of it"),
    "a server's tool with broken input": (
        [started(), *block(0, SEARCH, {"type": "input_json_delta", "partial_json": "{"})],
        "Input data was truncated",
    ),
}
BAD_GEMINI: dict[str, tuple[Stream, str]] = {
    "nothing": ([], "it stopped before finishReason"),
    "no finish": ([gen([{"text": "x"}])], "it stopped before finishReason"),
    "usage alone": ([{"usageMetadata": COUNTED}], "it stopped before finishReason"),
    "an empty object": ([{}], "neither candidates nor a block reason"),
    "text after the finish": ([gen([{"text": "x"}], "STOP"), gen([{"text": "y"}])], "a part in the state 'finished'"),
    "two finishes": ([gen([{"text": "x"}], "STOP"), gen([], "STOP")], "a finish in the state 'finished'"),
    "parts, and none that can be read": ([gen([{"newer": 1}], "STOP")], "neither text nor a call"),
    "no content": ([gen(None, "STOP")], "content is missing"),
    "a call twice": ([gen([asked("f", {}, id="a")]), gen([asked("f", {}, id="a")])], "two calls with the id 'a'"),
    "a call without a name": ([gen([{"functionCall": {"args": {}}}], "STOP")], "missing required field `name`"),
    "a list": ([[gen([{"text": "x"}], "STOP")]], "Expected `object`, got `array`"),
    "the mark of another provider": ([gen([{"text": "x"}], "STOP"), DONE], "Expected `object`, got `array`"),
}
BAD = [
    pytest.param(provider, sse(stream), said, id=f"{provider}: {name}")
    for provider, table in {"openai": BAD_CHAT, "anthropic": BAD_ANTHROPIC, "gemini": BAD_GEMINI}.items()
    for name, (stream, said) in table.items()
]


@pytest.mark.parametrize(("provider", "body", "said"), BAD)
def test_a_stream_that_breaks_its_grammar_is_an_error(provider: str, body: bytes, said: str) -> None:
    events = read(provider, body)
    error = error_of(events)
    assert said in error.message
    assert error.message.startswith(f"{provider} answered 200 with a stream that cannot be read: ")
    assert (error.provider, error.status) == (provider, 200)
    assert isinstance(error.__cause__, Exception)
    assert shown(read(provider, body, size=1)) == shown(events)


TOLD: dict[str, tuple[str, Stream, str | None, str | None, bool]] = {
    "OpenAI": (
        "openai",
        [chunk({"content": "x"}), {"error": {"message": "no", "type": "server_error", "code": None}}],
        "server_error",
        "no",
        True,
    ),
    "OpenRouter, beside a delta": (
        "openai",
        [chunk({"content": "x"}), chunk({"content": ""}, "error", error={"code": 502, "message": "no"})],
        "502",
        "no",
        True,
    ),
    "Groq, by the event's type": (
        "openai",
        [chunk({"content": "x"}), ("error", {"error": {"message": "no", "code": "tool_use_failed"}})],
        "tool_use_failed",
        "no",
        False,
    ),
    "an event of the type error, and no object": (
        "openai",
        [chunk({"content": "x"}), b"event: error\ndata: overloaded\n\n"],
        None,
        "overloaded",
        False,
    ),
    "Anthropic": (
        "anthropic",
        [
            started(),
            text_block(0)[0],
            text_block(0, "x")[1],
            ("error", {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}),
        ],
        "overloaded_error",
        "no",
        True,
    ),
    "Anthropic, without the event's name": (
        "anthropic",
        [
            started(),
            text_block(0)[0],
            text_block(0, "x")[1],
            {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
        ],
        "invalid_request_error",
        "no",
        False,
    ),
    "Gemini": (
        "gemini",
        [gen([{"text": "x"}]), {"error": {"code": 503, "message": "no", "status": "UNAVAILABLE"}}],
        "UNAVAILABLE",
        "no",
        True,
    ),
}


@pytest.mark.parametrize(("provider", "stream", "code", "said", "retryable"), TOLD.values(), ids=TOLD)
def test_an_error_after_the_status_200_is_told_in_the_provider_s_words(
    provider: str,
    stream: Stream,
    code: str | None,
    said: str,
    retryable: bool,  # noqa: FBT001
) -> None:
    events = read(provider, sse(stream))
    error = error_of(events)
    assert (error.provider_code, error.provider_message, error.is_retryable, error.status) == (
        code,
        said,
        retryable,
        200,
    )
    assert error.message == f"{provider} answered 200, then sent an error in the stream: {said}"
    assert error.raw_body
    assert [type(event) for event in events] == [TokenEvent, ErrorEvent, EndEvent]
    assert end_of(events).message == AssistantMessage("x")


@pytest.mark.parametrize("provider", ADAPTERS)
def test_a_key_that_the_provider_repeats_is_struck_out_and_the_raw_body_is_capped(provider: str) -> None:
    said = {"error": {"message": f"bad key {KEY}", "type": KEY, "padding": "x" * 9000}}
    for frames in (
        [("error", said)],
        [f"{KEY} is no JSON"],
        [{"choices": KEY, "candidates": KEY, "type": 7, "key": KEY}],
    ):
        error = error_of(read(provider, sse(frames), ResponseHead(200, SSE | {"x-request-id": KEY, "request-id": KEY})))
        everything = (
            f"{error} {error!r} {error.details} {error.raw_body!r} {error.__cause__} {error.__cause__!r} {vars(error)}"
        )
        assert KEY not in everything
        assert len(error.raw_body) <= 4096


WRONG_TYPES = {
    "HTML": ("text/html", b"<html><title>502 Bad Gateway</title></html>", None),
    "JSON of an error": ("application/json", b'{"error": {"message": "no", "code": "c"}}', "no"),
    "JSON of a whole answer": ("application/json; charset=utf-8", json.dumps(CHAT["text"][1]).encode(), None),
    "a list, as Gemini streams without alt=sse": ("application/json", json.dumps([GEMINI["text"][1]]).encode(), None),
    "nothing": ("text/plain", b"", None),
}


@pytest.mark.parametrize(("kind", "body", "said"), WRONG_TYPES.values(), ids=WRONG_TYPES)
@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_answer_that_is_no_event_stream_is_an_error(provider: str, kind: str, body: bytes, said: str | None) -> None:
    events = read(provider, body, ResponseHead(200, {"content-type": kind}))
    error = error_of(events)
    assert "expected an event stream" in error.message
    assert kind in error.message
    assert (error.provider_message, error.raw_body, end_of(events).message) == (said, body, None)


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_answer_that_says_nothing_of_its_type_is_read_as_a_stream(provider: str) -> None:
    table = {"openai": CHAT, "anthropic": ANTHROPIC, "gemini": GEMINI}[provider]
    assert end_of(read(provider, sse(table["text"][0]), ResponseHead(200, {}))).finish == "stop"


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
def test_a_network_that_fails_after_the_end_has_spoiled_nothing(provider: str) -> None:
    table = {"openai": CHAT, "anthropic": ANTHROPIC, "gemini": GEMINI}[provider]
    body = sse(table["text"][0])
    for cut, finish in ((body, "stop"), (body[: len(body) // 2], "error")):
        reader = ADAPTERS[provider](api_key=KEY).stream_reader(
            ResponseHead(200, SSE), CallInfo(thread_id="t", trace_id="r", model="m")
        )
        fault = LLMProviderError("cut off", provider=provider)
        events = _in_order([*reader.feed(cut), *reader.fail(fault)])
        assert end_of(events).finish == finish
        assert [event.error for event in events if isinstance(event, ErrorEvent)] == (
            [] if finish == "stop" else [fault]
        )


@pytest.mark.parametrize("provider", ADAPTERS)
def test_the_call_s_context_and_ids_stand_in_streamed_events(provider: str) -> None:
    table = {"openai": CHAT, "anthropic": ANTHROPIC, "gemini": GEMINI}[provider]
    events = read(provider, sse(table["text"][0]), call_context="AGENT_THOUGHT", session_id="s")
    assert {(event.thread_id, event.trace_id, event.session_id) for event in events} == {("t", "r", "s")}
    assert {event.token_type for event in events if isinstance(event, TokenEvent)} == {"AGENT_THOUGHT_LLM_RESPONSE"}


def test_complete_blocks_of_an_answer_that_failed_go_back_with_what_arrived() -> None:
    stream = [started(), *block(0, THINKING, *THOUGHT), *use(1, "a", "f"), *block(2, THINKING, *THOUGHT)[:-1]]
    message = end_of(read("anthropic", sse(stream))).message
    assert message is not None
    assert [call.id for call in message.tool_calls] == ["a"]
    kept = {"at": 0, "block": {"type": "thinking", "thinking": "hm", "signature": "S=="}}
    assert message.extensions == {"anthropic-messages": {"blocks": [kept]}}


# What is asked for.


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
def test_what_the_caller_says_of_the_stream_s_options_is_sent(
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


def test_the_caller_s_own_accept_header_stays(user: Any) -> None:
    adapter = OpenAIAdapter(api_key=KEY, headers={"accept": "*/*"})
    options = parse_options({"thread_id": "t", "stream": True})
    assert adapter.prepare([user], options).request.headers["accept"] == "*/*"
