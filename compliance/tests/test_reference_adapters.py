"""The adapters of the SDK are certified: they pass every stage, on every scenario, to a number.

All tests of an adapter have its name as their only parameter: so one worker runs them, and certifies it once.
"""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import structs

from art_compliance import Search, certify
from art_compliance.checks import CHECKS, STAGES
from art_compliance.generating.profiles import PROFILES
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.run.summary import describe_counts
from art_sdk import BUILT_IN
from test_services_certified import SERVERS

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

LEAST = {
    "preflight": 2,
    "translation": 9500,
    "wire": 600,
    "payload": 300,
    "response": 560,
    "stream": 270,
    "agent": 2,
    "faults": 6,
    "load": 2,
    "properties": 9,
    "replay": 200,
}
"""At least this many trials of a stage pass: a check that applies nowhere passes none."""

NOT_DECLARED = {
    "translation.inner-streams-change-nothing-else",
}
NO_REASONING = {"stream.thinking-is-separate", "response.thinking-is-separate", "response.signatures-go-back"}
ONE_BY_ONE = "stream.interleaved-calls-do-not-mix"
NO_MAPPING = "translation.mapped-ids-stay-distinct"
ONE_ANSWER = {"response.several-answers-do-not-mix", "stream.several-answers-do-not-mix"}
NO_NAME_RULE = {"translation.renamed-tools-stay-distinct", "response.renamed-tools-come-back"}
NO_CHOICE = "translation.choices-are-not-names"
NOT_DRAWN = "properties.result-order-does-not-matter"
SILENT = {
    "anthropic": {*NOT_DECLARED, *ONE_ANSWER, ONE_BY_ONE},
    "bedrock": {*NOT_DECLARED, *ONE_ANSWER, ONE_BY_ONE},
    "cohere": {*NOT_DECLARED, *ONE_ANSWER, ONE_BY_ONE, NO_MAPPING},
    "deepseek": {*NOT_DECLARED, *ONE_ANSWER, ONE_BY_ONE, NO_MAPPING},
    "gemini": {*NOT_DECLARED, ONE_BY_ONE, NO_MAPPING},
    "groq": {*NOT_DECLARED, *ONE_ANSWER, ONE_BY_ONE, NO_MAPPING, "translation.undeclared-use-is-refused"},
    "mistral": {*NOT_DECLARED, ONE_BY_ONE},
    "openai": {*NOT_DECLARED, *NO_REASONING, "translation.undeclared-use-is-refused"},
    "ollama-chat": {
        *NOT_DECLARED,
        *ONE_ANSWER,
        *NO_NAME_RULE,
        ONE_BY_ONE,
        NO_MAPPING,
        NO_CHOICE,
        NOT_DRAWN,
    },
    "openai-responses": {*NOT_DECLARED, *ONE_ANSWER},
    "openrouter": {*NOT_DECLARED, *ONE_ANSWER, ONE_BY_ONE, "translation.undeclared-use-is-refused"},
}
"""Calls come one after the other, or whole; OpenAI's chat completions have no place for reasoning; with OpenAI,
Groq and OpenRouter nothing is undeclared. None of them streams inside. OpenAI, Mistral and Gemini alone give several
answers to one request. No limit of DeepSeek's, Gemini's and Groq's call ids is known. Ollama takes any name
and no tool choice, and of the few prompts of the quick profile none has a turn with several results that it takes."""

ON_EVERY_PYTHON = "openai"
"""What adapters and suite do differently on another Python, one adapter shows."""


OF_A_FAMILY = ("deepseek", "groq", "mistral", "openrouter")
"""Their code is OpenAI's adapter's, with other data: `make test` certifies them in part, `make thorough` whole."""


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    marks = {"once": name != ON_EVERY_PYTHON, "thorough": name in OF_A_FAMILY}
    return [getattr(pytest.mark, mark) for mark, has_it in marks.items() if has_it]


UNHURRIED = structs.replace(PROFILES["quick"], seconds=60.0)
"""A busy machine makes fewer prompts in a second, and not every kind of them."""


@pytest.fixture(scope="module", params=[pytest.param(name, marks=marks_of(name)) for name in SILENT])
def report(request):
    return certify(request.param, seed=1, search=Search(profile=UNHURRIED), isolated=False)


def test_every_stage_but_the_live_one_is_among_them():
    assert set(STAGES) == LEAST.keys() | {"live"}


def test_a_reference_adapter_is_certified(report):
    assert [(one.check, one.scenario, one.findings) for one in (*report.failures, *report.harness_errors)] == []
    assert report.is_certified
    assert any("certified by suite" in line.text for line in describe_counts(report))


@pytest.mark.once
@pytest.mark.parametrize("report", ["gemini"], indirect=True)
def test_recordings_of_the_strict_provider_alone_prove_nothing_about_a_real_one(report):
    assert report.levels["replay"].passed > 100
    assert not report.levels["replay"].is_passed
    assert report.recordings == {"strict provider": len(live_scenarios())}
    lines = [line.text for line in describe_counts(report)]
    assert any("replay   not applicable: no answer of a real provider or engine was replayed" in one for one in lines)


def test_every_reference_adapter_is_among_them():
    assert set(BUILT_IN) == SILENT.keys() | set(SERVERS)
    assert set(OF_A_FAMILY) <= set(SERVERS)


def test_a_reference_adapter_passes_every_check_of_every_stage(report):
    passed = Counter(one.check for one in report.results if one.verdict == "pass")
    stages = {stage: {one.id for one in CHECKS.values() if one.stage.name == stage} for stage in LEAST}
    judged = set.union(*stages.values())
    assert judged - set(passed) == judged & SILENT[report.adapter.name]
    trials = {stage: sum(passed[check] for check in checks) for stage, checks in stages.items()}
    assert {stage: count for stage, count in trials.items() if count < LEAST[stage]} == {}
