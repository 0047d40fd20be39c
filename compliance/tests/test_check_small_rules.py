"""Small rules of checks that whole certifications pass by: classes, names, and what a request without a URL shows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from art_compliance.checks import CHECKS
from art_compliance.checks.base import check
from art_compliance.checks.properties.exploring import Law
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.miniatures.base import change_events
from art_compliance.miniatures.errors import change_errors
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.subject.opening import open_subject
from art_sdk import GeminiAdapter, OpenAIAdapter, parse_options, parse_prompt
from trials import answer_events, failure_events, messages_of, scenario, scripted, spoiled, translator

REFUSALS = {400, 404, 413, 422}


@pytest.mark.parametrize("status", sorted({one + step for one in REFUSALS for step in (-1, 0, 1)} | {401, 429, 503}))
def test_a_status_says_whether_the_real_provider_refused_the_request(status: int):
    live = scripted(failure_events(status=status), dialect="openai-chat")
    with open_subject(OpenAIAdapter, name="adapter") as subject, open_subject(live, name="live") as provider:
        outcome = CHECKS["live.call-is-answered"](Trial(subject, GREETING_SCENARIO, 1, live=provider))
    classes = [one.finding_class for one in outcome.findings]
    assert classes == ["refused" if status in REFUSALS else "contract"]


def test_what_is_wrong_with_an_answer_in_its_usual_form_is_no_fault_of_another_form():
    def without_text(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        message = events[-1].get("message") or {}
        if not message.get("tool_calls"):
            return events
        ended = {**events[-1], "message": {**message, "content": None}}
        return [*(event for event in events[:-1] if event["type"] != "TOKEN"), ended]

    make = spoiled(lambda adapter: change_events(adapter, without_text))
    for stage in ("response", "stream"):
        assert messages_of(f"{stage}.other-forms-are-read", make) == []


def test_the_words_around_the_provider_s_are_the_library_s_own():
    numbers = count()
    make = spoiled(
        lambda adapter: change_errors(
            adapter, lambda error, _: {"provider_message": f"{next(numbers)}: {error.provider_message}"}
        )
    )
    assert messages_of("response.any-refusal-is-an-error", make) == []


@pytest.mark.parametrize("status", [302, 304])
def test_a_redirect_without_a_place_to_go_to_is_no_answer(status: int):
    def believe(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        failed = next((event["error"] for event in events if event["type"] == "ERROR"), {})
        return answer_events() if failed.get("status") == status else events

    found = messages_of("response.any-refusal-is-an-error", spoiled(lambda adapter: change_events(adapter, believe)))
    assert found
    assert all(one.startswith(f"answered {status} without a place to go to: ") for one in found)


@pytest.mark.parametrize("stage", ["agent", "payload", "properties", "wire"])
def test_a_law_names_the_check_that_found_something_unless_it_is_its_own(stage: str):
    @check(f"{stage}.is-never-right", clause="Nothing is right.")
    def never_right(_: Trial) -> Iterator[Problem]:
        yield Problem("this is wrong")

    with open_subject(OpenAIAdapter, name="adapter") as subject:
        trial = Trial(subject, GREETING_SCENARIO, 1)
        [of_another] = Law(id="properties.something-holds", judged_by=(never_right,)).problems(trial)
        [of_its_own] = Law(id=never_right.id, judged_by=(never_right,)).problems(trial)
    assert of_another.message == f"{stage}.is-never-right: this is wrong"
    assert of_its_own.message == "this is wrong"


@pytest.mark.parametrize("options", [{"model": "gemini-2.5-pro"}, {"stream": True}, {"temperature": 0.5}])
def test_what_stands_in_the_url_alone_is_not_missing_where_the_url_is_unknown(options: dict[str, Any]):
    right = GeminiAdapter(api_key="k")

    def translate(prompt: Any, given: Any) -> Any:
        return right.translate(parse_prompt(prompt), parse_options({**given, "temperature": None}))

    make = translator(translate, dialect="gemini-generate")
    with open_subject(make, name="adapter") as subject:
        trial = Trial(subject, scenario(options=options), 1)
        assert len(trial.comparison.differences) == ("temperature" in options)
