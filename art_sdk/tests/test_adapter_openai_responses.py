"""What OpenAI's Responses API has of its own: items, what goes back with them, and the grammar of its streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_sdk import (
    CallInfo,
    Completion,
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    OpenAIResponsesAdapter,
    PromptTranslationFailed,
    ResponseHead,
    StreamEvent,
    fold,
    parse_options,
    parse_prompt,
)
from streamed import SSE, sse

ADAPTER = OpenAIResponsesAdapter(api_key="key")
INFO = CallInfo(thread_id="t", trace_id="r", model="m")
USER = {"role": "user", "content": "Where?"}
THOUGHT = {
    "type": "reasoning",
    "id": "rs",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "e",
}
CALLED = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"}
RESULT = {"role": "tool_result", "tool_call_id": "c", "content": "r"}
KEPT = {"openai-responses": {"items": [THOUGHT, {"type": "function_call", "id": "fc", "status": "completed"}]}}


def translated(*prompt: dict[str, Any], **options: Any) -> dict[str, Any]:
    return ADAPTER.translate(parse_prompt(list(prompt)), parse_options({"thread_id": "t", **options}))


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": "msg", "content": [{"type": "output_text", "text": text}], **more}


def response(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "resp", "status": status, "output": list(output), **more}


def without(event: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in names}


def read(answer: Any) -> Completion:
    return fold(ADAPTER.read_response(ResponseHead(200, {}), json.dumps(answer).encode(), INFO))


def streamed(*events: dict[str, Any]) -> list[StreamEvent]:
    reader = ADAPTER.stream_reader(ResponseHead(200, SSE), INFO)
    return [*reader.feed(sse([[event["type"], event] for event in events])), *reader.close()]


def test_a_request_has_no_state_at_the_provider():
    assert translated(USER)["store"] is False
    own = {"store": True, "include": []}
    sent = translated(USER, provider={"openai-responses": own}, model="gpt-5-mini")
    assert {name: sent[name] for name in own} == own


@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "background"])
def test_a_field_that_depends_on_state_is_refused(field: str):
    with pytest.raises(PromptTranslationFailed, match=f"'{field}'.* is not allowed: .*; leave it out"):
        translated(USER, provider={"openai-responses": {field: "x"}})


@pytest.mark.parametrize(
    ("model", "includes"),
    [
        ("gpt-4.1", False),
        ("gpt-4o-mini", False),
        ("gpt-5-chat-latest", False),
        ("gpt-5-mini", True),
        ("gpt-5.6-terra", True),
        ("o4-mini", True),
        ("openai/gpt-oss-20b", True),
        ("openai.gpt-5.6-luna", True),
        ("grok-4.3", True),
        ("deepseek-v4-flash", False),
    ],
)
def test_reasoning_is_included_for_models_that_reason(model: str, includes: bool):  # noqa: FBT001
    assert ("include" in translated(USER, model=model)) is includes


def assistant(**fields: Any) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **fields}


def test_reasoning_goes_back_before_the_call_with_both_of_its_ids():
    message = read(response(THOUGHT, CALLED)).message
    assert message.extensions == KEPT
    sent = translated(USER, assistant(extensions=message.extensions), RESULT)["input"]
    assert sent[1:3] == [THOUGHT, CALLED]


def test_an_answer_of_text_and_calls_alone_keeps_nothing():
    assert read(response(said("hi"), CALLED)).message.extensions is None
    assert read(response({**THOUGHT, "encrypted_content": None}, said("hi"))).message.extensions is None


def test_two_messages_with_a_phase_go_back_as_two():
    first, last = said("Let me look. ", id="m1", phase="commentary"), said("Rome.", id="m2", phase="final_answer")
    message = read(response(first, last)).message
    assert message.content == "Let me look. Rome."
    sent = translated(USER, {"role": "assistant", "content": message.content, "extensions": message.extensions}, USER)
    texts = [(item["id"], item["phase"], item["content"][0]["text"]) for item in sent["input"][1:3]]
    assert texts == [("m1", "commentary", "Let me look. "), ("m2", "final_answer", "Rome.")]


def test_a_text_that_the_answer_did_not_have_goes_before_its_calls():
    sent = translated(USER, assistant(content="Also:", extensions=KEPT), RESULT)["input"]
    assert [item.get("content", item["type"]) for item in sent[1:4]] == ["reasoning", "Also:", "function_call"]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([THOUGHT], "more calls than its items"),
        ([THOUGHT, CALLED, {"type": "function_call"}], "Object contains unknown field"),
        ([{"type": "function_call"}, {"type": "function_call"}], "of type 'function_call' does not belong there"),
        ([{"type": "function_call"}, {"type": "custom_tool_call"}], "whose result a prompt cannot contain"),
        ([{"type": "function_call"}, {"id": "x"}], "of type None does not belong there"),
        ([{"type": "function_call"}, {"type": "message", "length": -1}], "Expected `int` >= 0"),
        ([{"type": "function_call"}, THOUGHT], "it ends with reasoning"),
        ("x", "Expected `array`, got `str`"),
    ],
)
def test_an_extension_that_does_not_fit_is_refused(items: Any, words: str):
    with pytest.raises(PromptTranslationFailed, match=words):
        translated(USER, assistant(extensions={"openai-responses": {"items": items}}), RESULT)


@pytest.mark.parametrize(
    ("answer", "finish", "raw"),
    [
        (response(said("hi")), "stop", "completed"),
        (response(said("hi"), CALLED), "tool_calls", "completed"),
        (response({**said(""), "content": [{"type": "refusal", "refusal": "No."}]}), "content_filter", "completed"),
        (
            response(said("h"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
            "max_output_tokens",
        ),
        (response(status="incomplete", incomplete_details={"reason": "steered"}), "other", "steered"),
        (response(said("h"), status="cancelled"), "other", "cancelled"),
        (
            response(said("h"), {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"}),
            "other",
            "completed",
        ),
    ],
)
def test_an_answer_ends_as_its_status_and_its_items_say(answer: Any, finish: str, raw: str):
    completion = read(answer)
    assert (completion.finish, completion.metadata.raw_stop_reason) == (finish, raw)


FAILED = response(status="failed", error={"code": "server_error", "message": "The model broke."})


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (FAILED, "The model broke"),
        (response(status="failed"), "the response failed"),
        (response(status="in_progress"), "its status is 'in_progress'"),
        ({"id": "resp", "status": "completed"}, "the response has no output"),
        (without(response(said("hi")), "status"), "the response has no status"),
        (response({"type": "message", "id": "msg"}), "a message has no content"),
        (response({"type": "message", "content": [{"type": "output_text"}]}), "has no text"),
        (response({**CALLED, "arguments": None}), "Expected `str`, got `null`"),
    ],
)
def test_what_is_no_answer_is_an_error(answer: Any, words: str):
    with pytest.raises(LLMProviderError, match=words):
        read(answer)


# Streams.

CREATED = {"type": "response.created", "response": response(status="in_progress")}
BEGUN = {"type": "response.output_item.added", "output_index": 0, "item": said("") | {"content": []}}
DELTA = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "hi"}
TEXT = {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "hi"}
DONE = {"type": "response.output_item.done", "output_index": 0, "item": said("hi")}
LAST = {"type": "response.completed", "response": response(said("hi"))}
WHOLE = (CREATED, BEGUN, DELTA, TEXT, DONE, LAST)


@pytest.mark.parametrize(
    "events",
    [
        WHOLE,
        (CREATED, BEGUN, TEXT, DONE, LAST),
        (CREATED, BEGUN, DONE, LAST),
        (CREATED, LAST),
        ({"type": "response.created"}, *WHOLE[1:]),
        ({"type": "response.created", "response": {"id": "resp"}}, *WHOLE[1:]),
        (CREATED, {"type": "response.in_progress"}, *WHOLE[1:]),
        (CREATED, {"type": "response.weather"}, BEGUN, DELTA, DONE, LAST),
        tuple(without(event, "output_index") | {"item_id": "msg"} for event in WHOLE),
        (CREATED, BEGUN, DELTA, TEXT, DONE, {**LAST, "response": response()}),
    ],
)
def test_a_whole_stream_is_read(events: Any):
    completion = fold(streamed(*events))
    assert (completion.message.content, completion.finish) == ("hi", "stop")


MORE = {**LAST, "response": response(said("hi"), said("ho"))}


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (WHOLE[1:], "response.created may come here"),
        (WHOLE[:-1], "it stopped before response.completed"),
        ((CREATED, CREATED), "response.created in the state 'open'"),
        ((CREATED, DELTA), "of the item 0, which is not open"),
        ((CREATED, BEGUN, BEGUN), "the item 0 begins twice"),
        ((CREATED, BEGUN, LAST), "1 of its items are not done"),
        ((CREATED, BEGUN, DELTA, {**TEXT, "text": "ho"}), "differs from the text of its deltas"),
        ((CREATED, BEGUN, DELTA, {**DONE, "item": said("ho")}), "differs from the text of its deltas"),
        ((CREATED, BEGUN, DELTA, {**DONE, "item": said("") | {"content": []}}), "without the text of its deltas"),
        ((CREATED, BEGUN, {**DONE, "item": CALLED}), "ends with type 'function_call'"),
        ((CREATED, BEGUN, {**DELTA, "type": "response.reasoning_text.delta"}), "in an item of type 'message'"),
        ((CREATED, BEGUN, without(DELTA, "delta")), "has no delta"),
        ((CREATED, BEGUN, DELTA, DONE, MORE), "has 2 items, but only 1 arrived"),
        ((CREATED, BEGUN, DELTA, DONE, without(LAST, "response")), "has no response"),
        ((*WHOLE, LAST), "nothing may come here"),
        ((CREATED, without(BEGUN, "item")), "has no item"),
    ],
)
def test_a_broken_stream_is_an_error(events: Any, words: str):
    *_, failed, _ = streamed(*events)
    assert isinstance(failed, ErrorEvent)
    assert words in failed.error.message


def test_a_response_that_failed_is_the_provider_s_error():
    *_, failed, end = streamed(CREATED, BEGUN, DELTA, {"type": "response.failed", "response": FAILED})
    assert isinstance(failed, ErrorEvent)
    assert isinstance(failed.error, LLMProviderError)
    assert (failed.error.provider_code, failed.error.provider_message) == ("server_error", "The model broke.")
    assert failed.error.is_retryable
    assert end.message.content == "hi"  # type: ignore[union-attr]


CUT = {"reason": "max_output_tokens"}


@pytest.mark.parametrize(
    ("begun", "delta", "text", "arguments"),
    [
        (BEGUN, DELTA, "hi", []),
        (
            {**BEGUN, "item": {**CALLED, "arguments": ""}},
            {**DELTA, "type": "response.function_call_arguments.delta", "delta": '{"a'},
            None,
            ['{"a'],
        ),
        (
            {**BEGUN, "item": {**THOUGHT, "summary": []}},
            {**DELTA, "type": "response.reasoning.delta", "delta": "hm"},
            "",
            [],
        ),
    ],
)
def test_an_item_that_the_limit_cut_off_is_read_as_far_as_it_came(begun: Any, delta: Any, text: Any, arguments: Any):
    last = {"type": "response.incomplete", "response": response(status="incomplete", incomplete_details=CUT)}
    completion = fold(streamed(CREATED, begun, delta, last))
    calls = [call.function.arguments for call in completion.message.tool_calls]
    assert (completion.message.content, calls, completion.finish) == (text, arguments, "length")


def test_messages_that_the_limit_cut_off_keep_the_lengths_of_their_texts():
    item = {**BEGUN["item"], "phase": "commentary"}
    begun = [{**BEGUN, "output_index": at, "item": {**item, "id": f"msg_{at}"}} for at in (0, 1)]
    deltas = [{**DELTA, "output_index": at, "delta": text} for at, text in ((0, "hi"), (0, " ho"), (1, "he"))]
    last = {"type": "response.incomplete", "response": response(status="incomplete", incomplete_details=CUT)}
    message = fold(streamed(CREATED, *begun, *deltas, last)).message
    kept = [{"type": "message", "length": 5, "id": "msg_0", "phase": "commentary"}]
    kept += [{"type": "message", "id": "msg_1", "phase": "commentary"}]
    assert message.extensions == {"openai-responses": {"items": kept}}


@pytest.mark.parametrize("end", ["x", "y"])
def test_a_long_text_is_compared_with_its_pieces_to_its_end(end: str):
    pieces = [{**DELTA, "delta": "é" * 50_000}] * 3 + [{**DELTA, "delta": "x"}]
    whole = "é" * 150_000 + end
    *_, last = streamed(CREATED, BEGUN, *pieces, {**TEXT, "text": whole}, {**DONE, "item": said(whole)}, LAST)
    assert isinstance(last, EndEvent)
    assert last.finish == ("stop" if end == "x" else "error")


def test_names_and_data_of_an_event_agree():
    reader = ADAPTER.stream_reader(ResponseHead(200, SSE), INFO)
    *_, failed, _ = [*reader.feed(sse([["response.completed", CREATED]])), *reader.close()]
    assert isinstance(failed, ErrorEvent)
    assert "an event 'response.completed' with data of the type 'response.created'" in failed.error.message
