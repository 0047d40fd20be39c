"""The adapters of the SDK pass every module of checks, on every scenario, to a number."""

from __future__ import annotations

from collections import Counter

import pytest

from art_compliance import Selection, certify
from art_compliance.checks import CHECKS
from art_sdk import BUILT_IN

LEAST = {
    "preflight": 2,
    "conservation": 6000,
    "laws": 2100,
    "canary": 1420,
    "wire": 300,
    "rules": 300,
    "payload": 300,
    "response": 380,
    "answer_laws": 270,
    "ways": 20,
    "failures": 4,
    "stream": 98,
    "pieces": 40,
    "faults": 4,
    "waiting": 1,
    "asking_again": 1,
    "replay": 200,
}
"""So many trials of a module are passed at least: a check that has nothing to say of anything passes none."""

ELSEWHERE = {"load", "properties", "live"}
"""Modules that other tests are about: these take a while, or need a provider."""

NO_REASONING = {"stream.thinking-stands-apart", "response.thinking-stands-apart", "response.signatures-go-back"}
SILENT = {
    "anthropic": {"stream.pieces-of-calls-are-told-apart"},
    "gemini": {"stream.pieces-of-calls-are-told-apart"},
    "openai": {*NO_REASONING, "translation.undeclared-use-is-refused"},
}
"""Calls come one after the other, or whole; a chat completion has no place for reasoning, and nothing is undeclared."""


def module_of(name: str) -> str:
    return CHECKS[name].run.__module__.rpartition(".")[2]


def test_every_module_of_checks_is_among_them():
    assert set(map(module_of, CHECKS)) == LEAST.keys() | ELSEWHERE


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("module", LEAST)
def test_a_reference_adapter_holds_the_laws(name: str, module: str):
    checks = {one for one in CHECKS if module_of(one) == module}
    report = certify(name, selection=Selection(checks=tuple(checks)), seed=1)
    assert [(one.check, one.scenario, one.findings) for one in (*report.failures, *report.harness_errors)] == []
    passed = Counter(one.check for one in report.results if one.verdict == "pass" and one.check in checks)
    assert checks - set(passed) == checks & SILENT.get(name, set())
    assert sum(passed.values()) >= LEAST[module]
