"""What GeminiAdapter keeps of an answer and sends back: thought signatures, and parts of other kinds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_sdk import CallInfo, Completion, GeminiAdapter, ResponseHead, fold
from refused import place_of
from short_messages import ASSISTANT, USER, Messages, Refusal


def _call(call_id: str, name: str = "look", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": args}}


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
