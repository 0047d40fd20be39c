"""A report's lines: what they say, and which of them are good or bad news."""

from __future__ import annotations

import pytest
from msgspec import structs

from art_compliance import Report, Selection, certify
from art_compliance.miniatures import find_miniature
from art_compliance.run.lines import Line, as_text
from art_compliance.run.summary import summarize
from art_sdk import OpenAIAdapter

SELECTION = Selection(scenarios=("one-question", "outer-blanks"), checks=("translation.user-text-survives",))


@pytest.fixture(scope="module")
def failed() -> Report:
    return certify(find_miniature("trims-user-text").of(OpenAIAdapter), selection=SELECTION, seed=1, isolated=False)


def styles(report: Report) -> dict[str, str]:
    return {line.text.split()[0]: line.style for line in summarize(report) if line.style != "plain"}


def test_classes_failures_failed_levels_and_the_verdict_are_bad_news(failed: Report):
    assert styles(failed) == {"loss": "bad", "FAIL": "bad", "core": "bad", "NOT": "bad"}


def test_a_finding_that_quotes_a_verdict_is_plain(failed: Report):
    (result,) = failed.failures
    finding = structs.replace(result.findings[0], message="FAIL: NOT certified")
    quoting = structs.replace(failed, results=(structs.replace(result, findings=(finding,)),))
    assert Line("  wrong   FAIL: NOT certified", "plain") in list(summarize(quoting))


def test_a_certificate_is_good_news_and_a_filtered_run_is_no_news():
    filtered = certify(OpenAIAdapter, selection=SELECTION, isolated=False)
    assert styles(filtered) == {}
    assert styles(structs.replace(filtered, is_filtered=False)) == {"certified": "good"}


def test_a_summary_shows_the_law_the_place_and_the_command(failed: Report):
    text = as_text(summarize(failed))
    for part in ("  law     Every user text is in the request once", "  where   prompt $[", "  again   art certify "):
        assert part in text


def test_verbose_shows_every_finding_of_every_failure(failed: Report):
    (result,) = failed.failures
    many = tuple(structs.replace(result.findings[0], message=f"fault {number}") for number in range(9))
    report = structs.replace(failed, results=(structs.replace(result, findings=many),))
    shown = [line.text for line in summarize(report, verbose=True) if line.text.startswith("  wrong   fault")]
    assert shown == [f"  wrong   fault {number}" for number in range(9)]
    assert "6 more findings" in as_text(summarize(report))
