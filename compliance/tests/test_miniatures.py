"""The suite sees what it says it sees: every miniature is caught, by the checks that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import pytest
from msgspec.structs import replace

from art_compliance import Selection
from art_compliance.checks import CHECKS
from art_compliance.generating.profiles import Profile, Search
from art_compliance.miniatures import MINIATURES, Miniature
from art_compliance.resources import data_folder
from art_compliance.run.results import Result
from art_compliance.run.session import Session
from art_compliance.subject.access import Access
from art_compliance.subject.factories import find_factory
from art_compliance.subject.opening import open_subject

pytestmark = pytest.mark.once  # what the checks see does not depend on the Python

CHECK_IDS = [
    "preflight.greeting-translates",
    "preflight.answer-is-read",
    "translation.request-is-of-its-dialect",
    "translation.same-for-every-account",
    "translation.is-total",
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
    "translation.follows-renaming",
    "translation.order-of-answers-means-nothing",
    "translation.sends-what-it-translates",
    "translation.one-call-one-request",
    "translation.prefix-is-stable",
    "translation.renamed-tools-stay-apart",
    "translation.mapped-ids-stay-apart",
    "translation.stream-inside-is-the-stream",
    "translation.demanding-prompts-survive",
    "translation.keys-keep-their-order",
    "translation.like-requests-stay-apart",
    "translation.every-model-gets-it-all",
    "translation.options-survive-together",
    "translation.canary-texts-stand-whole",
    "translation.canary-order-is-kept",
    "translation.canary-results-are-linked",
    "translation.canary-arguments-decode-once",
    "translation.canary-tools-arrive",
    "translation.canary-options-arrive",
    "wire.request-is-of-the-schema",
    "wire.no-rule-is-broken",
    "wire.request-arrives-where-it-is-served",
    "wire.books-stay-at-home",
    "payload.is-canonical",
    "response.answer-is-read",
    "response.every-prompt-is-answered",
    "response.events-keep-their-order",
    "response.events-carry-their-ids",
    "response.text-is-whole",
    "response.calls-are-whole",
    "response.thinking-stands-apart",
    "response.finish-is-reported",
    "response.usage-is-reported",
    "response.message-is-standard",
    "response.answer-can-be-appended",
    "response.signatures-go-back",
    "response.context-marks-the-tokens",
    "response.unknown-fields-are-ignored",
    "response.renamed-tools-come-back",
    "response.every-way-to-call-agrees",
    "response.call-sync-marks-its-events",
    "response.every-way-sends-the-same",
    "response.every-way-fails-alike",
    "response.unknown-end-is-no-stop",
    "response.error-answer-is-an-error",
    "response.retry-after-is-read",
    "response.broken-answer-is-an-error",
    "response.key-is-shown-nowhere",
    "response.key-goes-in-a-header",
    "response.other-forms-are-read",
    "response.unusual-answers-are-read",
    "response.bad-ends-are-not-good",
    "response.usage-may-be-missing",
    "response.other-answers-stand-apart",
    "response.times-are-plausible",
    "response.events-stay-as-they-came",
    "stream.answer-is-read",
    "stream.events-keep-their-order",
    "stream.events-carry-their-ids",
    "stream.text-is-whole",
    "stream.calls-are-whole",
    "stream.thinking-stands-apart",
    "stream.finish-is-reported",
    "stream.usage-is-reported",
    "stream.message-is-standard",
    "stream.says-what-the-whole-answer-says",
    "stream.cuts-change-nothing",
    "stream.cut-short-is-an-error",
    "stream.error-event-is-an-error",
    "stream.tokens-come-as-they-are-sent",
    "stream.closing-ends-the-call",
    "stream.cancelling-ends-the-call",
    "stream.context-marks-the-tokens",
    "stream.unknown-fields-are-ignored",
    "stream.unknown-end-is-no-stop",
    "stream.pieces-of-calls-are-told-apart",
    "stream.every-way-streams-alike",
    "stream.other-forms-are-read",
    "stream.unusual-answers-are-read",
    "stream.bad-ends-are-not-good",
    "stream.usage-may-be-missing",
    "stream.other-answers-stand-apart",
    "stream.times-are-plausible",
    "agent.question-is-answered",
    "agent.streamed-question-is-answered",
    "faults.end-in-time",
    "faults.become-errors",
    "faults.benign-ones-change-nothing",
    "faults.print-nothing",
    "faults.leave-nothing-behind",
    "faults.show-no-key",
    "faults.are-asked-again-with-care",
    "faults.errors-in-answers-agree",
    "faults.key-stays-at-its-host",
    "load.calls-at-once-do-not-mix",
    "load.memory-stays-flat",
    "load.every-loop-and-thread-is-served",
    "load.slow-calls-hold-up-no-others",
    "load.adapters-stand-apart",
    "load.calls-stand-apart",
    "load.closed-calls-free-their-place",
    "load.nothing-stays-behind",
    "load.surroundings-stay-as-they-are",
    "load.calls-go-nowhere-else",
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
    "properties.cut-streams-are-errors",
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


NOTHING_TO_BE_WRONG_ABOUT = {
    ("takes-thinking-for-text", "openai"): "a chat completion has no place for reasoning",
    ("streams-thinking-as-text", "openai"): "a chat completion has no place for reasoning",
    ("passes-over-first-arguments", "anthropic"): "calls come one after the other",
    ("passes-over-first-arguments", "gemini"): "calls come whole",
    ("reads-the-first-text-alone", "openai"): "a whole chat completion has one text",
    ("needs-token-counts", "anthropic"): "every answer counts its tokens",
    ("forgets-what-is-wanted-back", "openai"): "a chat completion has no place for reasoning",
    ("forgets-its-signatures", "openai"): "a chat completion has no place for reasoning",
    ("forgets-signatures-later", "openai"): "a chat completion has no place for reasoning",
    ("takes-cut-arguments-for-none", "anthropic"): "a call's input is an object",
    ("takes-cut-arguments-for-none", "gemini"): "a call's args are an object",
    ("delays-behind-answers", "gemini"): "the adapter sends no late system message in its place",
    ("sends-an-empty-tools-list", "anthropic"): "no rule against it is known",
    ("sends-an-empty-tools-list", "gemini"): "no rule against it is known",
    ("sends-the-temperature-in-words", "anthropic"): "a rule refuses it: the published types lack the field",
}


SEARCH = Search(profile=Profile(name="exam", examples=200, seconds=10.0, shrink_seconds=0.1))


class Caught(NamedTuple):
    """The results of those checks that a miniature names and that see it; one of them, or several, report it."""

    seen: dict[str, Result]
    reported: set[str]


def first_failures(miniature: Miniature, adapter: str) -> Caught:
    """What each check that it names finds on the first scenario on which it sees the miniature.

    A check sees what it would find alone: where others are run, it leaves the cause to the one that reports it.
    """
    caught = Caught({}, set())
    with open_subject(miniature.of(find_factory(adapter)), name=miniature.id) as subject:
        cassettes = data_folder("cassettes")
        selection = Selection(checks=tuple(miniature.fails), cassettes=cassettes, live=Access(key="unused"))
        session = Session(subject, seed=7, search=SEARCH, selection=selection, live=subject)
        for check, scenario in selection.plan():
            if check.id in miniature.fails and not (check.id in caught.seen and caught.reported):
                alone = Session(
                    subject, seed=7, search=SEARCH, selection=replace(selection, checks=(check.id,)), live=subject
                )
                for one, runs in ((check, session), (replace(check, leaves_to=()), alone)):
                    result = runs.run(one, scenario)
                    if result.verdict == ("harness error" if check.stage.stops_the_run else "fail"):
                        caught.seen[check.id] = result
                        caught.reported.update({check.id} if one is check else ())
                        break
    return caught


PYTHON: Final = re.compile(r"\b(?:None|True|False)\b|[\[({]'|\(\)")
"""Lists, tuples, dicts and constants as Python writes them."""


_QUOTING: Final = re.compile("raised |a log shows")


def in_python(results: Iterable[Result]) -> list[str]:
    """The messages with a value that is not in JSON notation, but for those that quote an exception or a log."""
    messages = [one.message for result in results for one in result.findings]
    return [one for one in messages if PYTHON.search(one) and not _QUOTING.search(one)]


LONG: Final = ("faults.", "load.")
"""Checks of these stages make many calls, or wait: their own tests run the same lines."""


def miniatures_around_adapters():
    """Each around one of its adapters, in turn; around the others by `make thorough`."""
    for number, miniature in enumerate(MINIATURES):
        wrong = [one for one in miniature.around if (miniature.id, one) not in NOTHING_TO_BE_WRONG_ABOUT]
        first = wrong[number % len(wrong)]
        is_long = any(check.startswith(LONG) for check in miniature.fails)
        for adapter in miniature.around:
            marks = () if adapter == first else (pytest.mark.thorough,)
            measuring = pytest.mark.unmeasured if is_long or marks else pytest.mark.measured
            yield pytest.param(miniature, adapter, marks=(*marks, measuring), id=f"{miniature.id}-{adapter}")


@pytest.mark.parametrize(("miniature", "adapter"), [*miniatures_around_adapters()])
def test_a_miniature_is_caught_by_the_checks_that_it_names(miniature: Miniature, adapter: str):
    found = first_failures(miniature, adapter)
    if (miniature.id, adapter) in NOTHING_TO_BE_WRONG_ABOUT:
        assert found.seen == {}
        return
    assert found.seen.keys() == miniature.fails
    assert found.reported
    assert in_python(found.seen.values()) == []
