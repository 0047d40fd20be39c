"""The adapters of the SDK hold every law of translation and of answers, on every scenario, to a number."""

from __future__ import annotations

from collections import Counter

import pytest

from art_compliance import Selection, certify
from art_compliance.checks import CHECKS
from art_sdk import BUILT_IN

MODULES = {
    "translation": [name for name, one in CHECKS.items() if one.run.__module__.endswith("conservation")],
    "answers": [name for name, one in CHECKS.items() if one.run.__module__.endswith("answer_laws")],
}
NO_REASONING = {"stream.thinking-stands-apart", "response.thinking-stands-apart", "translation.extensions-survive"}
SILENT = {"openai": {*NO_REASONING, "translation.undeclared-use-is-refused"}}
"""A chat completion has no place for reasoning, nor for what goes back with it; and nothing is undeclared."""

LEAST = {"translation": 300, "answers": 120}
"""So many trials are passed at least: a check that has nothing to say of anything passes none."""


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("part", MODULES)
def test_a_reference_adapter_holds_the_laws(name: str, part: str):
    report = certify(name, selection=Selection(checks=tuple(MODULES[part])), seed=1)
    assert [(one.check, one.scenario, one.findings) for one in (*report.failures, *report.harness_errors)] == []
    passed = Counter(one.check for one in report.results if one.verdict == "pass")
    assert set(MODULES[part]) - set(passed) <= SILENT.get(name, set())
    assert sum(passed.values()) > LEAST[part]
