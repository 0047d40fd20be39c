"""Relatives of OpenAI's dialect are dialects of their own, and adapters to them are data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import ClassVar

import pytest

from art_compliance import Selection, certify, decode
from art_compliance.dialects import DIALECTS
from art_compliance.dialects.writing import CannotWrite
from art_compliance.generating.profiles import PROFILES, Search
from art_compliance.scenarios import WrittenAnswer
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.limits import CallIdRule, NameRule, RangeRule

QUICK = Search(profile=PROFILES["quick"])
RELATIVES = ("deepseek-chat", "mistral-chat", "openrouter-chat")


IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


class DeepSeekAdapter(ChatCompletionsAdapter):
    """DeepSeek, by its chat completions API."""

    provider_name, dialect = "deepseek", "deepseek-chat"
    default_model, default_base_url = "deepseek-chat", "https://api.deepseek.com"
    capabilities, image_types = CAPABILITIES, IMAGES
    provider = ChatProvider(
        reasoning=("reasoning_content",),
        kept=("reasoning_content",),
        rules=ChatRules(calls_answered="deepseek.calls-answered"),
    )


class OpenRouterAdapter(ChatCompletionsAdapter):
    """OpenRouter, by its chat completions API."""

    provider_name, dialect = "openrouter", "openrouter-chat"
    default_model, default_base_url = "openai/gpt-4.1-mini", "https://openrouter.ai/api/v1"
    capabilities, image_types = CAPABILITIES, IMAGES
    call_ids = CallIdRule(re.compile(r"(?s).{0,64}"), "openrouter.id-len64")
    provider = ChatProvider(reasoning=("reasoning",), kept=("reasoning", "reasoning_details"))


class MistralAdapter(ChatCompletionsAdapter):
    """Mistral, by its chat completions API."""

    provider_name, dialect = "mistral", "mistral-chat"
    default_model, default_base_url = "mistral-small-latest", "https://api.mistral.ai/v1"
    capabilities, image_types = CAPABILITIES - {"prefill", "late_system"}, IMAGES
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "mistral.function-name")
    call_ids = CallIdRule(re.compile(r"[a-zA-Z0-9]{9}"), "mistral.tool-id-9", lead="", digits=9)
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 1.5, "mistral.temperature"),
        "top_p": RangeRule(0.0, 1.0, "mistral.temperature"),
    }
    losses = ChatCompletionsAdapter.losses | {"message_name"}
    provider = ChatProvider(
        required_choice="any",
        asks_for_usage=False,
        has_content_chunks=True,
        system_after=frozenset({"system", "user"}),
        rules=ChatRules(
            messages_nonempty="mistral.start", calls_answered="mistral.order", system_order="mistral.order"
        ),
    )


@pytest.mark.once
@pytest.mark.parametrize("adapter", [DeepSeekAdapter, MistralAdapter, OpenRouterAdapter])
def test_an_adapter_to_a_relative_is_certified(adapter):
    report = certify(adapter, search=QUICK)
    found = {f"{one.check} {one.scenario}: {finding.message}" for one in report.failures for finding in one.findings}
    assert found == set()
    assert report.is_certified


def test_an_adapter_that_loses_the_reasoning_of_a_tool_loop_is_not_certified():
    class Forgets(DeepSeekAdapter):
        provider = ChatProvider(reasoning=("reasoning_content",))

    lost = "response.signatures-go-back"
    assert {one.check for one in certify(Forgets, selection=Selection(checks=(lost,))).failures} == {lost}


def test_an_adapter_to_one_relative_is_judged_as_that_one_and_not_as_another():
    judged = Selection(checks=("wire.no-rule-is-broken", "wire.request-is-of-the-schema"))
    assert {one.check for one in certify(OpenRouterAdapter, dialect="mistral-chat", selection=judged).failures} == {
        *judged.checks
    }
    assert certify(OpenRouterAdapter, dialect="deepseek-chat", selection=judged).failures == []


CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True}


@pytest.mark.parametrize(
    ("dialect", "said", "extension", "content"),
    [
        ("deepseek-chat", {"content": "hi", "reasoning_content": "hm"}, {"reasoning_content": "hm"}, "hi"),
        ("deepseek-chat", {"content": "", "reasoning_content": ""}, {"reasoning_content": ""}, ""),
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
        ("openrouter-chat", 429, {"error": {"message": "no", "code": 429}}),
    ],
)
def test_errors_have_the_recorded_form(dialect, status, body):
    assert json.loads(DIALECTS[dialect].answers.write_error(status, "no")) == body
    assert "no" in str(json.loads(DIALECTS[dialect].answers.write_error(500, "no")))
