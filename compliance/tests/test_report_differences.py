"""`art diff`: what changed from one report to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from typer.testing import CliRunner

from art_compliance import Report, Selection, certify
from art_compliance.commands import app
from art_compliance.findings import HarnessError, Verdict
from art_compliance.miniatures import find_miniature
from art_compliance.run.differences import compare_reports, describe_differences, is_worse
from art_compliance.run.lines import as_text
from art_compliance.run.reading import read_reports
from art_compliance.run.report import BaselineUse, write_reports
from art_sdk import OpenAIAdapter

CHECK = "translation.user-text-survives"
SELECTION = Selection(
    scenarios=("one-question", "outer-blanks", "trailing-blanks-in-every-role"),
    checks=(CHECK, "wire.request-matches-the-schema"),
)


def named(report: Report, name: str) -> Report:
    return structs.replace(report, adapter=structs.replace(report.adapter, name=name))


@pytest.fixture(scope="module")
def good() -> Report:
    return named(certify(OpenAIAdapter, selection=SELECTION, seed=1, isolated=False), "mine")


@pytest.fixture(scope="module")
def bad() -> Report:
    return named(
        certify(find_miniature("trims-user-text").of(OpenAIAdapter), selection=SELECTION, seed=1, isolated=False),
        "mine",
    )


def without(report: Report, check: str) -> Report:
    return structs.replace(report, results=tuple(one for one in report.results if one.check != check))


def diff(old: Path, new: Path):
    return CliRunner().invoke(app, ("diff", str(old), str(new)))


def test_what_fails_now_and_did_not_is_newly_failing(good: Report, bad: Report):
    found = compare_reports(good, bad)
    assert found.failing == {CHECK: ("outer-blanks", "trailing-blanks-in-every-role")}
    assert (found.failing_new, found.fixed, found.not_judged, found.still) == ({}, {}, {}, {})
    assert found.is_worse


def test_what_failed_and_passes_now_is_fixed(good: Report, bad: Report):
    found = compare_reports(bad, good)
    assert found.fixed == {CHECK: ("outer-blanks", "trailing-blanks-in-every-role")}
    assert not found.is_worse


def test_what_failed_before_still_fails_and_is_not_worse(bad: Report):
    found = compare_reports(bad, bad)
    assert found.still == {CHECK: ("outer-blanks", "trailing-blanks-in-every-role")}
    assert not found.is_worse
    assert "nothing new fails, and nothing was fixed" in as_text(describe_differences({"a": bad}, {"a": bad}))


def excused(report: Report, verdict: Verdict) -> Report:
    """The report, with this verdict for each of its failures."""
    results = tuple(structs.replace(one, verdict=verdict) if one.verdict == "fail" else one for one in report.results)
    return structs.replace(report, results=results)


FAILED = {CHECK: ("outer-blanks", "trailing-blanks-in-every-role")}


@pytest.mark.parametrize("verdict", ["known", "provisional"])
def test_known_and_provisional_failures_make_a_report_no_worse(good: Report, bad: Report, verdict: Verdict):
    known = excused(bad, verdict)
    for before in (good, bad):
        found = compare_reports(before, known)
        assert (found.excused, found.is_worse, found.failing, found.fixed) == (FAILED, False, {}, {})
        assert "failing, but known or provisional now: 2 trials" in as_text(
            describe_differences({"a": before}, {"a": known})
        )
    found = compare_reports(known, known)
    assert (found.excused, found.still, found.is_worse) == ({}, {}, False)


@pytest.mark.parametrize("verdict", ["known", "provisional"])
def test_what_is_no_longer_known_or_provisional_is_worse_and_not_newly_failing(
    good: Report, bad: Report, verdict: Verdict
):
    known = excused(bad, verdict)
    found = compare_reports(known, bad)
    assert (found.counted, found.failing, found.still, found.is_worse) == (FAILED, {}, {}, True)
    assert "failing, no longer known or provisional: 2 trials" in as_text(
        describe_differences({"a": known}, {"a": bad})
    )
    assert compare_reports(known, good).fixed == FAILED


def test_a_baseline_with_new_problems_is_worse(good: Report):
    stale = structs.replace(good, baseline=BaselineUse(file="b", entries=1, problems=("b, entry 1: it passes",)))
    moved = structs.replace(good, baseline=BaselineUse(file="b", entries=2, problems=("b, entry 2: it passes",)))
    assert is_worse({"a": good}, {"a": stale})
    assert not is_worse({"a": stale}, {"a": moved})
    assert is_worse({}, {"a": stale})
    assert "  baseline: b, entry 1: it passes" in as_text(describe_differences({"a": good}, {"a": stale}))


def test_another_requirement_set_is_said(good: Report):
    newer = structs.replace(good, requirements="0.2", is_preview=True)
    text = as_text(describe_differences({"a": good}, {"a": newer}))
    assert "other checks count: requirement set 0.1 before, 0.2 and newer checks now" in text


def test_failures_of_a_new_check_are_listed_apart(good: Report, bad: Report):
    found = compare_reports(without(good, CHECK), bad)
    assert (found.failing, found.failing_new) == ({}, {CHECK: ("outer-blanks", "trailing-blanks-in-every-role")})
    assert found.new_checks == (CHECK,)
    assert found.is_worse


def test_a_failure_that_is_no_longer_judged_is_not_fixed(good: Report, bad: Report):
    found = compare_reports(bad, without(good, CHECK))
    assert found.fixed == {}
    assert found.not_judged == {CHECK: ("one-question", "outer-blanks", "trailing-blanks-in-every-role")}
    assert found.gone_checks == (CHECK,)


def test_adapters_are_paired_by_name_and_new_ones_must_pass(good: Report, bad: Report):
    old, new = (
        {"a": good, "b": good},
        {"a": good, "c": named(bad, "c")},
    )
    text = as_text(describe_differences(old, new))
    assert "mine  (only in the old report)" in text
    assert "c  (only in the new report: 2 failed trials)" in text
    assert is_worse(old, new)
    assert not is_worse(old, {"a": good})


def test_one_report_each_is_compared_whatever_the_name(good: Report, bad: Report):
    text = as_text(describe_differences({"mine": good}, {"fork": named(bad, "fork")}))
    assert text.startswith("mine -> fork  (filtered, suite ")
    assert f"newly failing: 2 trials of 1 check\n    {CHECK}  on outer-blanks, trailing-blanks-in-every-role" in text


def test_many_scenarios_are_counted_and_other_data_is_said(good: Report):
    results = tuple(
        structs.replace(one, scenario=f"{one.scenario}-{number}", verdict="fail")
        for number in range(3)
        for one in good.results
    )
    many = structs.replace(good, results=results, fixtures_digest="sha256:other")
    text = as_text(describe_differences({"a": good}, {"a": many}))
    assert f"    {CHECK}  on one-question-0, outer-blanks-0, trailing-blanks-in-every-role-0 and 6 more" in text
    assert "judged by different data" in text


def test_the_command_reads_what_certify_wrote(good: Report, bad: Report, tmp_path: Path):
    write_reports([good], tmp_path / "old")
    file = write_reports([bad], tmp_path / "new")
    worse, better = diff(tmp_path / "old", file), diff(file, tmp_path / "old")
    assert (worse.exit_code, better.exit_code) == (1, 0)
    assert "newly failing: 2 trials of 1 check" in worse.output
    assert "fixed: 2 trials of 1 check" in better.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read"),
        (b"", "is not a report of art certify: Input data was truncated"),
        (b"[1]", "is not a report of art certify: Expected `object`"),
        (b"[" * 100_000, "is not a report of art certify"),
        (b'{"report_version": 1, "reports": []}', "is a report of version 1, and this suite reads version 3"),
        (b'{"report_version": 3, "reports": [{}]}', "is a damaged report: Object missing required field `adapter`"),
    ],
    ids=["missing", "empty", "a list", "deep", "another version", "damaged"],
)
def test_a_file_that_is_no_report_is_one_sentence(content: bytes | None, message: str, tmp_path: Path):
    path = tmp_path / "report.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(HarnessError) as raised:
        read_reports(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)
