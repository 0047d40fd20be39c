"""A failing report fits a terminal, whatever fails: grouped by cause, the worst class first."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from itertools import cycle, islice
from typing import Any

import pytest
from msgspec import structs
from rich.cells import cell_len

from art_compliance import Report, Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.findings import CLASSES, Finding, FindingClass
from art_compliance.run.brief import describe_in_brief
from art_compliance.run.causes import find_causes, shape_of
from art_compliance.run.lines import Line, as_text
from art_compliance.run.report import make_report
from art_compliance.run.results import Result
from art_compliance.run.summary import LONGEST, summarize
from art_sdk import OpenAIAdapter

STARTED = datetime(2027, 1, 1, tzinfo=UTC)
WIDTHS = (None, 200, 120, 80, 60, 40)


@pytest.fixture(scope="module")
def report() -> Report:
    return certify(
        OpenAIAdapter,
        selection=Selection(scenarios=("one-question",), checks=("translation.is-total",)),
        isolated=False,
    )


def failing(report: Report, results: list[Result]) -> Report:
    """The report with these results instead, counted anew."""
    return make_report(
        report.adapter,
        results,
        rerun=report.rerun,
        counting=Selection().counting,
        is_filtered=False,
        started=STARTED,
        seconds=1,
    )


def result(check: str, scenario: str, *findings: Finding, **fields: Any) -> Result:
    given = {"purpose": "For a test.", "level": "core", "verdict": "fail", "findings": findings, **fields}
    return Result(check=check, scenario=scenario, **given)


def finding(check: str, message: str, finding_class: FindingClass | None = None) -> Finding:
    return Finding(check=check, finding_class=finding_class or CHECKS[check].finding_class, message=message)


def rows_of(lines: list[Line], width: int | None) -> int:
    """As a terminal wraps them."""
    return sum(-(-max(cell_len(row), 1) // (width or 10_000)) for line in lines for row in line.text.split("\n"))


MESSAGES = (
    "the text 'Ärger mit \\'Umlauten\\' und 你好' is lost",
    'the arguments changed: expected {"a": 1}, found {"b": [2]}, from character 3 on',
    "it raised KeyError: 'name',\n  at calls.py:71 in <lambda>",
    "unknown field 'x'; known fields: " + ", ".join(f"field_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
    "call_7f3a comes before call_81 at /messages/3/content",
)


@pytest.fixture(scope="module")
def broken(report: Report) -> Report:
    """3,700 results fail, by every check there is."""
    checks = islice(cycle(CHECKS), 3700)
    wrong = (
        result(check, f"scenario-{n}", finding(check, MESSAGES[n % len(MESSAGES)]), finding(check, "一" * 500))
        for n, check in enumerate(checks)
    )
    return failing(report, list(wrong))


@pytest.mark.unmeasured
@pytest.mark.once
@pytest.mark.parametrize("width", WIDTHS)
def test_the_summary_of_a_broken_adapter_fits_a_terminal_of_any_width(broken: Report, width: int | None):
    lines = list(summarize(broken, width=width))
    assert rows_of(lines, width) <= LONGEST
    text = as_text(lines)
    for one, name in CLASSES.items():
        assert f"{name}: {broken.classes[one].findings:,} findings" in text
    assert text.count("more causes; report.json has all of them") == len(CLASSES)
    assert f"{len(CHECKS)} of {len(CHECKS)} checks failed, in 3,700 trials" in text
    assert text.count("FAIL ") > 3


def test_each_example_has_a_whole_command_that_runs_it_again(broken: Report):
    lines = [line.text for line in summarize(broken, width=80)]
    commands = [shlex.split(line.removeprefix("  again   ")) for line in lines if line.startswith("  again ")]
    shown = [line.split()[1].rstrip(":") for line in lines if line.startswith("FAIL ")]
    assert [command[command.index("--check") + 1] for command in commands] == shown
    assert all(command[-2] == "--scenario" and command[-1].startswith("scenario-") for command in commands)


def test_some_causes_of_each_class_are_shown_and_those_of_the_first_class_lead(broken: Report):
    shown = [CHECKS[line.text.split()[1].rstrip(":")] for line in summarize(broken) if line.text.startswith("FAIL ")]
    classes = [one.finding_class for one in shown]
    assert classes == sorted(classes, key=list(CLASSES).index)
    assert classes.count("loss") > classes.count("contract") >= 2
    assert classes.count("refused") >= 2


def test_one_check_does_not_hide_the_others():
    check, other = "translation.user-text-survives", "translation.images-survive"
    many = [result(check, f"s{n}", finding(check, f"fault {'abcdefgh'[n % 8] * 3}")) for n in range(80)]
    causes = find_causes([*many, result(other, "s", finding(other, "the image is lost"))])["loss"]
    assert [one.results[0].check for one in causes[:4]] == [check, check, other, check]
    assert [one.is_further for one in causes[:4]] == [False, False, False, True]


def test_findings_of_one_cause_are_counted_and_shown_once(report: Report):
    check = "translation.user-text-survives"
    wrong = [
        result(check, f"s{n}", *(finding(check, f"the user text 'text {n}{m}' is lost") for m in "ab"))
        for n in range(500)
    ]
    text = as_text(describe_in_brief(failing(report, wrong), rows=20, width=80, rest="there is more"))
    assert "FAIL translation.user-text-survives: 1,000 findings in 500 scenarios" in text
    assert text.count("  again ") == 1
    assert "more cause" not in text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the text 'a' is lost", "the text 'b \\' c' is lost"),
        ("the id call_1 is lost", "the id call_2b is lost"),
        ("wrong at /messages/1/content", "wrong at /messages/22/content"),
        ("temperature = 0.25 is missing", "temperature = 1 is missing"),
        ("the arguments of 'a' are missing: {}", "the arguments of 'b' are missing: {'q': [1]}"),
        ("expected image/png 'a'", "expected image/gif 'b'"),
    ],
)
def test_messages_that_quote_different_things_have_one_shape(one: str, other: str):
    assert shape_of(one) == shape_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the user text 'a' is lost", "the user text 'a' changed"),
        ("openai.tool-name-pattern: the name 'a'", "openai.tools-nonempty: the name 'a'"),
        ("the provider's field is lost", "the provider's words are lost"),
        ("KeyError: 'a'", "TypeError: 'a'"),
    ],
)
def test_messages_of_different_causes_have_different_shapes(one: str, other: str):
    assert shape_of(one) != shape_of(other)


def test_a_short_report_shows_its_failures_in_full(report: Report):
    check = "translation.user-text-survives"
    text = as_text(summarize(failing(report, [result(check, "s", finding(check, "the user text is lost"))]), width=80))
    assert f"  law     {CHECKS[check].clause}" in text
    assert text.startswith("loss or corruption: 1 finding\nFAIL translation.user-text-survives\n")


def test_notes_are_not_shown_as_wrong(report: Report):
    check = "wire.no-rule-is-broken"
    note = structs.replace(finding(check, "it is ignored"), severity="ignored")
    text = as_text(summarize(failing(report, [result(check, "s", note, finding(check, "it is refused"))])))
    assert "  wrong   it is refused" in text
    assert "it is ignored" not in text


def test_hundreds_of_harness_errors_fit_too_and_come_first(report: Report):
    trace = "Traceback (most recent call last):\n" + '  File "suite.py", line 3, in look\n' * 40 + "TypeError: no {}\n"
    errors = [
        result(check, f"s{n}", verdict="harness error", reason=trace.format(n))
        for n, check in enumerate(islice(cycle(CHECKS), 400))
    ]
    lines = list(summarize(failing(report, errors), width=80))
    assert rows_of(lines, 80) <= LONGEST
    assert lines[0].text == "the suite could not do its work: 400 trials"
    assert "  wrong   TypeError: no 0 (on s0)" in as_text(lines)


def test_verbose_shows_every_failure_in_full(broken: Report):
    assert sum(line.text.startswith("  law ") for line in summarize(broken, verbose=True)) == 3700
