"""Wire schemas against recorded traffic: what providers accepted and answered."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.cassettes.bodies import stream_items
from art_compliance.judging.wire import judge_answer, judge_wire
from recorded_traffic import SHAPES, Recorded, accepted, params
from row_tables import table
from wire_requests import refusals

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

OWN_DIALECTS = {
    "mistral": "mistral-chat",
    "openrouter": "openrouter-chat",
    "deepseek": "deepseek-chat",
    "groq": "groq-chat",
}


EXCEPTIONS: dict[str, str] = {}
"""Recorded requests that are refused all the same, with the evidence that the judge is right. There are none."""


each_accepted = pytest.mark.parametrize("one", params(accepted()))


def own_dialect(one: Recorded) -> str:
    """The provider's own member of the family of chat completions, or the format that was recorded."""
    return OWN_DIALECTS.get(one.provider, one.dialect) if one.dialect == "openai-chat" else one.dialect


@each_accepted
def test_an_accepted_request_is_not_refused_at_its_host(one: Recorded):
    assert refusals(one.dialect, one.request, one.url) == [] or one.name in EXCEPTIONS


def with_a_model(one: Recorded) -> dict[str, Any]:
    """The request as the format has it where its URL does not name the model. Converse's URL always does."""
    return one.request if one.shape == "bedrock_converse" else {"model": "of the URL", **one.request}


@each_accepted
def test_an_accepted_request_is_not_refused_without_a_host(one: Recorded):
    assert refusals(one.dialect, with_a_model(one)) == [] or one.name in EXCEPTIONS


@each_accepted
def test_an_accepted_request_with_one_unknown_field_is_refused_or_the_field_ignored(one: Recorded):
    found = judge_wire(SHAPES[one.shape], {**with_a_model(one), "x_label": 1})
    severity = "ignored" if one.shape == "ollama_chat" else "reject"
    assert [finding.pointer for finding in found if finding.severity == severity] == ["/x_label"]


@each_accepted
@table("dialect", OWN_DIALECTS.values())
def test_a_request_that_a_service_accepted_matches_its_own_schema(one: Recorded, dialect: str):
    if own_dialect(one) == dialect:
        assert refusals(dialect, one.request, one.url) == []
        found = judge_wire(dialect, {**one.request, "x_label": 1}, url=one.url)
        severity = "reject" if dialect in {"groq-chat", "mistral-chat"} else "ignored"
        assert ("/x_label", severity) in [(finding.pointer, finding.severity) for finding in found]


PROVIDERS = {"openai", "azure", "anthropic", "gemini", "vertex", *OWN_DIALECTS}
"""Whom the types speak for. Others of OpenAI's dialect answer with reasons and tiers of their own."""


@table("one", params(one for one in accepted() if one.provider in PROVIDERS))
def test_a_recorded_answer_matches_its_schema(one: Recorded):
    """Each answer, or each item of a stream, of those who published the types."""
    name = f"{own_dialect(one)}.{'stream' if one.data is None else 'answer'}"
    items = [one.data] if one.data is not None else list(stream_items(one.answer))
    answers = [item for item in items if not item.get("error")]
    assert answers
    assert [fault for answer in answers for fault in judge_answer(name, answer, url=one.url)] == []
