"""Adapters to servers of chat completions pass every stage on some scenarios; `make certify` runs them all."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from art_compliance import Report, Search, Selection, certify
from art_compliance.checks import CHECKS, STAGES
from art_compliance.dialects.endpoints import ENDPOINTS
from art_compliance.generating.profiles import PROFILES
from art_sdk import BUILT_IN, OllamaAdapter, XAIAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

SERVERS = ("azure", "deepseek", "groq", "mistral", "ollama", "openai-compatible", "openrouter", "xai")
"""Certified in part: their code is the adapter's to OpenAI, which is certified whole by other tests, and other tests
compare what they send for every scenario with the canonical payloads."""

SCENARIOS = (
    "answer-parallel-calls",
    "answer-text",
    "answer-with-reasoning",
    "broken-arguments",
    "choice-required",
    "dotted-name",
    "image-by-url",
    "jpeg-and-webp",
    "one-question",
    "one-stop",
    "parallel-calls",
    "streamed-call",
    "user-name",
)


ON_NO_SCENARIO = (
    "agent.question-is-answered",
    "faults.errors-in-answers-agree",
    "load.calls-at-once-do-not-mix",
    "properties.conversations-go-on",
    "properties.requests-are-accepted",
)
"""Some checks of the stages that run on no scenario of the suite."""


@cache
def reports_of(name: str) -> tuple[Report, Report]:
    search = Search(profile=PROFILES["quick"])
    selections = (Selection(scenarios=SCENARIOS), Selection(checks=ON_NO_SCENARIO))
    return tuple(certify(name, seed=1, selection=one, search=search, isolated=False) for one in selections)


@pytest.mark.parametrize("name", SERVERS)
def test_an_adapter_to_a_server_fails_no_check(name: str):
    failed = [one for report in reports_of(name) for one in (*report.failures, *report.harness_errors)]
    assert [(one.check, one.scenario, one.findings) for one in failed] == []


@pytest.mark.parametrize("name", SERVERS)
def test_an_adapter_to_a_server_passes_checks_of_every_stage(name: str):
    results = [one for report in reports_of(name) for one in report.results]
    passed = Counter(CHECKS[one.check].stage.name for one in results if one.verdict == "pass")
    assert set(passed) == set(STAGES) - {"live"}


def test_every_server_is_a_reference_adapter():
    assert set(SERVERS) <= set(BUILT_IN)
    assert {one.service for one in ENDPOINTS} >= {"azure", "ollama", "xai"}


WIRE = Selection(scenarios=SCENARIOS, checks=("wire.no-rule-is-broken", "payload.is-canonical"))


def test_the_rules_of_a_service_fail_an_adapter_that_does_not_know_them():
    class AnyArguments(OllamaAdapter):
        provider = ChatProvider(reasoning=("reasoning",), kept=("reasoning",))

    class Stops(XAIAdapter):
        capabilities = XAIAdapter.capabilities | {"stop"}

    found = {
        one.scenario: one.findings[0].message for one in certify(AnyArguments, selection=WIRE, isolated=False).failures
    }
    assert {name: said.partition(":")[0] for name, said in found.items()} == {
        "broken-arguments": "ollama.arguments",
        "image-by-url": "ollama.image-data",
    }
    (stop,) = certify(Stops, selection=WIRE, isolated=False).failures
    assert (stop.scenario, stop.findings[0].provider_text) == (
        "one-stop",
        "Model … does not support parameter stop.",
    )


def test_reasoning_in_the_field_of_another_server_is_not_certified():
    class Forgets(OllamaAdapter):
        provider = ChatProvider(reasoning=("reasoning_content",), kept=("reasoning_content",))

    lost = "response.thinking-is-separate"
    chosen = Selection(scenarios=("answer-with-reasoning",), checks=(lost,))
    assert {one.check for one in certify(Forgets, selection=chosen, isolated=False).failures} == {lost}
