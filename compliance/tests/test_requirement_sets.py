"""Requirement sets: which checks count in a version, and that a released version keeps its own."""

from __future__ import annotations

import hashlib
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import structs

from art_compliance import Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.findings import HarnessError
from art_compliance.miniatures import find_miniature
from art_compliance.resources import data_folder
from art_compliance.run.counts import DEMANDS
from art_compliance.run.lines import as_text
from art_compliance.run.report import Report, make_report
from art_compliance.run.requirement_sets import (
    FOLDER,
    Counting,
    find_sets,
    make_set,
    minor_version,
    set_before,
    set_in_force,
    write_set,
)
from art_compliance.run.summary import describe_counts
from art_sdk import OpenAIAdapter

RELEASED: dict[str, str] = {}
"""The SHA-256 of the set of each released version. A row is added when a version is released, and never changed."""

CHECK = "translation.user-text-survives"


def test_the_sets_of_released_versions_have_not_changed():
    found = {
        version: hashlib.sha256((data_folder("fixtures") / FOLDER / f"{version}.toml").read_bytes()).hexdigest()
        for version, one in find_sets().items()
        if one.released
    }
    assert found == RELEASED


def test_the_newest_set_is_that_of_this_version():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set_in_force().version == minor_version(project["version"])


def test_the_set_of_an_unreleased_version_is_up_to_date():
    found = set_in_force()
    if found.released:
        assert set(found.counted) <= set(CHECKS), "a released version keeps its checks"
    else:
        made = make_set(found.version, set_before(found.version), CHECKS, DEMANDS)
        assert found == made, "run: art requirements --write"


def test_the_first_set_counts_everything_and_the_next_one_all_but_what_is_new():
    first = make_set("0.1", None, ["a", "b"], DEMANDS)
    second = make_set("0.2", first, ["a", "b", "c"], DEMANDS)
    third = make_set("0.3", second, ["b", "c", "d"], DEMANDS)
    assert (first.counted, first.provisional) == (("a", "b"), ())
    assert (second.counted, second.provisional) == (("a", "b"), ("c",))
    assert (third.counted, third.provisional) == (("b", "c"), ("d",))


def test_sets_are_read_in_the_order_of_their_versions_and_a_released_one_is_not_written(tmp_path: Path):
    for version in ("0.10", "0.9", "1.0"):
        made = make_set(version, None, ["a"], DEMANDS)
        assert write_set(made, tmp_path) == tmp_path / f"{version}.toml"
        assert find_sets(tmp_path)[version] == made
    assert list(find_sets(tmp_path)) == ["0.9", "0.10", "1.0"]
    path = tmp_path / "1.0.toml"
    path.write_text(path.read_text().replace("released = false", "released = true"))
    with pytest.raises(HarnessError, match="a released set never changes; raise the minor version first"):
        write_set(make_set("1.0", None, ["a", "b"], DEMANDS), tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("version = ", "is not a requirement set: Invalid value"),
        ('version = "0.1"', "is not a requirement set: Object missing required field `released`"),
        ('version = "0.2"\nreleased = false\nlevels = {}\ncounted = []', "is the set of version '0.2'"),
    ],
)
def test_a_set_that_cannot_be_read_is_named(content: str, message: str, tmp_path: Path):
    (tmp_path / "0.1.toml").write_text(content)
    with pytest.raises(HarnessError, match=message):
        find_sets(tmp_path)


@pytest.mark.parametrize("version", ["0+not-installed", "1", "x.y"])
def test_a_version_that_is_none_is_an_error(version: str):
    with pytest.raises(HarnessError, match="install it"):
        minor_version(version)


@pytest.fixture(scope="module")
def reports() -> tuple[Report, Report]:
    """A run that fails a check which its requirement set does not have, and the same with `preview`."""
    known = set_in_force()
    older = structs.replace(known, counted=tuple(one for one in known.counted if one != CHECK))
    one, other = (
        Selection(checks=(CHECK,), scenarios=("outer-blanks", "one-question"), requirements=older, preview=preview)
        for preview in (False, True)
    )
    make = find_miniature("trims-user-text").of(OpenAIAdapter)
    usual, preview = (certify(make, selection=selection, seed=1, isolated=False) for selection in (one, other))
    return usual, preview


def verdicts(report: Report) -> dict[str, str]:
    return {result.scenario: result.verdict for result in report.results if result.check == CHECK}


def test_a_check_that_is_newer_than_the_set_fails_provisionally(reports: tuple[Report, Report]):
    report, _ = reports
    assert verdicts(report) == {"outer-blanks": "provisional", "one-question": "pass"}
    assert [result.scenario for result in report.provisional] == ["outer-blanks"]
    assert (report.failures, report.is_red, report.is_preview) == ([], False, False)
    assert (report.levels["core"].failed, report.levels["core"].provisional) == (0, 1)
    assert report.levels["core"].is_passed
    text = as_text(describe_counts(report))
    assert f"provisional, newer than the requirement set {report.requirements}: {CHECK}" in text
    assert "0 failed" in text
    assert "(1 provisional)" in text


def test_a_preview_counts_newer_checks(reports: tuple[Report, Report]):
    _, report = reports
    assert verdicts(report) == {"outer-blanks": "fail", "one-question": "pass"}
    assert (report.is_red, report.is_preview, report.levels["core"].provisional) == (True, True, 0)


def test_a_level_that_is_newer_than_the_set_prevents_no_certificate(reports: tuple[Report, Report]):
    report, _ = reports
    older = structs.replace(set_in_force(), levels={"tools": ("loss",)})
    for preview in (False, True):
        again = make_report(
            report.adapter,
            [one for one in report.results if one.verdict == "provisional"],
            rerun=report.rerun,
            counting=Counting(requirements=older, is_preview=preview),
            is_filtered=False,
            started=datetime.now(UTC),
            seconds=1.0,
        )
        assert (again.levels["core"].is_applicable, again.levels["core"].allows_certificate) == (preview, not preview)
