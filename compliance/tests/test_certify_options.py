"""What is run and shown by a certification: parts, the first failure, an interrupted run, and the progress."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from art_compliance import HarnessError, Report, Selection, certify
from art_compliance.commands import app
from art_compliance.commands.progress import Lines, Meter, State, showing
from art_compliance.miniatures import find_miniature
from art_compliance.run.results import Result
from art_compliance.run.session import Session
from art_compliance.scenarios import Level
from art_compliance.subject.opening import open_subject
from art_sdk import OpenAIAdapter

CHECK = "translation.user-text-survives"
SCENARIOS = ("one-question", "outer-blanks", "parallel-calls")


def certified(**selected: object) -> Report:
    """The report on an adapter that trims user texts: it fails the check on the second scenario."""
    wanted = Selection(
        **{"checks": (CHECK, "translation.is-total", "wire.no-rule-is-broken"), "scenarios": SCENARIOS, **selected}
    )
    return certify(find_miniature("trims-user-text").of(OpenAIAdapter), selection=wanted, seed=1, isolated=False)


def test_a_skipped_check_is_not_run_and_nothing_is_certified_without_it():
    selection = Selection(skipped=(CHECK,))
    assert CHECK not in {check.id for check, _ in selection.plan()}
    assert len({check.id for check, _ in selection.plan()}) == len({check.id for check, _ in Selection().plan()}) - 1
    assert not selection.is_whole
    report = certified(skipped=("translation.is-total",))
    assert (report.is_filtered, {result.check for result in report.failures}) == (True, {CHECK})


@pytest.mark.parametrize("level", [level for level in get_args(Level) if level not in ("replay", "live")])
def test_a_level_is_run_alone_behind_preflight(level: Level):
    selection = Selection(levels=(level,))
    plan = [(check, scenario) for check, scenario in selection.plan() if not check.stage.stops_the_run]
    whole = [trial for trial in Selection().plan() if not trial[0].stage.stops_the_run]
    assert plan == [(check, scenario) for check, scenario in whole if check.level(scenario) == level]
    assert len(plan) > 0
    assert not selection.is_whole


def test_an_unknown_level_or_skipped_check_gets_suggestions():
    with pytest.raises(HarnessError, match="there is no level 'tool'; did you mean tools"):
        Selection(levels=("tool",)).plan()
    with pytest.raises(HarnessError, match="there is no level 'x'; levels: core, tools"):
        Selection(levels=("x",)).plan()
    with pytest.raises(HarnessError, match=f"there is no check '{CHECK}s'; did you mean {CHECK}"):
        Selection(skipped=(f"{CHECK}s",)).plan()


def test_the_first_failure_ends_a_run_that_is_to_end_there():
    report, whole = certified(fail_fast=True), certified()
    number = next(n for n, result in enumerate(whole.results, 1) if result.verdict == "fail")
    left = len(whole.results) - number
    assert [one.verdict for one in report.results] == [one.verdict for one in whole.results[:number]]
    assert report.stopped == f"the first failure ends the run; {left:,} planned trials were not run"
    assert whole.stopped is None


def test_an_interrupted_run_has_a_report_that_certifies_nothing():
    seen: list[Result] = []

    def interrupt(result: Result, number: int, total: int) -> None:
        seen.append(result)
        if number == 3:
            raise KeyboardInterrupt

    report = certify(OpenAIAdapter, seed=1, isolated=False, on_result=interrupt)
    assert report.results == tuple(seen)
    assert report.stopped is not None
    assert report.stopped.startswith("interrupted; ")
    assert not report.is_certified


INTERRUPTING = """
import os, signal
from art_sdk import OpenAIAdapter

class Mine(OpenAIAdapter):
    def translate(self, prompt, options):
        if len(prompt) > 2:
            os.kill(os.getppid(), signal.SIGINT)
        return super().translate(prompt, options)
"""


@pytest.mark.once
@pytest.mark.unmeasured
def test_ctrl_c_leaves_a_report_and_the_exit_code_of_shells(tmp_path: Path):
    (tmp_path / "mine.py").write_text(INTERRUPTING)
    restored = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # shells ignore it in background
    )
    command = f"{restored}; from art_compliance.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "certify", "mine:Mine"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 130, done.stdout + done.stderr
    assert "NOT certified: the run was not complete" in done.stdout
    assert "Traceback" not in done.stderr
    (report,) = json.loads((tmp_path / "art-report" / "report.json").read_text(encoding="utf-8"))["reports"]
    assert report["stopped"].startswith("interrupted; ")
    assert report["is_certified"] is False


@pytest.fixture
def art(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_quiet_shows_one_line_per_adapter(art):
    one = ("--in-process", "--check", "translation.is-total", "--scenario", "one-question")
    assert art("certify", "openai", "gemini", "--quiet", *one).output.splitlines() == [
        "openai: nothing failed; a filtered run never certifies",
        "gemini: nothing failed; a filtered run never certifies",
    ]
    assert "--quiet and --verbose contradict each other" in art("certify", "openai", "-q", "-v").output


def results_of_few() -> tuple[Selection, list[Result]]:
    selection = Selection(checks=(CHECK,), scenarios=SCENARIOS)
    with open_subject(find_miniature("trims-user-text").of(OpenAIAdapter), name="a", isolated=False) as subject:
        session = Session(subject, 1)
        return selection, [session.run(*trial) for trial in selection.plan()]


def test_the_progress_counts_failures_and_reaches_its_end():
    states: list[State] = []
    selection, results = results_of_few()
    meter = Meter(selection, states.append)
    for number, result in enumerate(results, 1):
        meter(result, number, len(results))
    assert [state.failed for state in states] == [0, 0, 0, 0, 1]
    shares = [state.share for state in states]
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize(
    ("share", "seconds", "left"),
    [(0.01, 5.0, ""), (0.25, 5.0, "about 15 s left"), (0.5, 600.0, "about 10 min left"), (1.0, 5.0, "")],
)
def test_the_time_left_is_shown_once_it_can_be_estimated(share: float, seconds: float, left: str):
    assert State("a.check", 0, share, seconds).left == left


def test_without_a_terminal_a_line_is_printed_every_ten_seconds(capsys: pytest.CaptureFixture[str]):
    now = iter(range(0, 1000, 2))
    lines = Lines(clock=lambda: next(now))
    for number in range(1, 11):
        lines.show("one", State("a.check", 2, number / 20, number))
        lines.show("two", State("a.check", 0, 0.01, number))
    printed = capsys.readouterr().err.splitlines()
    assert 2 <= len(printed) <= 5
    assert printed[0].startswith("one: ")
    assert printed[-1] == "one: 50%, 2 failed, about 10 s left; two: 1%, 0 failed"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_with_failures_and_the_time_left(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    with showing(is_quiet=False) as show:
        show("mine", State("wire.no-rule-is-broken", 3, 0.5, 20.0))
    for part in ("mine", "50%", "3 failed", "about 20 s left", "wire.no-rule-is-broken"):
        assert part in terminal.getvalue()
