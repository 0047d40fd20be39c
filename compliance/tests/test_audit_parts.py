"""`art audit` in parts: cut anywhere, read by many processes, killed and gone on with, the report is the same."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from art_compliance.auditing.finding import source_of
from art_compliance.auditing.keeping import NAME, Keeper, Kept
from art_compliance.auditing.lines import lines_of
from art_compliance.auditing.plan import Part, Plan
from art_compliance.auditing.processes import in_processes
from art_compliance.auditing.reading import Read
from art_compliance.auditing.report import report_of
from art_compliance.auditing.running import Audit, read_here
from art_compliance.auditing.settings import Settings
from art_compliance.commands import app
from art_compliance.commands.audit_progress import Meter, lines
from test_audit import ANTHROPIC, AT_ANTHROPIC, AT_OPENAI, GOOD_LINE, OPENAI, WRONG_LINE, record, write_lines


def some_lines(count: int) -> Iterator[object]:
    """Requests with all that a merge could get wrong: more examples than are kept, times out of order, bad lines."""
    for number in range(count):
        body = {**OPENAI, "temperature": 7, "model": f"gpt-4.1-{number % 3}"} if number % 5 == 0 else ANTHROPIC
        url, status = (AT_OPENAI, 400) if number % 5 == 0 else (AT_ANTHROPIC, 200)
        yield record(url, body, status, None, time=1_795_000_000 + (number * 7919) % 400_000, client=f"é{number % 7}")
        if number % 11 == 0:
            yield "{broken"
        if number % 13 == 0:
            yield ""


def plan_of(path: str, parts: int) -> Plan:
    source = source_of(path)
    return Plan(Settings(), (source,), -(-source.size // parts))


def run(audit: Audit, folder: Path, engine: Any = read_here) -> bytes:
    audit.run(engine, Keeper(folder, "1"), lambda _: None)
    return msgspec.json.encode(report_of(audit, "1"))


@pytest.mark.parametrize("parts", [2, 8, 97])
def test_the_report_is_the_same_however_the_file_is_cut(parts: int, tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", *some_lines(120))
    whole = run(Audit(plan_of(file, 1)), tmp_path)
    assert json.loads(whole)["total"]["requests"] == 120
    assert json.loads(whole)["rules"][0]["first"][1]["line"] == 8
    assert json.loads(whole)["clock"]["back"] > 0
    cut = plan_of(file, parts)
    backwards = sorted(cut.parts(), key=lambda part: -part.start)
    with_repeats = [*backwards, *backwards[:3]]
    assert run(Audit(cut), tmp_path, lambda plan, _: read_here(plan, with_repeats)) == whole


@pytest.mark.parametrize("longest", [100, 7])
def test_every_line_belongs_to_one_range_of_bytes(longest: int):
    text = b"one\n\ntwo two two two two\r\nthree\nno end"
    whole = list(lines_of(BytesIO(text), 0, len(text), longest))
    assert whole[0] == b"one\n"
    assert (None in whole, len(whole)) == (longest == 7, 5)
    for cuts in itertools.combinations(range(1, len(text)), 2):
        edges = [0, *cuts, len(text)]
        ranges = itertools.pairwise(edges)
        assert [line for one in ranges for line in lines_of(BytesIO(text), *one, longest)] == whole


def interrupted(plan: Plan, parts: Iterable[Part]) -> Iterator[Read]:
    yield from itertools.islice(read_here(plan, parts), 3)
    raise KeyboardInterrupt


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", *some_lines(120))
    whole = run(Audit(plan_of(file, 1)), tmp_path)
    plan = plan_of(file, 8)
    with pytest.raises(KeyboardInterrupt):
        run(Audit(plan), tmp_path, interrupted)
    kept = Keeper(tmp_path, "1").load()
    assert isinstance(kept, Kept)
    again = Audit(kept.plan, kept)
    assert (len(again.left), again.is_whole) == (5, False)
    assert report_of(again, "1").is_whole is False
    assert run(again, tmp_path) == whole
    assert "another version of the suite" in str(Keeper(tmp_path, "2").load())


def test_a_process_that_is_killed_is_replaced_and_what_it_read_is_read_again(tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", *some_lines(60))
    whole = run(Audit(plan_of(file, 1)), tmp_path)

    def killing(plan: Plan, parts: Iterable[Part]) -> Iterator[Read]:
        for number, read in enumerate(in_processes(2)(plan, parts)):
            if number == 1:
                victim = multiprocessing.active_children()[0]
                assert victim.pid is not None
                os.kill(victim.pid, 9)
            yield read

    assert run(Audit(plan_of(file, 8)), tmp_path, killing) == whole
    assert multiprocessing.active_children() == []


def test_a_part_that_kills_its_process_is_given_up_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE, WRONG_LINE)
    monkeypatch.setattr("art_compliance.auditing.processes.work", _die)
    monkeypatch.setattr("art_compliance.auditing.processes.TRIES", 1)
    audit = Audit(plan_of(file, 1))
    report = json.loads(run(audit, tmp_path, in_processes(1)))
    (problem,) = report["files"][0]["problems"]
    assert ("ended its process, 1 times (exit code 3)" in problem, report["is_whole"]) == (True, False)


def _die(connection: Any, plan: Plan) -> None:
    del plan
    connection.recv_bytes()
    os._exit(3)


def test_a_file_that_changes_while_it_is_read_is_said_and_what_was_read_is_counted(tmp_path: Path):
    for change, words in (
        (lambda path: path.write_text(path.read_text() + "more\n"), "it grew while it was read: only its first"),
        (lambda path: path.write_text(path.read_text()[:200]), "it shrank while it was read"),
        (lambda path: os.utime(path, ns=(0, 0)), "it was changed while it was read"),
        (lambda path: path.unlink(), "No such file or directory"),
    ):
        file = write_lines(tmp_path / "a.jsonl", *some_lines(20))
        audit = Audit(plan_of(file, 4))
        first, *rest = audit.left
        audit.add(next(read_here(audit.plan, [first])))
        change(Path(file))
        for read in read_here(audit.plan, rest):
            audit.add(read)
        report = report_of(audit, "1")
        assert [words in problem for problem in report.problems] == [True]
        assert report.total.requests >= 3


def audit_command(folder: Path, *arguments: str):
    return CliRunner().invoke(app, ["audit", *arguments, "--out", str(folder / "out"), "--jobs", "1", "-q"])


def test_the_command_goes_on_unless_files_or_options_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = write_lines(tmp_path / "a.jsonl", *some_lines(30))
    other = write_lines(tmp_path / "b.jsonl", GOOD_LINE)
    monkeypatch.setattr("art_compliance.commands.audits.part_bytes_for", lambda *_: 1000)
    monkeypatch.setattr("art_compliance.commands.audits.read_here", interrupted)
    stopped = audit_command(tmp_path, file)
    assert (stopped.exit_code, "not everything was read" in stopped.output) == (130, True)
    state = (tmp_path / "out" / NAME).read_bytes()
    monkeypatch.setattr("art_compliance.commands.audits.read_here", read_here)
    assert "resuming at" in audit_command(tmp_path, file).output
    assert not (tmp_path / "out" / NAME).exists()
    for options, words in (
        ((file, "--show-text"), "its options differ"),
        ((file, other), "its files differ"),
        ((file,), f"{file} was changed since"),
    ):
        (tmp_path / "out" / NAME).write_bytes(state)
        if len(options) == 1:
            os.utime(file, ns=(0, 0))
        assert f"not resuming the previous run: {words}" in audit_command(tmp_path, *options).output


def test_an_unwritable_folder_is_said_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr("art_compliance.commands.audits.read_here")
    (tmp_path / "out").write_text("a file")
    result = audit_command(tmp_path, write_lines(tmp_path / "a.jsonl", GOOD_LINE))
    assert (
        result.exit_code,
        f"cannot write into {tmp_path / 'out'}: it is a file, and must be a folder" in result.stderr,
    ) == (2, True)


def test_a_state_that_is_cut_off_is_said_and_not_used(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / NAME).write_bytes(b"\x84")
    result = audit_command(tmp_path, write_lines(tmp_path / "a.jsonl", GOOD_LINE))
    assert (result.exit_code, "audit.state is damaged" in result.output) == (0, True)


def test_the_rate_and_the_time_left_are_those_of_this_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = write_lines(tmp_path / "a.jsonl", *some_lines(40))
    audit = Audit(plan_of(file, 4))
    parts = list(read_here(audit.plan, audit.left))
    audit.add(parts[0])
    now = [0.0]
    meter = Meter(audit, lambda: now[0])
    show = lines(meter)
    before = audit.tally.total.requests
    now[0] = 20.0
    audit.add(parts[1])
    show(audit)
    show(audit)
    rate = (audit.tally.total.requests - before) / 20
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{rate:,.0f} a second" in line
    assert (line.startswith("50%: "), line.endswith("about 40 s left")) == (True, True)
