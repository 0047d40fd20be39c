"""An adapter in its own process cannot stop the suite, fool it or keep it waiting."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

import rude_adapters
from art_compliance import Report, Selection, certify
from art_compliance.commands import app
from art_compliance.generating.processes import digests_in_other_processes
from art_compliance.subject.opening import open_subject
from art_sdk import GeminiAdapter, OpenAIAdapter
from rude_adapters import STOPPING

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

CHECKS = Selection(
    checks=(
        "translation.is-total",
        "translation.sends-what-it-translates",
        "wire.no-rule-is-broken",
        "response.answer-is-read",
    ),
    scenarios=("one-question", "answer-text", "parallel-calls"),
)
SOON = 60.0
"""Seconds within which any of these runs must end, also on a busy machine."""


def judged(make: Callable[..., Any] | str, **more: Any) -> Report:
    """A short run, in which a call may take two seconds."""
    return certify(make, selection=CHECKS, seed=1, call_seconds=2.0, **more)


def messages(report: Report) -> str:
    return "\n".join(finding.message for result in report.failures for finding in result.findings)


@pytest.mark.parametrize("make", STOPPING)
def test_an_adapter_that_stops_the_suite_is_stopped_itself(make: Callable[..., Any]):
    began = time.monotonic()
    report = judged(make)
    assert time.monotonic() - began < SOON
    assert report.in_process is None
    assert report.failures
    assert report.results[0].verdict == "pass"  # what was judged before is there
    assert not report.is_certified
    assert STOPPING[make] in messages(report)
    assert "planned trials were not run" in str(report.stopped)


@pytest.mark.parametrize(
    "make",
    [rude_adapters.RaisesWhatIsNoException, rude_adapters.Nests, rude_adapters.Patches, rude_adapters.StopsTheLoop],
)
def test_an_adapter_that_misbehaves_is_judged_to_the_end(make: Callable[..., Any]):
    report = judged(make)
    assert report.failures or report.harness_errors
    assert "Traceback" not in str([result.reason for result in report.results])
    assert report.stopped is None


def test_an_adapter_that_fills_the_disk_is_ended():
    report = judged(rude_adapters.WritesWithoutEnd)
    assert "its process wrote more than 100 MB to its standard output or error" in messages(report)


@pytest.mark.parametrize("make", [rude_adapters.AlwaysRaisesWhatIsNoException, rude_adapters.Nests])
def test_an_adapter_that_misbehaves_from_the_first_call_on_has_failed(make: Callable[..., Any]):
    report = judged(make)
    assert ([one.verdict for one in report.results], report.harness_errors) == (["fail"], [])


PATCHES_AT_IMPORT = """
from rude_adapters import Patches

Imported = Patches
Patches(api_key="k", base_url="http://127.0.0.1:9", model=None)
"""


def test_what_a_module_does_when_it_is_imported_does_not_reach_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "rude_at_import.py").write_text(PATCHES_AT_IMPORT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert judged("rude_at_import:Imported").failures
    assert "rude_at_import" not in sys.modules


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os; os._exit(0)", "its process ended with exit code 0"),
        ("raise SystemExit(0)", "importing 'never' raised SystemExit: 0"),
        ("def Made(**_): raise SystemExit(0)", "it tried to exit the program: SystemExit: 0"),
    ],
)
def test_an_adapter_that_exits_before_it_is_made_has_failed(
    code: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "never.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    report = judged("never:Made")
    assert (report.adapter.kind, report.is_certified) == ("not made", False)
    assert messages(report) == f"never:Made: the adapter could not be created: {why}"
    assert str(report.stopped).endswith("planned trials were not run")


def test_a_good_adapter_passes_in_a_process_of_its_own_as_in_this_one():
    apart, here = (certify(GeminiAdapter, isolated=way, selection=CHECKS, seed=1) for way in (True, False))
    assert [(one.check, one.scenario, one.verdict) for one in apart.results] == [
        (one.check, one.scenario, one.verdict) for one in here.results
    ]
    assert apart.failures == []
    assert (apart.in_process, here.in_process) == (None, "no separate process was requested")


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (rude_adapters.LeavesAProcess, ["processes that it started are still there"]),
        (rude_adapters.LeavesADaemon, ["processes that it started are still there"] if sys.platform == "linux" else []),
        (rude_adapters.LeavesAThread, ["its process does not end after the adapter was closed"]),
        (OpenAIAdapter, []),
    ],
)
def test_what_an_adapter_leaves_behind_is_ended_and_named(make: Callable[..., Any], left: list[str]):
    with open_subject(make, name="leaves", isolated=True) as subject:
        assert subject.leave() == left
        assert subject.leave() == []
        assert "threads" in subject.use("count_open")  # it is made again
        assert subject.stops == []


def test_what_stays_behind_at_the_end_fails_a_check():
    selection = Selection(checks=("load.nothing-stays-behind",))
    report = certify(rude_adapters.LeavesAtImport, selection=selection, seed=1)
    assert messages(report) == "when the adapter is closed, processes that it started are still there"


def test_a_process_that_answers_twice_is_ended():
    ends = time.monotonic() + SOON
    with open_subject(rude_adapters.Forks, name="forks", isolated=True) as subject:
        while not subject.stops and time.monotonic() < ends:
            subject.translate([{"role": "user", "content": "hello"}], {"thread_id": "t"})
        assert "an answer to a message other than the last one" in subject.stops[0]


def test_an_adapter_that_no_other_process_can_make_is_judged_in_this_one():
    report = judged(lambda **settings: OpenAIAdapter(retries=0, **settings))
    assert str(report.in_process).startswith("its factory cannot be pickled for another process: ")
    assert report.failures == []


def test_a_run_ends_when_its_time_is_up():
    report = judged(OpenAIAdapter, seconds=0.0)
    assert str(report.stopped).startswith("the run's time is up; ")
    assert not report.is_certified


def test_a_run_ends_in_the_middle_of_a_check_when_its_time_is_up():
    selection = Selection(checks=("response.answer-is-read", "translation.options-survive-together"))
    began = time.monotonic()
    report = certify(rude_adapters.TakesItsTime, selection=selection, seed=1, seconds=6.0)
    assert time.monotonic() - began < SOON / 2
    assert str(report.stopped).startswith("the run's time is up; ")
    assert {one.verdict for one in report.results} == {"pass"}


def test_an_adapter_that_hangs_in_this_process_is_given_up():
    began = time.monotonic()
    report = judged(rude_adapters.Hangs, isolated=False)
    assert time.monotonic() - began < SOON
    assert "not for the first time" in str(report.stopped)
    assert report.failures


def test_an_adapter_that_reads_the_greeting_wrongly_has_failed():
    report = judged(rude_adapters.SaysSomethingElse)
    assert [(one.check, one.verdict) for one in report.failures] == [("preflight.answer-is-read", "fail")]
    assert 'got "something else" after' in messages(report)


def test_the_command_reports_what_was_judged_and_exits_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    options = ("--check", "response.answer-is-read", "--profile", "quick")
    result = CliRunner().invoke(app, ["certify", "rude_adapters:Ends", *options])
    assert result.exit_code == 1, result.output
    assert "stopped: its process ended with exit code 0" in " ".join(result.output.split())
    (report,) = msgspec.json.decode((tmp_path / "art-report" / "report.json").read_bytes())["reports"]
    assert report["results"][0]["verdict"] == "pass"


def test_an_adapter_that_hangs_at_the_exit_of_another_process_is_not_waited_for():
    with open_subject(rude_adapters.HangsAtExit, name="hangs", isolated=True) as subject:
        began = time.monotonic()
        digests = digests_in_other_processes(subject, [([{"role": "user", "content": "hello"}], {"thread_id": "t"})])
        assert len(set(digests[0])) == 1
        assert time.monotonic() - began < SOON
