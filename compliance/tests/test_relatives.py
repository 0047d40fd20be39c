"""The relatives of OpenAI's dialect are dialects of their own: an adapter to one of them is certified in its words."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, ClassVar

import msgspec
import pytest

from art_compliance import Selection, certify, decode
from art_compliance.dialects import DIALECTS
from art_compliance.dialects.writing import CannotWrite
from art_compliance.generating.profiles import PROFILES, Search
from art_compliance.scenarios import WrittenAnswer
from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import Payload
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.limits import RangeRule
from art_sdk.conversation import AssistantTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.messages import ArtStandardPrompt
from art_sdk.options import CallOptions

QUICK = Search(profile=PROFILES["quick"])
RELATIVES = {
    "deepseek-chat": "https://api.deepseek.com",
    "mistral-chat": "https://api.mistral.ai/v1",
    "openrouter-chat": "https://openrouter.ai/api/v1",
}


class Relative(ChatCompletionsAdapter):
    """What the family shares, and no limit that is OpenAI's alone."""

    provider_name, dialect = "relative", "openrouter-chat"
    default_model, default_base_url = "m", RELATIVES["openrouter-chat"]
    capabilities = CAPABILITIES - {"streaming", "reasoning"}
    call_ids = None
    image_types = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


class GivesBack(Relative):
    """Keeps fields of an answer's message, and sends them back with it."""

    capabilities = Relative.capabilities | {"reasoning"}
    kept: ClassVar[tuple[str, ...]]

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        said = json.loads(body)["choices"][0]["message"]
        own = {name: said[name] for name in self.kept if said.get(name)}
        answer = super().parse_answer(head, body, info)
        return msgspec.structs.replace(answer, extensions={self.dialect: own} if own else None)

    def _append_assistant(self, messages: list[Payload], turn: AssistantTurn, ids: Any) -> None:
        at = len(messages)
        super()._append_assistant(messages, turn, ids)
        messages[at] |= (turn.message.extensions or {}).get(self.dialect, {})


class DeepSeek(GivesBack):
    provider_name, dialect, default_base_url = "deepseek", "deepseek-chat", RELATIVES["deepseek-chat"]
    kept = ("reasoning_content",)


class OpenRouter(GivesBack):
    provider_name, dialect, default_base_url = "openrouter", "openrouter-chat", RELATIVES["openrouter-chat"]
    kept = ("reasoning", "reasoning_details")


class Mistral(Relative):
    provider_name, dialect, default_base_url = "mistral", "mistral-chat", RELATIVES["mistral-chat"]
    capabilities = Relative.capabilities - {"prefill", "late_system"}
    losses = Relative.losses | {"message_name"}
    ranges: ClassVar[Any] = Relative.ranges | {"temperature": RangeRule(0.0, 1.5, "mistral.temperature")}

    def map_call_ids(self, call_ids: Iterable[str]) -> dict[str, str]:
        refused = [one for one in call_ids if not re.fullmatch("[a-zA-Z0-9]{9}", one)]
        return {one: hashlib.sha256(one.encode()).hexdigest()[:9] for one in refused}

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        payload = super().translate(prompt, options)
        roles = [message["role"] for message in payload["messages"]]
        if len(roles) > 1 and roles[-1] == "system":
            self.refuse("it ends with a system message", rule="mistral.last-role")
        if ("assistant", "system") in pairwise(roles) or ("tool", "system") in pairwise(roles):
            self.refuse("a system message after the assistant's", rule="mistral.order")
        return payload

    def _with_name(self, written: Payload, name: str, index: int) -> Payload:
        return written

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        told = json.loads(body)
        said = told["choices"][0]["message"]
        chunks = said["content"] if isinstance(said["content"], list) else []
        if chunks:
            said["content"] = "".join(chunk.get("text", "") for chunk in chunks)
            said["reasoning"] = "".join(inner["text"] for chunk in chunks for inner in chunk.get("thinking", ()))
        return super().parse_answer(head, json.dumps(told).encode(), info)


@pytest.mark.once
@pytest.mark.parametrize("adapter", [DeepSeek, Mistral, OpenRouter])
def test_an_adapter_to_a_relative_is_certified(adapter):
    report = certify(adapter, search=QUICK)
    found = {f"{one.check} {one.scenario}: {finding.message}" for one in report.failures for finding in one.findings}
    assert found == set()
    assert report.is_certified


def test_an_adapter_that_loses_the_reasoning_of_a_tool_loop_is_not_certified():
    class Forgets(DeepSeek):
        kept = ()

    lost = "response.signatures-go-back"
    assert {one.check for one in certify(Forgets, selection=Selection(checks=(lost,))).failures} == {lost}


def test_an_adapter_to_one_relative_is_judged_as_that_one_and_not_as_another():
    judged = Selection(checks=("wire.no-rule-is-broken", "wire.request-is-of-the-schema"))
    assert {one.check for one in certify(Relative, dialect="mistral-chat", selection=judged).failures} == {
        *judged.checks
    }
    assert certify(Relative, dialect="deepseek-chat", selection=judged).failures == []


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
def test_what_a_relative_wants_back_is_an_extension_of_its_own_and_opaque_elsewhere(dialect, said, extension, content):
    payload = {"messages": [{"role": "assistant", "tool_calls": [CALL], **said}]}
    (message,) = decode(dialect, payload).prompt
    assert (message.content, message.extensions) == (content, {dialect: extension})
    assert decode(dialect, payload).opaque == {}
    (elsewhere,) = decode("openai-chat", payload).prompt
    assert elsewhere.extensions is None
    assert decode("openai-chat", payload).opaque


@pytest.mark.parametrize("dialect", RELATIVES)
def test_a_provider_field_on_another_role_is_opaque(dialect):
    told = {"role": "user", "content": [THINKING], "reasoning_content": "hm", "reasoning": "hm", "prefix": True}
    opaque = decode(dialect, {"messages": [told]}).opaque
    assert opaque.keys() >= {f"/messages/0/{name}" for name in ("reasoning_content", "reasoning", "prefix")}
    assert opaque["/messages/0/content/0/type"] == "thinking"


LOOKED = WrittenAnswer(content="There.", thinking="Where?", signature="c2ln", thinking_tokens=3, cached_tokens=4)


def test_answers_are_written_in_the_words_of_each_relative():
    told = {dialect: json.loads(DIALECTS[dialect].answers.write(LOOKED)) for dialect in RELATIVES}
    said = {dialect: body["choices"][0]["message"] for dialect, body in told.items()}
    assert said["deepseek-chat"]["reasoning_content"] == said["openrouter-chat"]["reasoning"] == "Where?"
    assert said["mistral-chat"]["content"][0]["thinking"] == [{"type": "text", "text": "Where?"}]
    assert said["openrouter-chat"]["reasoning_details"][0]["signature"] == "c2ln"
    assert told["deepseek-chat"]["usage"]["prompt_cache_hit_tokens"] == 4
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


def test_a_refusal_at_openrouter_is_told_apart_from_content():
    refused = WrittenAnswer(content="No.", is_refusal=True, finish="content_filter")
    message = json.loads(DIALECTS["openrouter-chat"].answers.write(refused))["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "No.")


@pytest.mark.parametrize(
    ("dialect", "status", "told"),
    [
        ("mistral-chat", 401, {"detail": "no"}),
        ("openrouter-chat", 429, {"error": {"message": "no", "code": 429}}),
    ],
)
def test_errors_are_told_in_the_form_that_was_recorded(dialect, status, told):
    assert json.loads(DIALECTS[dialect].answers.write_error(status, "no")) == told
    assert "no" in str(json.loads(DIALECTS[dialect].answers.write_error(500, "no")))
