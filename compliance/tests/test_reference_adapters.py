"""The adapters of the SDK are certified: they pass every stage, on every scenario, to a number."""

from __future__ import annotations

from collections import Counter

import pytest

from art_compliance import Search, certify
from art_compliance.checks import CHECKS, STAGES
from art_compliance.generating.profiles import PROFILES
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.run.summary import describe_counts
from art_sdk import BUILT_IN

LEAST = {
    "preflight": 2,
    "translation": 9500,
    "wire": 600,
    "payload": 300,
    "response": 560,
    "stream": 280,
    "faults": 6,
    "load": 2,
    "properties": 9,
    "replay": 200,
}
"""At least this many trials of a stage pass: a check that applies nowhere passes none."""

NO_REASONING = {"stream.thinking-stands-apart", "response.thinking-stands-apart", "response.signatures-go-back"}
SILENT = {
    "anthropic": {"stream.pieces-of-calls-are-told-apart"},
    "gemini": {"stream.pieces-of-calls-are-told-apart"},
    "openai": {*NO_REASONING, "translation.undeclared-use-is-refused"},
}
"""Calls come one after the other, or whole; a chat completion has no place for reasoning, and nothing is undeclared."""


@pytest.fixture(scope="module", params=BUILT_IN)
def report(request):
    return certify(request.param, seed=1, search=Search(profile=PROFILES["quick"]))


def test_every_stage_but_the_live_one_is_among_them():
    assert set(STAGES) == LEAST.keys() | {"live"}


def test_a_reference_adapter_is_certified(report):
    assert [(one.check, one.scenario, one.findings) for one in (*report.failures, *report.harness_errors)] == []
    assert report.is_certified
    assert any("certified by suite" in line.text for line in describe_counts(report))


@pytest.mark.parametrize("report", ["gemini"], indirect=True)
def test_recordings_of_the_strict_provider_alone_prove_nothing_about_a_real_one(report):
    assert report.levels["replay"].passed > 100
    assert not report.levels["replay"].is_passed
    assert report.recordings == {"strict provider": len(live_scenarios())}
    lines = [line.text for line in describe_counts(report)]
    assert any("replay   not applicable: no answer of a real provider or engine was replayed" in one for one in lines)


@pytest.mark.parametrize("stage", LEAST)
def test_a_reference_adapter_passes_every_check_of_a_stage(report, stage: str):
    checks = {one.id for one in CHECKS.values() if one.stage.name == stage}
    passed = Counter(one.check for one in report.results if one.verdict == "pass" and one.check in checks)
    assert checks - set(passed) == checks & SILENT.get(report.adapter.name, set())
    assert sum(passed.values()) >= LEAST[stage]
