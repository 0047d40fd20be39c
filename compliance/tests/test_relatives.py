"""Relatives of OpenAI's dialect are dialects of their own."""

from __future__ import annotations

import json

import pytest

from art_compliance import Selection, certify, decode
from art_compliance.dialects import DIALECTS
from art_compliance.dialects.writing import CannotWrite
from art_compliance.judging.rulebook import judge_rules
from art_compliance.scenarios import WrittenAnswer
from art_sdk import DeepSeekAdapter, OpenRouterAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

RELATIVES = ("deepseek-chat", "groq-chat", "mistral-chat", "openrouter-chat")


def test_an_adapter_that_loses_the_reasoning_of_a_tool_loop_is_not_certified():
    class Forgets(DeepSeekAdapter):
        provider = ChatProvider(reasoning=("reasoning_content",))

    lost = "response.signatures-go-back"
    assert {one.check for one in certify(Forgets, selection=Selection(checks=(lost,)), isolated=False).failures} == {
        lost
    }


def test_an_adapter_to_one_relative_is_judged_as_that_one_and_not_as_another():
    judged = Selection(checks=("wire.no-rule-is-broken", "wire.request-matches-the-schema"))
    assert {
        one.check
        for one in certify(OpenRouterAdapter, dialect="mistral-chat", selection=judged, isolated=False).failures
    } == {*judged.checks}
    refused = certify(DeepSeekAdapter, dialect="openrouter-chat", selection=judged, isolated=False).failures
    assert {one.scenario for one in refused} == {"five-stops", "six-stops"}  # DeepSeek accepts sixteen


CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True}


@pytest.mark.parametrize(
    ("dialect", "said", "extension", "content"),
    [
        ("deepseek-chat", {"content": "hi", "reasoning_content": "hm"}, {"reasoning_content": "hm"}, "hi"),
        ("deepseek-chat", {"content": "", "reasoning_content": ""}, {"reasoning_content": ""}, ""),
        ("groq-chat", {"content": "hi", "reasoning": "hm"}, {"reasoning": "hm"}, "hi"),
        ("openrouter-chat", {"content": None, "reasoning": "hm"}, {"reasoning": "hm"}, None),
        ("openrouter-chat", {"reasoning_details": [{"x": 1}]}, {"reasoning_details": [{"x": 1}]}, None),
        (
            "mistral-chat",
            {"content": [THINKING, {"type": "text", "text": "hi"}]},
            {"blocks": [{"at": 0, "block": THINKING}]},
            "hi",
        ),
    ],
)
def test_what_goes_back_to_a_relative_is_its_extension_and_opaque_in_other_dialects(dialect, said, extension, content):
    payload = {"messages": [{"role": "assistant", "tool_calls": [CALL], **said}]}
    (message,) = decode(dialect, payload).prompt
    assert (message.content, message.extensions) == (content, {dialect: extension})
    assert decode(dialect, payload).opaque == {}
    (other,) = decode("openai-chat", payload).prompt
    assert other.extensions is None
    assert decode("openai-chat", payload).opaque


@pytest.mark.parametrize("dialect", RELATIVES)
def test_a_provider_field_on_another_role_is_opaque(dialect):
    message = {"role": "user", "content": [THINKING], "reasoning_content": "hm", "reasoning": "hm", "prefix": True}
    opaque = decode(dialect, {"messages": [message]}).opaque
    assert opaque.keys() >= {f"/messages/0/{name}" for name in ("reasoning_content", "reasoning", "prefix")}
    assert opaque["/messages/0/content/0/type"] == "thinking"


LOOKED = WrittenAnswer(content="There.", thinking="Where?", signature="c2ln", thinking_tokens=3, cached_tokens=4)


def test_answers_are_written_in_the_form_of_each_relative():
    bodies = {dialect: json.loads(DIALECTS[dialect].answers.write(LOOKED)) for dialect in RELATIVES}
    said = {dialect: body["choices"][0]["message"] for dialect, body in bodies.items()}
    assert said["deepseek-chat"]["reasoning_content"] == said["openrouter-chat"]["reasoning"] == "Where?"
    assert said["mistral-chat"]["content"][0]["thinking"] == [{"type": "text", "text": "Where?"}]
    assert said["openrouter-chat"]["reasoning_details"][0]["signature"] == "c2ln"
    assert bodies["deepseek-chat"]["usage"]["prompt_cache_hit_tokens"] == 4
    signed = WrittenAnswer(content="There.", signature="c2ln")
    body = json.loads(DIALECTS["openrouter-chat"].answers.write(signed))
    assert body["choices"][0]["message"]["reasoning_details"][0]["data"] == "c2ln"


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        *((dialect, WrittenAnswer(without_ids=True)) for dialect in RELATIVES),
        ("deepseek-chat", WrittenAnswer(content="No.", is_refusal=True, finish="content_filter")),
        ("mistral-chat", WrittenAnswer(content="No.", is_refusal=True, finish="content_filter")),
        ("mistral-chat", WrittenAnswer(content="No.", finish="content_filter")),
    ],
)
def test_what_a_relative_never_answers_is_not_written(dialect, answer):
    with pytest.raises(CannotWrite):
        DIALECTS[dialect].answers.write(answer)


def test_a_refusal_of_openrouter_is_not_content():
    refused = WrittenAnswer(content="No.", is_refusal=True, finish="content_filter")
    message = json.loads(DIALECTS["openrouter-chat"].answers.write(refused))["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "No.")


@pytest.mark.parametrize(
    ("dialect", "status", "body"),
    [
        ("mistral-chat", 401, {"detail": "no"}),
        ("openrouter-chat", 401, {"error": {"message": "no", "code": 401}}),
        ("openrouter-chat", 429, {"error": {"message": "no", "code": 429}, "user_id": "user_written"}),
    ],
)
def test_errors_have_the_recorded_form(dialect, status, body):
    assert json.loads(DIALECTS[dialect].answers.write_error(status, "no")) == body
    assert "no" in str(json.loads(DIALECTS[dialect].answers.write_error(500, "no")))


OLLAMA = "https://ollama.com/v1/chat/completions"


@pytest.mark.parametrize(
    ("arguments", "is_refused"),
    [
        *((text, False) for text in ('{"at": 1}', "{}", "null", " null\n")),
        *((text, True) for text in ("nul", "[1]", "1", "true", '"text"', "~", "", '{"at": 1')),
    ],
)
def test_ollama_takes_arguments_that_are_an_object_or_null(arguments: str, is_refused: bool):  # noqa: FBT001
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    result = {"role": "tool", "tool_call_id": "a", "content": "ok"}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "", "tool_calls": [call]}, result]
    found = judge_rules("openai-compatible", {"model": "m", "messages": messages}, url=OLLAMA)
    assert [one.pointer for one in found] == ["/messages/1/tool_calls/0/function/arguments"] * is_refused


@pytest.mark.parametrize(("role", "is_refused"), [("tool", True), ("user", False), ("system", False)])
def test_mistral_checks_the_name_of_a_result_and_of_no_other_message(role: str, is_refused: bool):  # noqa: FBT001
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "ok"},
    ]
    for message in messages:
        if message["role"] == role:
            message["name"] = "not a name"
    found = judge_rules("mistral-chat", {"model": "m", "messages": messages})
    assert ["mistral.function-name" in one.message for one in found] == [True] * is_refused
