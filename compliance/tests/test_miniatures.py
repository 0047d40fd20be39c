"""The suite sees what it says it sees: every miniature is caught, by the checks that it names."""

from __future__ import annotations

import pytest

from art_compliance import Selection
from art_compliance.checks import CHECKS
from art_compliance.generating.profiles import Profile, Search
from art_compliance.miniatures import MINIATURES, Miniature
from art_compliance.resources import data_folder
from art_compliance.run.runner import Session
from art_compliance.subject.access import Access
from art_compliance.subject.opening import open_subject
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
    "translation.images-survive",
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
    "wire.request-is-of-the-schema",
    "wire.no-rule-is-broken",
    "payload.is-canonical",
    "response.answer-is-read",
    "response.every-prompt-is-answered",
    "response.events-keep-their-order",
    "response.events-carry-their-ids",
    "response.text-is-whole",
    "response.calls-are-whole",
    "response.thinking-stands-apart",
    "response.finish-is-told",
    "response.usage-is-told",
    "response.message-is-standard",
    "response.answer-can-be-appended",
    "response.signatures-go-back",
    "response.context-marks-the-tokens",
    "response.unknown-fields-are-ignored",
    "response.every-way-to-call-agrees",
    "response.unknown-end-is-no-stop",
    "response.error-answer-is-told",
    "response.broken-answer-is-an-error",
    "response.key-is-shown-nowhere",
    "response.key-goes-in-a-header",
    "stream.answer-is-read",
    "stream.events-keep-their-order",
    "stream.events-carry-their-ids",
    "stream.text-is-whole",
    "stream.calls-are-whole",
    "stream.thinking-stands-apart",
    "stream.finish-is-told",
    "stream.usage-is-told",
    "stream.message-is-standard",
    "stream.says-what-the-whole-answer-says",
    "stream.cuts-change-nothing",
    "stream.cut-short-is-told",
    "stream.error-event-is-told",
    "stream.tokens-come-as-they-are-sent",
    "stream.closing-ends-the-call",
    "stream.cancelling-ends-the-call",
    "stream.context-marks-the-tokens",
    "stream.unknown-fields-are-ignored",
    "stream.unknown-end-is-no-stop",
    "stream.pieces-of-calls-are-told-apart",
    "faults.end-in-time",
    "faults.are-told-as-errors",
    "faults.benign-ones-change-nothing",
    "faults.leave-nothing-behind",
    "faults.show-no-key",
    "faults.are-asked-again-with-care",
    "load.calls-at-once-do-not-mix",
    "load.memory-stays-flat",
    "properties.every-prompt-has-an-outcome",
    "properties.requests-are-accepted",
    "properties.nothing-is-lost",
    "properties.nothing-is-invented",
    "properties.translation-is-pure",
    "properties.prefix-is-stable",
    "properties.renaming-is-followed",
    "properties.order-of-answers-means-nothing",
    "properties.tool-means-tool-result",
    "properties.what-is-translated-is-sent",
    "properties.answers-are-read-whole",
    "properties.streams-say-what-answers-say",
    "properties.chunks-change-nothing",
    "properties.cut-streams-are-told",
    "properties.conversations-go-on",
    "properties.other-processes-agree",
    "replay.cassette-is-sound",
    "replay.request-is-the-recorded-one",
    "replay.answer-is-read",
    "replay.events-keep-their-order",
    "replay.message-is-whole",
    "replay.tokens-are-counted",
    "replay.cuts-change-nothing",
    "live.call-is-answered",
]


def test_the_checks_are_these():
    assert list(CHECKS) == CHECK_IDS


def test_every_check_is_failed_by_some_miniature():
    seen = {check for miniature in MINIATURES for check in miniature.fails}
    assert sorted(seen) == sorted(CHECK_IDS)


def test_every_miniature_says_how_it_is_wrong():
    assert len({miniature.id for miniature in MINIATURES}) == len(MINIATURES) >= 60
    assert all(miniature.wrong.endswith(".") for miniature in MINIATURES)


ADAPTERS = {"anthropic": AnthropicAdapter, "gemini": GeminiAdapter, "openai": OpenAIAdapter}

NOTHING_TO_BE_WRONG_ABOUT = {
    ("takes-thinking-for-text", "openai"): "a chat completion has no place for reasoning",
    ("streams-thinking-as-text", "openai"): "a chat completion has no place for reasoning",
    ("passes-over-first-arguments", "anthropic"): "calls come one after the other",
    ("passes-over-first-arguments", "gemini"): "calls come whole",
    ("forgets-what-is-wanted-back", "openai"): "a chat completion has no place for reasoning",
    ("forgets-its-signatures", "openai"): "a chat completion has no place for reasoning",
    ("forgets-signatures-later", "openai"): "a chat completion has no place for reasoning",
    ("takes-cut-arguments-for-none", "anthropic"): "a call's input is an object",
    ("takes-cut-arguments-for-none", "gemini"): "a call's args are an object",
    ("sends-an-empty-tools-list", "anthropic"): "no rule against it is known",
    ("sends-an-empty-tools-list", "gemini"): "no rule against it is known",
}


SEARCH = Search(profile=Profile(name="exam", examples=200, seconds=10.0, shrink_seconds=0.1))


def first_failures(miniature: Miniature, make: type) -> set[str]:
    """Which of the checks that it names fail, each up to the first scenario on which it does."""
    found: set[str] = set()
    with open_subject(miniature.of(make), name=miniature.id) as subject:
        cassettes = data_folder("cassettes")
        selection = Selection(checks=tuple(miniature.fails), cassettes=cassettes, live=Access(key="unused"))
        session = Session(subject, seed=7, search=SEARCH, selection=selection, live=subject)
        for check, scenario in selection.plan():
            if check.id in miniature.fails - found:
                wanted = "harness error" if check.stage.stops_the_run else "fail"
                found |= {check.id} if session.run(check, scenario).verdict == wanted else set()
    return found


def miniatures_around_adapters():
    """One adapter is enough for coverage and for a second Python: around the others the same lines run."""
    for miniature in MINIATURES:
        for adapter in ADAPTERS:
            marks = () if adapter == "openai" else (pytest.mark.once,)
            yield pytest.param(miniature, adapter, marks=marks, id=f"{miniature.id}-{adapter}")


@pytest.mark.parametrize(("miniature", "adapter"), [*miniatures_around_adapters()])
def test_a_miniature_is_caught_by_the_checks_that_it_names(miniature: Miniature, adapter: str):
    if (miniature.id, adapter) in NOTHING_TO_BE_WRONG_ABOUT:
        return
    assert first_failures(miniature, ADAPTERS[adapter]) == miniature.fails


@pytest.mark.parametrize(("name", "adapter"), NOTHING_TO_BE_WRONG_ABOUT)
def test_a_miniature_that_changes_nothing_is_certified(name: str, adapter: str):
    miniature = next(miniature for miniature in MINIATURES if miniature.id == name)
    assert first_failures(miniature, ADAPTERS[adapter]) == set()
