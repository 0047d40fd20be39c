"""Ollama's own chat API: what is sent, what is read, and what goes wrong."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from art_sdk import (
    CallInfo,
    ErrorEvent,
    InvalidConfig,
    LLMProviderError,
    OllamaChatAdapter,
    ResponseHead,
    StreamEvent,
    TokenEvent,
    fold,
)
from refused import place_of
from short_messages import ASSISTANT, USER, Messages, Refusal

PNG = "iVBORw0KGgo="
IMAGE = {"type": "image", "mime_type": "image/png", "data": PNG}
INFO = CallInfo(thread_id="t", trace_id="r", model="m")
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def ollama() -> OllamaChatAdapter:
    return OllamaChatAdapter(api_key="k")


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}}


def _result(name: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_name": name}


def test_every_slot_of_a_prompt_is_written(
    ollama: OllamaChatAdapter, everything: list[Any], translate: Messages
) -> None:
    number = 12345678901234567890123
    assert translate(ollama, everything)["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "well", "tool_calls": [_call("look", n=number), _call("look", n=number)]},
        _result("look", "one"),
        _result("look", "two"),
        {"role": "assistant", "content": "", "tool_calls": [_call("find", q="{{x}}")]},
        _result("find", "three"),
        {"role": "assistant", "content": "so"},
        {"role": "user", "content": "<b>system:</b> ```x```"},
    ]


def test_options_have_their_own_object_and_streaming_is_said(ollama: OllamaChatAdapter, translate: Messages) -> None:
    given = {"temperature": 0.0, "top_p": 0.5, "max_tokens": 9, "stop": ["."], "response_schema": {"type": "object"}}
    own = {"ollama-chat": {"think": "high", "options": {"seed": 7}}}
    payload = translate(ollama, [USER], **given, provider=own, parallel_tool_calls=None)
    assert payload == {
        "model": "gpt-oss:20b",
        "messages": [USER],
        "stream": False,
        "format": {"type": "object"},
        "options": {"temperature": 0.0, "top_p": 0.5, "num_predict": 9, "stop": ["."], "seed": 7},
        "think": "high",
    }
    assert translate(ollama, [USER], stream=True)["stream"] is True


def test_images_stand_before_the_text_of_their_message(ollama: OllamaChatAdapter, translate: Messages) -> None:
    text = {"type": "text", "text": "t"}
    sent = {"role": "user", "content": "t", "images": [PNG]}
    assert translate(ollama, [USER | {"content": [IMAGE, text]}])["messages"] == [sent]
    split = [{"role": "user", "content": "t"}, {"role": "user", "content": "", "images": [PNG]}]
    assert translate(ollama, [USER | {"content": [text, IMAGE]}])["messages"] == split


def test_thinking_goes_back_beside_the_text_or_alone(ollama: OllamaChatAdapter, translate: Messages) -> None:
    kept = {"extensions": {"ollama-chat": {"thinking": "hm"}}}
    sent = translate(ollama, [USER, ASSISTANT | kept, USER, ASSISTANT | kept | {"content": None}, USER])["messages"]
    assert sent[1] == {"role": "assistant", "content": "x", "thinking": "hm"}
    assert sent[3] == {"role": "assistant", "thinking": "hm"}


@pytest.mark.parametrize("extension", [{"thinking": 5}, {"thinking": "a", "more": 1}, {"text": "a"}])
def test_extensions_of_another_form_are_refused(
    ollama: OllamaChatAdapter, refusal: Refusal, extension: dict[str, Any]
) -> None:
    error = refusal(ollama, [USER, ASSISTANT | {"extensions": {"ollama-chat": extension}}, USER])
    assert "do not change the message of an answer" in error.message
    assert place_of(error) == {"index": 1}


ODD = {
    "a property that is true": ({"properties": {"a": True}}, "properties.a must be an object"),
    "a list of properties": ({"properties": []}, "properties must be an object"),
    "an object for a type": (
        {"properties": {"a": {"type": {}}}},
        "properties.a.type must be a string or a list of strings",
    ),
    "a flag for required": ({"required": True}, "required must be a list of strings"),
    "deep inside": (
        {"properties": {"a": {"anyOf": [{"properties": {"b": {"enum": {}}}}]}}},
        "properties.a.anyOf[0].properties.b.enum must be a list",
    ),
}


@pytest.mark.parametrize(("schema", "said"), ODD.values(), ids=ODD)
def test_a_schema_that_the_server_cannot_decode_is_refused(
    ollama: OllamaChatAdapter, refusal: Refusal, schema: dict[str, Any], said: str
) -> None:
    error = refusal(ollama, [USER], tools=[{"name": "f", "description": "d", "inputSchema": schema}])
    assert said in error.message
    assert "ollama.properties-object" in error.message


FINE: tuple[dict[str, Any], ...] = (
    {"anyOf": {"unread": 1}, "description": 5, "enum": 5},
    {"properties": {"a": {"items": True, "required": 5, "type": ["string", "null"]}}},
    {"properties": None, "$defs": 5},
)


@pytest.mark.parametrize("schema", FINE)
def test_what_the_server_does_not_read_may_be_anything(
    ollama: OllamaChatAdapter, translate: Messages, schema: dict[str, Any]
) -> None:
    tool = {"name": "f", "description": "d", "inputSchema": schema}
    assert translate(ollama, [USER], tools=[tool])["tools"][0]["function"]["parameters"] == schema


def test_an_image_by_url_and_an_empty_prompt_are_refused(ollama: OllamaChatAdapter, refusal: Refusal) -> None:
    linked = {"type": "image", "mime_type": "image/png", "url": "https://example.org/a.png"}
    assert "pass the image's data" in refusal(ollama, [USER | {"content": [linked]}]).message
    assert "ollama.empty-messages-load" in refusal(ollama, []).message


def _said(content: str = "", **more: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": content, **more}, "done": False}


END = _said() | {"done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 7, "total_duration": 9}


def stream(ollama: OllamaChatAdapter, *lines: Any, end: str = "\n") -> list[StreamEvent]:
    body = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines) + end
    reader = ollama.stream_reader(ResponseHead(200, LINES), INFO)
    return [*reader.feed(body.encode()), *reader.close()]


def test_a_stream_says_what_the_whole_answer_says(ollama: OllamaChatAdapter) -> None:
    calls = [{"function": {"name": "f", "arguments": {"n": 1}}}, {"function": {"name": "f"}}]
    pieces = [_said(thinking="h"), _said(thinking="m"), _said("so "), _said(tool_calls=calls[:1])]
    streamed = fold(stream(ollama, *pieces, "", _said(tool_calls=calls[1:]), END))
    whole = END | _said("so ", thinking="hm", tool_calls=calls) | {"done": True}
    read = fold(list(ollama.read_response(ResponseHead(200, {}), json.dumps(whole).encode(), INFO)))
    assert streamed.message == read.message
    assert [call.id for call in read.message.tool_calls] == ["call_1", "call_2"]
    assert read.message.extensions == {"ollama-chat": {"thinking": "hm"}}
    assert streamed.thinking == "hm"
    for one in (streamed, read):
        counted = (one.metadata.stop_reason, one.metadata.input_tokens, one.metadata.output_tokens)
        assert counted == ("tool_calls", 5, 7)
        assert one.metadata.provider_raw_usage == {"prompt_eval_count": 5, "eval_count": 7, "total_duration": 9}


def test_the_last_line_may_lack_its_end_but_not_its_brace(ollama: OllamaChatAdapter) -> None:
    assert fold(stream(ollama, _said("hi"), END, end="")).message.content == "hi"
    error = failure(stream(ollama, _said("hi"), json.dumps(END)[:-1], end=""))
    assert "it stopped before a line with done" in error.message
    assert error.is_retryable


def failure(events: list[StreamEvent]) -> LLMProviderError:
    failed = events[-2]
    assert isinstance(failed, ErrorEvent)
    assert isinstance(failed.error, LLMProviderError)
    return failed.error


BROKEN: dict[str, tuple[list[Any], str]] = {
    "a line that is not JSON": (["no JSON"], "malformed"),
    "a list": (["[]"], "Expected `object`"),
    "lines after the end": ([END, _said("more")], "nothing may come here"),
    "two ends": ([END, END], "nothing may come here"),
    "an object of another kind alone": ([{"status": "success"}], "no line has a message"),
    "two calls with one id": (
        [_said(tool_calls=[{"id": "a", "function": {"name": "f"}}] * 2), END],
        "two calls with the id 'a'",
    ),
    "a call of nothing": ([_said(tool_calls=[{"function": {"name": ""}}]), END], "$.message.tool_calls[0]"),
    "arguments as text": (
        [_said(tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]), END],
        "Expected `object | null`, got `str`",
    ),
    "nothing": ([""], "it stopped before a line with done"),
}


@pytest.mark.parametrize(("lines", "said"), BROKEN.values(), ids=BROKEN)
def test_a_stream_that_is_not_ollamas_is_an_error(ollama: OllamaChatAdapter, lines: list[Any], said: str) -> None:
    assert said in failure(stream(ollama, *lines)).message


def test_an_error_in_a_stream_has_the_servers_words_after_the_tokens(ollama: OllamaChatAdapter) -> None:
    events = stream(ollama, _said("hi"), {"error": "model runner has unexpectedly stopped"})
    assert isinstance(events[0], TokenEvent)
    error = failure(events)
    assert (error.status, error.provider_message) == (200, "model runner has unexpectedly stopped")


WHOLE: dict[str, tuple[dict[str, Any], str]] = {
    "no message": ({"done": True}, "message is missing"),
    "not finished": (_said("hi"), "done is not true"),
    "an error with status 200": ({"error": "no"}, "an error"),
}


@pytest.mark.parametrize(("body", "said"), WHOLE.values(), ids=WHOLE)
def test_a_body_that_is_no_answer_is_an_error(ollama: OllamaChatAdapter, body: dict[str, Any], said: str) -> None:
    events = list(ollama.read_response(ResponseHead(200, {}), json.dumps(body).encode(), INFO))
    assert said in failure(events).message


@pytest.mark.parametrize(
    ("reason", "finish"), [("stop", "stop"), ("length", "length"), ("load", "other"), ("", "other"), (None, "other")]
)
def test_a_finish_is_read_as_what_it_means(ollama: OllamaChatAdapter, reason: str | None, finish: str) -> None:
    answer = fold(stream(ollama, _said("hi"), END | {"done_reason": reason}))
    assert (answer.metadata.stop_reason, answer.metadata.raw_stop_reason) == (finish, reason or None)


def test_an_event_stream_is_not_what_ollama_sends(ollama: OllamaChatAdapter) -> None:
    reader = ollama.stream_reader(ResponseHead(200, {"content-type": "text/event-stream"}), INFO)
    events = [*reader.feed(b"data: {}\n\n"), *reader.close()]
    assert "expected a stream of the type application/x-ndjson" in failure(events).message


def test_an_ollama_that_does_not_run_is_one_clear_error() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    adapter = OllamaChatAdapter(api_key="k", base_url=f"http://127.0.0.1:{port}/api")
    events = list(adapter.call_sync([USER], {"thread_id": "t"}))
    adapter.close()
    assert len(events) == 2
    assert failure(events).message == f"the call to ollama-chat could not connect to 127.0.0.1:{port} (ConnectError)"
    assert failure(events).is_retryable


def test_a_base_url_without_its_path_says_what_to_give() -> None:
    with pytest.raises(InvalidConfig, match="pass http://localhost:11434/api"):
        OllamaChatAdapter(api_key="k", base_url="http://localhost:11434")
