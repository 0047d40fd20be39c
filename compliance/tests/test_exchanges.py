"""What a finding says of the wire: the request and the answer that it was found on, without keys."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from art_compliance import HarnessError, Report, Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.checks.additions import NEW_REASON
from art_compliance.findings import WireExchange
from art_compliance.miniatures import find_miniature
from art_compliance.run.failing import describe_failure
from art_compliance.run.lines import as_text
from art_compliance.run.report import write_reports
from art_compliance.run.reproducing import remove_repros, write_repros
from art_compliance.run.results import Result
from art_compliance.run.session import Session
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.opening import open_subject
from art_sdk import AnthropicAdapter, ErrorEvent, OpenAIAdapter
from trials import run_check, suite_scenario

READ = "response.text-is-whole"
SCENARIO = suite_scenario("answer-text")
NAMES = {"prompt.json", "payload.json", "exchange.txt", "expectation.txt", "reproduce.py"}


def exchange_of(result: Result) -> WireExchange:
    (exchange,) = (finding.exchange for finding in result.findings if finding.exchange)
    return exchange


def repeats_itself(make: Callable[..., object]) -> Callable[..., object]:
    return find_miniature("repeats-the-text-at-the-end").of(make)


@pytest.fixture(scope="module")
def report() -> Report:
    selection = Selection(checks=(READ,), scenarios=(SCENARIO.id,))
    return certify(repeats_itself(OpenAIAdapter), selection=selection, seed=1, isolated=False)


def test_a_finding_has_the_request_and_the_answer_it_was_found_on(report: Report):
    (failed,) = report.failures
    exchange = exchange_of(failed)
    assert (exchange.method, exchange.url, exchange.status) == ("POST", "/v1/chat/completions", 200)
    assert json.loads(exchange.body)["messages"] == SCENARIO.prompt
    assert exchange.body_bytes == len(exchange.body.encode())
    assert exchange.content_type == "application/json"
    assert SCENARIO.answer is not None
    assert json.dumps(SCENARIO.answer.content)[1:-1] in exchange.answer


def test_a_check_that_asks_again_shows_what_it_asked_last():
    check = "stream.unknown-finish-is-other"
    make = find_miniature("takes-new-ends-for-stop").of(OpenAIAdapter)
    (failed,) = certify(make, selection=Selection(checks=(check,)), seed=1, isolated=False).failures
    assert NEW_REASON in exchange_of(failed).answer


@pytest.mark.parametrize(("make", "header"), [(OpenAIAdapter, "authorization"), (AnthropicAdapter, "x-api-key")])
def test_no_exchange_shows_a_key(make: type, header: str):
    exchange = exchange_of(run_check(READ, repeats_itself(make), SCENARIO))
    assert exchange.headers[header] == "(hidden)"
    assert "content-type" in exchange.headers
    assert TEST_KEY not in str(exchange)


def test_a_check_that_looks_at_what_another_one_saw_shows_the_same_exchange():
    """The reply is made once per trial; other calls came after it."""
    with open_subject(repeats_itself(OpenAIAdapter), name="mine") as subject:
        session = Session(subject, seed=1)
        session.run(CHECKS["response.answer-is-read"], SCENARIO)
        subject.send([{"role": "user", "content": "something else"}], {"thread_id": "t"})
        result = session.run(CHECKS[READ], SCENARIO)
    assert json.loads(exchange_of(result).body)["messages"] == SCENARIO.prompt


class RaisesOnOtherBytes(OpenAIAdapter):
    """An answer that is not HTTP becomes an exception."""

    async def call(self, prompt: Any, options: Any) -> AsyncIterator[Any]:
        async for event in super().call(prompt, options):
            if isinstance(event, ErrorEvent) and "illegal" in str(event.error.__cause__):
                raise RuntimeError(str(event.error))
            yield event


def test_a_fault_among_many_shows_the_exchange_with_this_fault():
    """All faults are tried before the first is judged."""
    result = run_check("faults.become-errors", RaisesOnOtherBytes)
    shown = [finding.exchange for finding in result.findings if "not-http" in finding.message]
    assert shown
    assert {(one.status, one.answer) for one in shown if one} == {(None, "\x15\x03\x01\x00\x02\x02F")}


def test_the_terminal_shows_bytes_that_are_not_http(report: Report):
    (failed,) = report.failures
    exchange = structs.replace(exchange_of(failed), status=None, content_type="", answer="\\x15\\x03")
    shown = structs.replace(failed, findings=(structs.replace(failed.findings[0], exchange=exchange),))
    assert r"  got     bytes that are not HTTP: \x15\x03" in as_text(describe_failure(shown, report.rerun)).splitlines()


def test_what_translate_returned_was_sent_nowhere():
    result = run_check(
        "translation.user-text-survives",
        find_miniature("trims-user-text").of(OpenAIAdapter),
        suite_scenario("outer-blanks"),
    )
    assert result.verdict == "fail"
    assert {finding.exchange for finding in result.findings} == {None}


def test_the_terminal_shows_it_in_two_lines(report: Report):
    (failed,) = report.failures
    lines = as_text(describe_failure(failed, report.rerun)).splitlines()
    (sent,) = (line for line in lines if line.startswith("  sent    POST /v1/chat/completions, "))
    assert ' bytes: {"model":' in sent
    assert any(line.startswith("  got     200 application/json: {") for line in lines)


@pytest.fixture
def folder(report: Report, tmp_path: Path) -> Path:
    write_repros([report], tmp_path)
    return tmp_path / "repro" / READ


def test_a_repro_has_the_exchange(folder: Path):
    assert {path.name for path in folder.iterdir()} == NAMES
    text = (folder / "exchange.txt").read_text()
    assert text.startswith("POST /v1/chat/completions\n")
    assert "authorization: (hidden)\n" in text
    assert "\n200\ncontent-type: application/json\n" in text


def test_repros_of_earlier_runs_are_removed_and_what_others_wrote_stays(folder: Path):
    root = folder.parents[1]
    (folder / "notes.txt").write_text("mine")
    other = root / "repro" / "mine"
    other.mkdir()
    (other / "reproduce.py").write_text("print('mine')\n")
    several = root / "repro" / "adapter" / "another.check"
    several.mkdir(parents=True)
    (several / "reproduce.py").write_text((folder / "reproduce.py").read_text())
    remove_repros(root)
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()) == [
        "repro/mine/reproduce.py",
        f"repro/{READ}/notes.txt",
    ]
    (folder / "notes.txt").unlink()
    (other / "reproduce.py").unlink()
    remove_repros(root)  # nothing of ours is left
    assert not several.parent.exists()
    remove_repros(root / "nowhere")


def test_the_last_folder_goes_with_its_parents(report: Report, folder: Path):
    root = folder.parents[1]
    write_reports([report], root)
    remove_repros(root)
    assert [path.name for path in root.iterdir()] == ["report.json"]


def test_a_script_of_ten_lines_runs_and_shows_the_failure(folder: Path, tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "from art_compliance.miniatures import find_miniature\nfrom art_sdk import OpenAIAdapter\n"
        "Mine = find_miniature('repeats-the-text-at-the-end').of(OpenAIAdapter)\n"
    )
    selection = Selection(checks=(READ,), scenarios=(SCENARIO.id,))
    sys.path.insert(0, str(tmp_path))
    try:
        named = certify("mine:Mine", selection=selection, seed=1, isolated=False)
    finally:
        sys.path.remove(str(tmp_path))
    write_repros([named], tmp_path)
    script = folder / "reproduce.py"
    assert len(script.read_text().splitlines()) <= 10
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.strip() == named.failures[0].findings[0].message


def test_a_folder_that_cannot_be_removed_is_one_sentence(folder: Path):
    (folder / "prompt.json").unlink()
    (folder / "prompt.json").mkdir()
    with pytest.raises(HarnessError, match=r"cannot remove .* of an earlier run: "):
        remove_repros(folder.parents[1])
