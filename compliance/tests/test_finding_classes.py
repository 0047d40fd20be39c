"""Findings by class: what each check's findings are, and what they are counted as."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from art_compliance import Report, Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.checks.translation.conservation import as_problem
from art_compliance.comparison import Difference
from art_compliance.findings import CLASSES, Finding
from art_compliance.miniatures import find_miniature
from art_compliance.run.counts import DEMANDS, LevelCount
from art_compliance.run.report import write_reports
from art_compliance.scenarios import load_scenarios
from art_sdk import OpenAIAdapter, PromptTranslationFailed, SystemMessage

pytestmark = pytest.mark.unmeasured  # other tests run the same lines


class Unasked(OpenAIAdapter):
    """Sends every prompt as it is, also those that no provider accepts."""

    def translate(self, prompt: Any, options: Any) -> Any:
        return {"model": "gpt-4.1", "messages": msgspec.to_builtins(prompt)}


class Timid(OpenAIAdapter):
    """Refuses every prompt with a system message."""

    def translate(self, prompt: Any, options: Any) -> Any:
        if any(isinstance(message, SystemMessage) for message in prompt):
            raise PromptTranslationFailed("no system messages")
        return super().translate(prompt, options)


def wrong(miniature: str) -> Any:
    return find_miniature(miniature).of(OpenAIAdapter)


def certified(make: Any, check: str, scenario: str = "") -> Report:
    report = certify(
        make, selection=Selection(checks=(check,), scenarios=(scenario,) if scenario else ()), seed=1, isolated=False
    )
    assert not report.harness_errors
    return report


@pytest.mark.once
@pytest.mark.parametrize(
    ("make", "check", "scenario", "classes"),
    [
        (wrong("trims-user-text"), "translation.user-text-survives", "outer-blanks", ["loss"]),
        (wrong("swaps-results"), "translation.results-survive", "parallel-calls", ["loss"]),
        (wrong("drops-temperature"), "translation.options-survive", "sampling", ["contract"]),
        (wrong("adds-an-instruction"), "translation.nothing-is-invented", "one-question", ["loss"]),
        (wrong("chooses-a-temperature"), "translation.nothing-is-invented", "one-question", ["contract"]),
        (wrong("makes-up-missing-results"), "translation.outcome-is-right", "half-answered", ["loss"]),
        (Unasked, "wire.no-rule-is-broken", "pending-call", ["refused"]),
        (Timid, "translation.outcome-is-right", "one-question", ["contract"]),
        (wrong("stumbles-over-nameless-results"), "translation.is-total", "answer-calls-without-ids", ["contract"]),
        (wrong("obeys-the-content"), "translation.follows-renaming", "markup-and-braces", ["contract"]),
        (wrong("sends-an-unknown-field"), "wire.request-matches-the-schema", "one-question", ["refused"]),
        (wrong("sends-an-empty-tools-list"), "wire.no-rule-is-broken", "one-question", ["refused"]),
        (wrong("reads-texts-alone"), "response.answer-is-read", "answer-one-call", ["contract"]),
        (wrong("takes-every-end-for-a-stop"), "response.finish-is-reported", "answer-cut-by-length", ["loss"]),
        (wrong("takes-every-end-for-a-stop"), "response.finish-is-reported", "answer-one-call", ["contract"]),
        (wrong("takes-errors-for-empty-answers"), "response.error-answer-is-an-error", "", ["loss", "contract"]),
        (wrong("hides-the-status"), "response.error-answer-is-an-error", "", ["contract"]),
        (wrong("takes-unknown-ends-for-stops"), "response.unknown-finish-is-other", "", ["loss"]),
        (wrong("loses-the-last-fragment"), "stream.text-is-whole", "answer-text", ["loss"]),
        (wrong("counts-no-streamed-tokens"), "stream.usage-is-reported", "answer-text", ["contract"]),
        (wrong("takes-a-cut-for-the-end"), "stream.cut-short-is-an-error", "answer-text", ["loss"]),
        (wrong("hides-errors-in-streams"), "stream.error-event-is-an-error", "answer-text", ["contract"]),
    ],
)
def test_findings_are_of_the_class_of_what_came_of_them(make: Any, check: str, scenario: str, classes: list[str]):
    (result,) = certified(make, check, scenario).failures
    assert list(result.classes[: len(classes)]) == classes


@pytest.mark.parametrize(("slot", "finding_class"), [("option", "contract"), ("tool", "loss"), ("result", "loss")])
def test_an_option_that_differs_is_no_content_whichever_check_compares(slot: Any, finding_class: str):
    assert as_problem(Difference(slot=slot, message="it changed")).finding_class == finding_class


def test_every_level_demands_the_classes_of_its_checks():
    for one in CHECKS.values():
        for scenario in load_scenarios():
            for is_refused in (False, True):
                assert one.finding_class in DEMANDS[one.level(scenario, is_refused=is_refused)]


def test_a_level_is_passed_without_findings_of_the_classes_that_it_demands():
    clean = LevelCount(passed=9, failed=1, not_applicable=0, demands=("loss", "contract"))
    assert clean.is_passed
    assert structs.replace(clean, failed_by_class={"refused": 1}).is_passed
    assert not structs.replace(clean, failed_by_class={"contract": 1}).is_passed
    assert not structs.replace(clean, left=1).is_passed


def test_a_failed_check_prevents_the_certificate_whatever_its_level_demands():
    report = structs.replace(certified(OpenAIAdapter, "translation.is-total"), is_filtered=False)
    assert report.is_certified
    first, *others = report.results
    refused = Finding(check=first.check, finding_class="refused", message="no")
    failed = structs.replace(first, verdict="fail", findings=(refused,))
    assert not structs.replace(report, results=(failed, *others)).is_certified


def test_results_are_counted_by_class_and_notes_are_not_counted():
    report = certified(wrong("takes-errors-for-empty-answers"), "response.error-answer-is-an-error")
    (result,) = report.failures
    of_each = Counter(finding.finding_class for finding in result.findings if finding.severity == "reject")
    assert {one: count.findings for one, count in report.classes.items()} == {one: of_each[one] for one in CLASSES}
    assert [report.classes[one].results for one in CLASSES] == [1, 0, 1]
    assert [report.classes[one].checks for one in CLASSES] == [1, 0, 1]
    assert report.levels["core"].failed_by_class == {"loss": 1, "refused": 0, "contract": 1}
    assert report.levels["core"].failed == 1
    note = structs.replace(result.findings[0], severity="note", finding_class="refused")
    assert structs.replace(result, findings=(*result.findings, note)).classes == result.classes


def test_the_report_names_the_class_of_every_finding(tmp_path: Path):
    report = certified(wrong("takes-errors-for-empty-answers"), "response.error-answer-is-an-error")
    written = json.loads(write_reports([report], tmp_path).read_text(encoding="utf-8"))
    assert written["report_version"] == 3
    (one,) = written["reports"]
    found = [finding for result in one["results"] for finding in result.get("findings", ())]
    assert Counter(finding["class"] for finding in found if finding.get("severity", "reject") == "reject") == {
        name: count["findings"] for name, count in one["classes"].items() if count["findings"]
    }
    assert one["levels"]["core"]["demands"] == ["loss", "refused", "contract"]
