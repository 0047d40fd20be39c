from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import (
    CallInfo,
    Completion,
    GeminiAdapter,
    PromptTranslationFailed,
    ResponseHead,
    fold,
)
from refused import place_of

USER: dict[str, Any] = {"role": "user", "content": "u"}
SYSTEM: dict[str, Any] = {"role": "system", "content": "s"}
ASSISTANT: dict[str, Any] = {"role": "assistant", "content": "x"}
TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object", "$ref": "#"}}
Messages = Callable[..., dict[str, Any]]
Refusal = Callable[..., PromptTranslationFailed]


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


def _signed(message: dict[str, Any], signatures: Any) -> dict[str, Any]:
    return message | {"extensions": {"gemini-generate": signatures, "elsewhere": {"odd": 1}}}


@pytest.mark.parametrize(
    ("content", "signatures", "parts"),
    [
        ("x", {"text": "="}, [{"text": "x", "thoughtSignature": "="}, _call("a"), _call("b")]),
        ("x", {"calls": {"1": "+"}}, [{"text": "x"}, _call("a"), _call("b") | {"thoughtSignature": "+"}]),
        (None, {"calls": {"0": "+"}}, [_call("a") | {"thoughtSignature": "+"}, _call("b")]),
        (None, {"text": "="}, [{"text": "", "thoughtSignature": "="}, _call("a"), _call("b")]),
        (
            "",
            {"text": "=", "calls": {"0": "+", "1": "-"}},
            [
                {"text": "", "thoughtSignature": "="},
                _call("a") | {"thoughtSignature": "+"},
                _call("b") | {"thoughtSignature": "-"},
            ],
        ),
        (None, {}, [_call("a"), _call("b")]),
    ],
)
def test_thought_signatures_go_back_on_what_they_came_with(
    gemini: GeminiAdapter,
    call: Messages,
    result: Messages,
    content: str | None,
    signatures: Any,
    parts: Any,
    translate: Messages,
) -> None:
    message = _signed(call("a", "b", content=content), signatures)
    assert translate(gemini, [USER, message, result("b"), result("a")])["contents"][1]["parts"] == parts


def test_a_signed_turn_that_joins_the_one_before_it_keeps_its_signatures(
    gemini: GeminiAdapter, call: Messages, result: Messages, translate: Messages
) -> None:
    payload = translate(gemini, [USER, ASSISTANT, _signed(call("a"), {"text": "=", "calls": {"0": "+"}}), result("a")])
    signed = [{"text": "", "thoughtSignature": "="}, _call("a") | {"thoughtSignature": "+"}]
    assert payload["contents"][1]["parts"] == [{"text": "x"}, *signed]


def test_a_signature_alone_makes_a_turn(gemini: GeminiAdapter, translate: Messages) -> None:
    alone = _signed(ASSISTANT | {"content": None}, {"text": "="})
    parts = translate(gemini, [USER, alone, USER])["contents"][1]["parts"]
    assert parts == [{"text": "", "thoughtSignature": "="}]


IMAGE = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}, "thoughtSignature": "i="}
CODE = {"executableCode": {"language": "PYTHON", "code": "1"}}


@pytest.mark.parametrize(
    "answered",
    [
        [{"text": "x"}, IMAGE],
        [IMAGE],
        [IMAGE, {"text": "x"}],
        [CODE, {"text": "x", "thoughtSignature": "="}, IMAGE, _call("a"), CODE, _call("b") | {"thoughtSignature": "+"}],
        [_call("a"), IMAGE, CODE],
    ],
)
def test_parts_of_other_kinds_go_back_at_their_places(
    gemini: GeminiAdapter, answered: Any, result: Messages, head: Any, info: Any, translate: Messages
) -> None:
    message = _read(gemini, head(200), _body(*answered), info()).message
    results = [result(call.id) for call in message.tool_calls]
    assert translate(gemini, [USER, message, *results, USER])["contents"][1]["parts"] == answered


@pytest.mark.parametrize(
    "signatures",
    [
        {"parts": [{"at": 2, "part": IMAGE}]},
        {"parts": [{"at": -1, "part": IMAGE}]},
        {"parts": [{"at": 0, "part": {}}]},
        {"parts": [{"at": 0, "part": {"text": "y"}}]},
        {"parts": [{"at": 0, "part": {"functionResponse": {"name": "f", "response": {}}}}]},
        {"text": 5},
        {"calls": []},
        {"calls": {"x": "+"}},
        {"calls": {"0": None}},
        {"calls": {"1": "+"}},
        {"calls": {"-1": "+"}},
        {"text": "=", "odd": 1},
    ],
)
def test_signatures_of_another_form_are_refused(
    gemini: GeminiAdapter, call: Messages, result: Messages, signatures: Any, refusal: Refusal
) -> None:
    error = refusal(gemini, [USER, _signed(call("a"), signatures), result("a")])
    assert place_of(error) == {"index": 1}
    assert "extensions for gemini-generate" in error.message


# Answers.


def _body(*parts: Any, finish: Any = "STOP", **more: Any) -> bytes:
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": finish}
    return json.dumps({"candidates": [candidate], "responseId": "b"} | more).encode()


def _read(adapter: GeminiAdapter, head: ResponseHead, body: bytes, info: CallInfo) -> Completion:
    return fold(adapter.read_response(head, body, info))


def test_an_answer_can_be_appended_and_sent_again(
    gemini: GeminiAdapter, result: Messages, head: Any, translate: Messages
) -> None:
    prepared = gemini.prepare([USER], {"thread_id": "t"})
    body = _body({"text": "x"}, {"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "id": "z"}})
    answer = _read(gemini, head(), body, prepared.info)
    ids = [one.id for one in answer.message.tool_calls]
    assert ids == ["call_1", "z"]
    again = translate(gemini, [USER, answer.message, *map(result, ids)])
    assert [turn["role"] for turn in again["contents"]] == ["user", "model", "user"]


@pytest.mark.parametrize(
    "parts",
    [
        [{"text": "x", "thoughtSignature": "="}],
        [{"text": "x"}, _call("a") | {"thoughtSignature": "+"}, _call("b")],
        [_call("a") | {"thoughtSignature": "+"}, _call("b") | {"thoughtSignature": "-"}],
        [{"text": "", "thoughtSignature": "="}, _call("a")],
        [{"text": "x", "thoughtSignature": "="}, _call("a") | {"thoughtSignature": "+"}],
    ],
)
def test_a_signed_answer_that_is_appended_goes_back_as_it_came(
    gemini: GeminiAdapter, result: Messages, parts: Any, head: Any, info: Any, translate: Messages
) -> None:
    message = _read(gemini, head(), _body(*parts), info()).message
    results = [result(one.id) for one in message.tool_calls]
    assert translate(gemini, [USER, message, *results])["contents"][1]["parts"] == parts


def test_only_newer_models_take_tools_and_an_answer_s_schema(
    gemini: GeminiAdapter, translate: Messages, refusal: Refusal
) -> None:
    options = {"tools": [TOOL], "response_schema": {"type": "object"}}
    payload = translate(gemini, [USER], model="gemini-3-flash-preview", **options)
    assert payload["generationConfig"]["responseMimeType"] == "application/json"
    error = refusal(gemini, [USER], model="models/gemini-2.5-flash", **options)
    assert error.details["rule"] == "gemini.json-or-functions"
