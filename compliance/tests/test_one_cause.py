"""One cause gives one finding: of the checks that see the same, the one that says most reports it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from art_compliance import Selection
from art_compliance.generating.profiles import Profile, Search
from art_compliance.miniatures import find_miniature
from art_compliance.miniatures.base import as_data, change_payload
from art_compliance.run.results import Result
from art_compliance.run.session import Session
from art_compliance.subject.factories import Factory
from art_compliance.subject.opening import open_subject
from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter, parse_prompt
from trials import spoiled

STAGES = ("translation", "wire", "response", "stream", "properties")
SEARCH = Search(profile=Profile(name="cause", examples=25, seconds=5.0, shrink_seconds=0.1))


def failed_of(make: Factory, *scenarios: str) -> list[Result]:
    """The failed results of all checks of requests and answers on these scenarios, as a run has them."""
    with open_subject(make, name="adapter") as subject:
        session = Session(subject, seed=7, search=SEARCH)
        plan = Selection(scenarios=scenarios).plan()
        results = [session.run(check, one) for check, one in plan if check.stage.name in STAGES]
    return [one for one in results if one.verdict not in ("pass", "not applicable")]


def reporting(results: Iterable[Result]) -> list[str]:
    return [f"{one.check} on {one.scenario}" for one in results]


@pytest.mark.parametrize(
    ("miniature", "scenario", "check"),
    [
        ("rounds-integers", "big-integers", "translation.arguments-survive"),
        ("trims-user-text", "outer-blanks", "translation.user-text-survives"),
        ("drops-system-messages", "browser-act-prefilled", "translation.system-text-survives"),
        ("puts-the-last-question-first", "browser-reflect", "translation.turns-keep-their-order"),
        ("drops-tool-descriptions", "handover-between-agents", "translation.tools-survive"),
        ("drops-temperature", "browser-act", "translation.options-survive"),
        ("swaps-results", "long-loop", "translation.results-survive"),
        ("loses-the-second-call", "long-loop", "translation.calls-survive"),
        ("numbers-the-turns", "browser-act-prefilled", "translation.user-text-survives"),
        ("speaks-another-format", "browser-act-prefilled", "translation.request-matches-its-dialect"),
        ("sends-tools-as-text", "handover-between-agents", "wire.request-matches-the-schema"),
        ("sends-the-temperature-in-words", "browser-act", "wire.request-matches-the-schema"),
        ("wraps-results-with-care", "pes-synthesize-with-results", "translation.results-survive"),
    ],
)
def test_what_several_checks_see_is_reported_by_one(miniature: str, scenario: str, check: str):
    failed = failed_of(find_miniature(miniature).of(OpenAIAdapter), scenario)
    assert reporting(failed) == [f"{check} on {scenario}"]


@pytest.mark.once
@pytest.mark.unmeasured
def test_generated_prompts_do_not_repeat_what_a_scenario_has_shown():
    rounding = find_miniature("rounds-integers").of(OpenAIAdapter)
    families = ("generated-conversations", "generated-dialogues")
    assert {one.scenario for one in failed_of(rounding, *families)} & {*families}
    assert reporting(failed_of(rounding, "big-integers", *families)) == [
        "translation.arguments-survive on big-integers"
    ]


def test_canaries_do_not_repeat_what_another_scenario_has_shown():
    trimming = find_miniature("trims-user-text").of(OpenAIAdapter)
    assert reporting(failed_of(trimming, "browser-reflect")) == [
        "translation.canary-texts-are-whole on browser-reflect"
    ]
    failed = failed_of(trimming, "outer-blanks", "browser-reflect")
    assert reporting(failed) == ["translation.user-text-survives on outer-blanks"]


class AsNamed(GeminiAdapter):
    """It sends a result under the name that the prompt gives it, whatever tool was called."""

    def translate(self, prompt: Any, options: Any) -> Any:
        data = as_data(prompt)
        names = [message.pop("name", None) for message in data if message["role"] in ("tool", "tool_result")]
        payload = super().translate(parse_prompt(data), options)
        parts = [part for content in payload["contents"] for part in content["parts"] if "functionResponse" in part]
        for part, name in zip(parts, names, strict=True):
            part["functionResponse"]["name"] = name or part["functionResponse"]["name"]
        return payload


def test_a_result_that_the_prompt_names_after_another_tool_is_a_prompt_that_was_to_be_refused():
    assert reporting(failed_of(AsNamed, "contradicting-name")) == ["translation.outcome-is-right on contradicting-name"]


def _as_list(payload: Any) -> Any:
    for message in payload["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                block["input"] = [block["input"]]
    return payload


def test_a_rule_and_a_type_that_refuse_one_value_are_one_finding():
    wrong = spoiled(lambda adapter: change_payload(adapter, _as_list), AnthropicAdapter)
    failed = [one for one in failed_of(wrong, "empty-arguments") if one.check.startswith(("wire", "translation"))]
    assert {one.check for one in failed} == {"wire.no-rule-is-broken"}


def test_a_tool_that_was_renamed_undeclared_is_one_finding():
    lowered = find_miniature("lowers-tool-names").of(OpenAIAdapter)
    failed = failed_of(lowered, "odd-names")
    assert reporting(failed) == ["translation.tools-survive on odd-names"]
    assert 'the tool "getWeather" became "getweather"' in {finding.message for finding in failed[0].findings}
