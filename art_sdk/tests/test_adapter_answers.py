from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import (
    Answer,
    AssistantMessage,
    CallInfo,
    EndEvent,
    ErrorEvent,
    FunctionCall,
    LLMMetadata,
    LLMProviderError,
    MetadataEvent,
    Text,
    Thinking,
    TokenEvent,
    ToolCall,
    ToolCallEvent,
    Usage,
    fold,
)
from art_sdk.adapters.answers import answer_events, failure_events, token_type

Info = Callable[..., CallInfo]
CALL = ToolCall("c", FunctionCall("f", "{}"))


def test_the_pieces_come_as_events_in_their_order(info: Info) -> None:
    answer = Answer(pieces=(Thinking("h"), Text("a"), CALL, Text("b")), stop_reason="tool_calls", raw_stop_reason="X")
    events = list(answer_events(answer, info(session_id="s")))
    stamps = {"thread_id": "t", "trace_id": "r", "session_id": "s"}
    message = AssistantMessage("ab", (CALL,))
    metadata = LLMMetadata(stop_reason="tool_calls", raw_stop_reason="X", total_generation_time_ms=2500.0, trace_id="r")
    assert events == [
        TokenEvent(text="h", token_type="LLM_THINKING", **stamps),
        TokenEvent(text="a", token_type="LLM_RESPONSE", **stamps),
        ToolCallEvent(call=CALL, **stamps),
        TokenEvent(text="b", token_type="LLM_RESPONSE", **stamps),
        MetadataEvent(metadata=metadata, **stamps),
        EndEvent(message=message, finish="tool_calls", **stamps),
    ]
    assert fold(events).thinking == "h"


def test_the_metadata_has_the_counts_and_times_of_the_answer(info: Info) -> None:
    raw = {"odd": [1]}
    usage = Usage(input_tokens=1, output_tokens=2, thinking_tokens=0, cached_tokens=4, raw=raw)
    answer = Answer(pieces=(), stop_reason="stop", raw_stop_reason=None, usage=usage, request_id="q")
    assert fold(answer_events(answer, info(started=1.0))).metadata == LLMMetadata(
        stop_reason="stop",
        raw_stop_reason=None,
        total_generation_time_ms=1500.0,
        trace_id="r",
        input_tokens=1,
        output_tokens=2,
        thinking_tokens=0,
        cached_tokens=4,
        provider_raw_usage=raw,
        request_id="q",
    )


@pytest.mark.parametrize(
    ("pieces", "content"),
    [((), ""), ((Thinking("h"),), ""), ((CALL,), None), ((Text(""), CALL), ""), ((Text(" a "), Text("\n")), " a \n")],
)
def test_content_is_null_only_in_a_message_of_calls_alone(pieces: Any, content: str | None, info: Info) -> None:
    answer = Answer(pieces=pieces, stop_reason="stop", raw_stop_reason=None)
    assert fold(answer_events(answer, info())).message.content == content


@pytest.mark.parametrize("arrived", [None, AssistantMessage("half")])
def test_a_failure_is_an_error_and_an_end_with_what_arrived(arrived: AssistantMessage | None, info: Info) -> None:
    error = LLMProviderError("no", provider="acme")
    stamps = {"thread_id": "t", "trace_id": "r", "session_id": None}
    assert list(failure_events(error, info(), arrived)) == [
        ErrorEvent(error=error, **stamps),
        EndEvent(message=arrived, finish="error", **stamps),
    ]


@pytest.mark.parametrize(
    ("context", "prefix"),
    [
        (None, ""),
        ("AGENT_THOUGHT", "AGENT_THOUGHT_"),
        ("FINAL_SYNTHESIS", "FINAL_SYNTHESIS_"),
        ("LUNCH", ""),
        ("", ""),
    ],
)
def test_the_call_context_marks_the_token_type(context: str | None, prefix: str) -> None:
    assert token_type(context, Text) == f"{prefix}LLM_RESPONSE"
    assert token_type(context, Thinking) == f"{prefix}LLM_THINKING"
