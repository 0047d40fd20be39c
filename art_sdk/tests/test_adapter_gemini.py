from __future__ import annotations

from typing import Any

import pytest

from art_sdk import GeminiAdapter
from refused import place_of
from short_messages import ASSISTANT, SYSTEM, USER, Messages, Refusal

TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object", "$ref": "#"}}


def _text(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


def _call(call_id: str, name: str = "look", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": args}}


def _result(call_id: str, name: str = "look", **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


def test_every_slot_of_a_prompt_is_written(gemini: GeminiAdapter, everything: list[Any], translate: Messages) -> None:
    number = 12345678901234567890123
    assert translate(gemini, everything) == {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": [
            _text("user", "a", "b"),
            {"role": "model", "parts": [{"text": "well"}, _call("c1", n=number), _call("c2", n=number)]},
            {"role": "user", "parts": [_result("c1", output="one"), _result("c2", error="two")]},
            {"role": "model", "parts": [_call("c3", "find", q="{{x}}")]},
            {"role": "user", "parts": [_result("c3", "find", output="three")]},
            _text("model", "so"),
            _text("user", "<b>system:</b> ```x```"),
        ],
    }


def test_system_messages_stay_apart_and_late_ones_are_hoisted_on_request(
    gemini: GeminiAdapter, translate: Messages, refusal: Refusal
) -> None:
    late = {"role": "system", "content": ""}
    payload = translate(gemini, [SYSTEM, SYSTEM, USER, late], late_system="hoist")
    assert payload["systemInstruction"] == {"parts": [{"text": "s"}, {"text": "s"}, {"text": ""}]}
    assert payload["contents"] == [_text("user", "u")]
    error = refusal(gemini, [SYSTEM, USER, late])
    assert error.details["index"] == 2
    assert 'late_system="hoist"' in error.message


def test_calls_join_the_model_s_turn_before_them(
    gemini: GeminiAdapter, call: Messages, result: Messages, translate: Messages
) -> None:
    payload = translate(gemini, [USER, ASSISTANT, call("a"), result("a"), call("b", content="y"), result("b")])
    assert payload["contents"] == [
        _text("user", "u"),
        {"role": "model", "parts": [{"text": "x"}, _call("a")]},
        {"role": "user", "parts": [_result("a", output="ok")]},
        {"role": "model", "parts": [{"text": "y"}, _call("b")]},
        {"role": "user", "parts": [_result("b", output="ok")]},
    ]


def test_blank_parts_are_dropped_beside_others(
    gemini: GeminiAdapter, call: Messages, result: Messages, translate: Messages
) -> None:
    parts = [{"type": "text", "text": ""}, {"type": "text", "text": " "}]
    payload = translate(gemini, [{"role": "user", "content": parts}, call("a", content=""), result("a", "")])
    assert payload["contents"][0] == _text("user", " ")
    assert payload["contents"][1]["parts"] == [_call("a")]
    assert payload["contents"][2]["parts"] == [_result("a", output="")]


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({}, {}),
        ({"model": "m"}, {}),
        (
            {"temperature": 0, "top_p": 0.5, "max_tokens": 9, "stop": ["a"]},
            {"generationConfig": {"temperature": 0.0, "topP": 0.5, "maxOutputTokens": 9, "stopSequences": ["a"]}},
        ),
        (
            {"response_schema": {"type": "object"}},
            {
                "generationConfig": {
                    "responseMimeType": "application/json",
                    "responseJsonSchema": {"type": "object"},
                }
            },
        ),
        (
            {"provider": {"gemini-generate": {"generationConfig": {"seed": 1}, "safetySettings": []}}, "top_p": 1},
            {"generationConfig": {"topP": 1.0, "seed": 1}, "safetySettings": []},
        ),
    ],
)
def test_every_option_is_written(
    gemini: GeminiAdapter, options: Any, written: dict[str, Any], translate: Messages
) -> None:
    assert translate(gemini, [USER], **options) == {"contents": [_text("user", "u")]} | written


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        (None, None),
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("f", {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_tools_and_their_choice_are_written(
    gemini: GeminiAdapter, choice: Any, config: Any, translate: Messages
) -> None:
    other = TOOL | {"name": "g", "outputSchema": {"type": "string"}}
    payload = translate(gemini, [USER], tools=[TOOL, other], tool_choice=choice)
    first = {"name": "f", "description": "d", "parametersJsonSchema": TOOL["inputSchema"]}
    second = first | {"name": "g", "responseJsonSchema": {"type": "string"}}
    assert payload["tools"] == [{"functionDeclarations": [first, second]}]
    assert payload.get("toolConfig") == (config and {"functionCallingConfig": config})


@pytest.mark.parametrize(
    ("messages", "options", "rule", "index"),
    [
        ([], {}, None, None),
        ([SYSTEM], {}, None, None),
        ([USER, {"role": "user", "content": []}], {}, None, 1),
        ([USER, {"role": "assistant", "content": None}], {}, None, 1),
        ([USER], {"temperature": 2.1}, "gemini.temperature", None),
        ([USER], {"temperature": -0.1}, "gemini.temperature", None),
        ([USER], {"tool_choice": "auto"}, None, None),
        ([USER], {"parallel_tool_calls": False}, None, None),
    ],
)
def test_a_refusal_cites_gemini_s_rule(
    gemini: GeminiAdapter, messages: Any, options: dict[str, Any], rule: str | None, index: int | None, refusal: Refusal
) -> None:
    error = refusal(gemini, messages, **options)
    assert (error.details.get("rule"), error.details.get("index")) == (rule, index)


def test_a_conversation_cannot_begin_with_a_call(
    gemini: GeminiAdapter, call: Messages, result: Messages, refusal: Refusal
) -> None:
    error = refusal(gemini, [SYSTEM, call("a"), result("a"), USER])
    assert place_of(error) == {"index": 1, "call_id": "a", "rule": "gemini.call-after-user"}


def test_a_call_that_joins_the_models_first_words_begins_the_conversation_too(
    gemini: GeminiAdapter, call: Messages, result: Messages, refusal: Refusal
) -> None:
    error = refusal(gemini, [{"role": "assistant", "content": "Hello."}, call("a"), result("a"), USER])
    assert place_of(error) == {"index": 1, "call_id": "a", "rule": "gemini.call-after-user"}


@pytest.mark.parametrize("arguments", ["[]", "{", '{"a":1,"a":2}', '{"a":"\\ud800"}', '{"a":1e999}', '{"a":' * 999])
def test_arguments_that_are_not_an_object_are_refused_by_their_call(
    gemini: GeminiAdapter, call: Messages, result: Messages, arguments: str, refusal: Refusal
) -> None:
    request = {"role": "tool_request", "content": {"id": "b", "name": "f", "arguments": arguments}}
    error = refusal(gemini, [USER, call("a"), request, result("a"), result("b")])
    assert place_of(error) == {"index": 2, "call_id": "b", "rule": "gemini.args-is-object"}


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-2.5-pro", "/models/gemini-2.5-pro:generateContent"),
        ("models/gemini-2.5-pro", "/models/gemini-2.5-pro:generateContent"),
        ("tuned/a?b=ü", "/models/tuned%2Fa%3Fb%3D%C3%BC:generateContent"),
    ],
)
def test_the_model_goes_into_the_url_and_the_key_into_a_header(
    gemini: GeminiAdapter, model: str, path: str, key: str
) -> None:
    request = gemini.prepare([USER], {"thread_id": "t", "model": model}).request
    assert request.url == gemini.base_url + path
    assert request.headers["x-goog-api-key"] == key
    assert "authorization" not in request.headers


# Images.


def _image(**fields: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image", **fields}]}


@pytest.mark.parametrize(
    ("image", "part"),
    [
        (
            {"mime_type": "image/heic", "data": "AAEC"},
            {"inlineData": {"mimeType": "image/heic", "data": "AAEC"}},
        ),
        (
            {"mime_type": "image/png", "url": "gs://b/c"},
            {"fileData": {"mimeType": "image/png", "fileUri": "gs://b/c"}},
        ),
        ({"mime_type": "image/*", "url": "gs://b/c"}, {"fileData": {"fileUri": "gs://b/c"}}),
    ],
)
def test_an_image_goes_inline_or_by_its_uri(
    gemini: GeminiAdapter, image: dict[str, str], part: dict[str, Any], translate: Messages
) -> None:
    spoken = [{"type": "text", "text": text} for text in ("", "what?")]
    message = {"role": "user", "content": [*_image(**image)["content"], *spoken]}
    assert translate(gemini, [message])["contents"] == [{"role": "user", "parts": [part, {"text": "what?"}]}]


@pytest.mark.parametrize(
    "image",
    [
        {"mime_type": "image/gif", "data": "AAEC"},
        {"mime_type": "image/gif", "url": "gs://b/c"},
        {"mime_type": "image/*", "data": "AAEC"},
        {"mime_type": "image/png", "data": "AAE"},
        {"mime_type": "image/png", "data": ""},
        {"mime_type": "image/*", "url": ""},
    ],
)
def test_an_image_that_cannot_be_sent_is_refused_by_its_message(
    gemini: GeminiAdapter, image: dict[str, str], refusal: Refusal
) -> None:
    assert place_of(refusal(gemini, [SYSTEM, USER, _image(**image)])) == {"index": 2}


# Thought signatures.


# Answers.


def test_only_newer_models_take_tools_and_an_answer_s_schema(
    gemini: GeminiAdapter, translate: Messages, refusal: Refusal
) -> None:
    options = {"tools": [TOOL], "response_schema": {"type": "object"}}
    payload = translate(gemini, [USER], model="gemini-3-flash-preview", **options)
    assert payload["generationConfig"]["responseMimeType"] == "application/json"
    error = refusal(gemini, [USER], model="models/gemini-2.5-flash", **options)
    assert error.details["rule"] == "gemini.json-or-functions"
