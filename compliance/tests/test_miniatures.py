"""The suite sees what it says it sees: every miniature is caught, by the checks that it names."""

from __future__ import annotations

import pytest

from art_compliance import Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.miniatures import MINIATURES, Miniature
from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter

CHECK_IDS = [
    "preflight.greeting-translates",
    "preflight.answer-is-read",
    "translation.is-total",
    "translation.request-is-of-its-dialect",
    "translation.outcome-is-right",
    "translation.undeclared-use-is-refused",
    "translation.repairs-are-declared",
    "translation.system-text-survives",
    "translation.user-text-survives",
    "translation.assistant-text-survives",
    "translation.message-names-survive",
    "translation.extensions-survive",
    "translation.turns-keep-their-order",
    "translation.calls-survive",
    "translation.call-ids-survive",
    "translation.arguments-survive",
    "translation.results-survive",
    "translation.result-status-survives",
    "translation.tools-survive",
    "translation.options-survive",
    "translation.nothing-is-invented",
    "translation.leaves-its-arguments-alone",
    "translation.same-prompt-same-request",
    "translation.tool-means-tool-result",
    "translation.prefix-is-stable",
    "translation.follows-renaming",
    "translation.order-of-answers-means-nothing",
    "translation.sends-what-it-translates",
    "translation.one-call-one-request",
    "translation.canary-texts-stand-whole",
    "translation.canary-order-is-kept",
    "translation.canary-results-are-linked",
    "translation.canary-arguments-decode-once",
    "translation.canary-tools-are-told",
    "translation.canary-options-are-told",
]


def test_the_checks_are_these():
    assert list(CHECKS) == CHECK_IDS


def test_every_check_is_failed_by_some_miniature():
    seen = {check for miniature in MINIATURES for check in miniature.fails}
    assert sorted(seen) == sorted(CHECK_IDS)


def test_every_miniature_says_how_it_is_wrong():
    assert len({miniature.id for miniature in MINIATURES}) == len(MINIATURES) >= 10
    assert all(miniature.wrong.endswith(".") for miniature in MINIATURES)


@pytest.mark.parametrize(
    "make", [AnthropicAdapter, GeminiAdapter, OpenAIAdapter], ids=["anthropic", "gemini", "openai"]
)
@pytest.mark.parametrize("miniature", MINIATURES, ids=lambda miniature: miniature.id)
def test_a_miniature_is_caught_by_the_checks_that_it_names(miniature: Miniature, make: type):
    report = certify(miniature.of(make), selection=Selection(checks=tuple(miniature.fails)), seed=7)
    caught = {result.check for result in (*report.failures, *report.harness_errors)}
    assert not report.is_certified
    assert miniature.fails <= caught
    if not any(check.startswith("preflight") for check in miniature.fails):
        assert not report.harness_errors
