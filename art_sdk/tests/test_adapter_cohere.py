"""What CohereChatAdapter alone does: plans, thinking and citations go back, and streams keep to their order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_sdk import (
    CallInfo,
    CohereChatAdapter,
    EndEvent,
    ErrorEvent,
    PromptTranslationFailed,
    ResponseHead,
    fold,
    parse_options,
    parse_prompt,
)

INFO = CallInfo(thread_id="t", trace_id="r", model="m")
USER: dict[str, Any] = {"role": "user", "content": "Go."}
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CITED = {"start": 0, "end": 2, "text": "hi", "sources": [{"type": "tool", "id": "c:0"}]}
THOUGHT = {"type": "thinking", "thinking": "hm"}
MESSAGE = {"tool_plan": "I look.", "content": [THOUGHT, {"type": "text", "text": "hi"}], "citations": [CITED]}
KEPT = {"tool_plan": "I look.", "citations": [CITED], "blocks": [{"at": 0, "block": THOUGHT}]}


@pytest.fixture
def cohere() -> CohereChatAdapter:
    return CohereChatAdapter(api_key="key")


def translated(cohere: CohereChatAdapter, prompt: list[Any], **options: Any) -> dict[str, Any]:
    return cohere.translate(parse_prompt(prompt), parse_options({"thread_id": "t", **options}))


def test_plan_thinking_and_citations_of_an_answer_go_back_as_they_came(cohere: CohereChatAdapter) -> None:
    body = {"id": "m", "message": {**MESSAGE, "tool_calls": [CALL]}, "finish_reason": "TOOL_CALL"}
    read = fold(cohere.read_response(ResponseHead(200, {}), json.dumps(body).encode(), INFO))
    assert read.message.extensions == {"cohere-chat-v2": KEPT}
    assert read.thinking == "I look.hm"
    said = {"role": "assistant", "content": "hi", "tool_calls": [CALL], "extensions": read.message.extensions}
    result = {"role": "tool_result", "tool_call_id": "c", "content": "6"}
    sent = translated(cohere, [USER, said, result])["messages"]
    assert sent[1] == {"role": "assistant", **MESSAGE, "tool_calls": [CALL]}
    assert sent[2] == {"role": "tool", "tool_call_id": "c", "content": "6"}


OBJECT = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
TOOL = {"name": "look", "description": "Looks.", "inputSchema": OBJECT}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tools": [TOOL], "tool_choice": "look"}, "cohere.tool-choice"),
    ({"tools": [TOOL], "response_schema": OBJECT}, "cohere.format-alone"),
    ({"response_schema": {"type": "array"}}, "cohere.schema-object"),
    ({"response_schema": {"type": "object"}}, "cohere.strict-required"),
    ({"tools": [TOOL | {"inputSchema": OBJECT | {"required": ["x"]}}]}, "cohere.schema-object"),
    ({"tools": [TOOL | {"inputSchema": {"type": "object", "properties": {"x": {}}}}]}, "cohere.schema-object"),
    ({"temperature": 1.1}, "cohere.temperature"),
    ({"top_p": 1}, "cohere.stop-max5"),
    ({"stop": list("abcdef")}, "cohere.stop-max5"),
]


@pytest.mark.parametrize(("options", "rule"), REFUSED)
def test_what_cohere_refuses_is_refused_with_its_rule(
    cohere: CohereChatAdapter, options: dict[str, Any], rule: str
) -> None:
    with pytest.raises(PromptTranslationFailed) as caught:
        translated(cohere, [USER], **options)
    assert caught.value.details["rule"] == rule


def test_an_extension_of_another_form_is_refused(cohere: CohereChatAdapter) -> None:
    for wrong in ({"tool_plan": 5}, {"citations": "x"}, {"blocks": [{"at": 9, "block": THOUGHT}]}, {"other": 1}):
        message = {"role": "assistant", "content": "hi", "extensions": {"cohere-chat-v2": wrong}}
        with pytest.raises(PromptTranslationFailed, match="do not change the message of an answer"):
            translated(cohere, [USER, message, USER])


def part(kind: str, message: Any, index: int = 0) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": message}}


START = {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant", "content": []}}}
END = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}
TEXT = [
    part("content-start", {"content": {"type": "text", "text": ""}}),
    part("content-delta", {"content": {"text": "hi"}}),
    part("citation-start", {"citations": CITED}),
    {"type": "citation-end", "index": 0},
    {"type": "content-end", "index": 0},
]
BEGUN = part("tool-call-start", {"tool_calls": CALL | {"function": {"name": "look", "arguments": ""}}})
CALLED = [BEGUN, part("tool-call-delta", {"tool_calls": {"function": {"arguments": "{}"}}}), {"type": "tool-call-end"}]


def stream(cohere: CohereChatAdapter, events: list[Any]) -> list[Any]:
    reader = cohere.stream_reader(ResponseHead(200, {"content-type": "text/event-stream"}), INFO)
    return [*reader.feed("".join(f"data: {json.dumps(one)}\n\n" for one in events).encode()), *reader.close()]


def test_citations_of_a_stream_are_kept_and_no_end_mark_is_needed(cohere: CohereChatAdapter) -> None:
    read = fold(stream(cohere, [START, *TEXT, END]))
    assert (read.message.content, read.message.extensions) == ("hi", {"cohere-chat-v2": {"citations": [CITED]}})


WRONG: list[list[Any]] = [
    [*TEXT, END],
    [START, *TEXT],
    [START, START, *TEXT, END],
    [START, *TEXT[1:], END],
    [START, *TEXT[:-1], END],
    [START, *TEXT, *TEXT, END],
    [START, *TEXT, END, END],
    [START, *CALLED, END],
    [START, *CALLED, *CALLED, END],
    [START, *TEXT, {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}],
    [START, *TEXT[:2], {"type": "message-end", "delta": {"error": "no more", "finish_reason": "ERROR"}}],
]


@pytest.mark.parametrize("events", WRONG)
def test_a_stream_in_another_order_ends_with_an_error(cohere: CohereChatAdapter, events: list[Any]) -> None:
    *_, error, end = stream(cohere, events)
    assert (type(error), type(end), end.finish) == (ErrorEvent, EndEvent, "error")


def test_the_words_of_an_error_in_a_stream_are_the_providers(cohere: CohereChatAdapter) -> None:
    assert stream(cohere, WRONG[-1])[-2].error.provider_message == "no more"
