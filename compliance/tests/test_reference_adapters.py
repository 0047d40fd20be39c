"""The adapters of the SDK pass every stage, on every scenario, to a number."""

from __future__ import annotations

from collections import Counter

import pytest

from art_compliance import Selection, certify
from art_compliance.checks import CHECKS, STAGES
from art_sdk import BUILT_IN

LEAST = {
    "preflight": 2,
    "translation": 9500,
    "wire": 600,
    "payload": 300,
    "response": 560,
    "stream": 280,
    "faults": 6,
    "replay": 200,
}
"""At least this many trials of a stage pass: a check that applies nowhere passes none."""

TESTED_ELSEWHERE = {"load", "properties", "live"}
"""Stages with tests of their own: they take a while, or need a provider."""

NO_REASONING = {"stream.thinking-stands-apart", "response.thinking-stands-apart", "response.signatures-go-back"}
SILENT = {
    "anthropic": {"stream.pieces-of-calls-are-told-apart"},
    "gemini": {"stream.pieces-of-calls-are-told-apart"},
    "openai": {*NO_REASONING, "translation.undeclared-use-is-refused"},
}
"""Calls come one after the other, or whole; a chat completion has no place for reasoning, and nothing is undeclared."""


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in BUILT_IN])
def report(request):
    checks = tuple(one.id for one in CHECKS.values() if one.stage.name in LEAST)
    return certify(request.param, selection=Selection(checks=checks), seed=1)


def test_every_stage_is_among_them():
    assert set(STAGES) == LEAST.keys() | TESTED_ELSEWHERE


def test_a_reference_adapter_fails_nothing(report):
    assert [(one.check, one.scenario, one.findings) for one in (*report.failures, *report.harness_errors)] == []


@pytest.mark.parametrize("stage", LEAST)
def test_a_reference_adapter_passes_every_check_of_a_stage(report, stage: str):
    checks = {one.id for one in CHECKS.values() if one.stage.name == stage}
    passed = Counter(one.check for one in report.results if one.verdict == "pass" and one.check in checks)
    assert checks - set(passed) == checks & SILENT.get(report.adapter.name, set())
    assert sum(passed.values()) >= LEAST[stage]
