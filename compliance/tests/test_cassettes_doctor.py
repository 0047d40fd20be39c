"""A cassette that loads may still be wrong: every problem is found, with the file and the remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from typer.testing import CliRunner

from art_compliance import HarnessError, Selection, certify
from art_compliance.cassettes.doctor import examine, gather_facts
from art_compliance.commands import app
from art_compliance.resources import data_folder
from art_compliance.run.report import write_reports
from art_compliance.scenarios import load_scenarios
from made_cassettes import REPLAY

FACTS = gather_facts(load_scenarios())
FIRST = ("interactions", 0)
REQUEST, BODY = (*FIRST, "request", "body"), (*FIRST, "response", "body", "string")
ART = ("metadata", "art")


def put(value: Any, *steps: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        inner: Any = data
        for step in steps[:-1]:
            inner = inner[step]
        inner[steps[-1]] = value

    return change


def asking(text: str) -> str:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})


def answering(**changed: Any) -> str:
    plain = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    return json.dumps({**plain, **changed})


PROBLEMS = {
    "a secret": (put(asking("sk-abcdefghijklmnopqrstuvw"), *REQUEST), "a secret: line ", "revoke it"),
    "a cookie": (put({"cookie": ["x"]}, *FIRST, "request", "headers"), "a secret: line ", "revoke it"),
    "without provenance": (
        put({}, "metadata"),
        "it does not say who answered or how to match requests",
        "art record",
    ),
    "too old": (
        lambda data: data["metadata"]["art"].update(source="provider", date="2020-01-01"),
        "days old; the limit is 365",
        "record it again",
    ),
    "with an invalid date": (
        lambda data: data["metadata"]["art"].update(source="provider", date="soon"),
        "its date 'soon' is not a date",
        "record it again",
    ),
    "with a future date": (
        lambda data: data["metadata"]["art"].update(source="provider", date="2999-01-01"),
        "its date 2999-01-01 is in the future",
        "set the clock",
    ),
    "an error": (
        put({"code": 429, "message": ""}, *FIRST, "response", "status"),
        "interactions[0].response.status: 429, an error",
        "art record keeps no errors",
    ),
    "outgrown": (
        put("sha256:old", *ART, "digest"),
        "the scenario has changed since it was recorded",
        "record it again",
    ),
    "another's": (
        put("one-letter-texts", *ART, "scenario"),
        "recorded for the scenario 'one-letter-texts'",
        "rename it back",
    ),
    "with a uuid": (
        put(asking("job 123e4567-e89b-42d3-a456-426614174000"), *REQUEST),
        "interactions[0].request.body/messages/0/content: a uuid",
        "leave it out",
    ),
    "with a time": (put(asking("It is 2026-01-02T03:04:05Z"), *REQUEST), "/messages/0/content: a time", "leave it out"),
    "with seconds": (put(asking("now 1767323045.12"), *REQUEST), "seconds since 1970", "leave it out"),
    "empty": (put("", *BODY), "interactions[0].response.body.string: it loads, but the answer is empty", "again"),
    "parsed": (
        put({"id": 1}, *FIRST, "response", "parsed_body"),
        "interactions[0].response.parsed_body: it cannot be used: the body is parsed",
        "every replay fails",
    ),
    "of another schema": (
        put(answering(object="text_completion"), *BODY),
        "response.body.string/object: the provider's types no longer allow it",
        "record it again",
    ),
    "a stream of another schema": (
        put('data: {"id": 1}\n\ndata: [DONE]\n\n', *BODY),
        "the provider's types no longer allow it",
        "record it again",
    ),
}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "openai" / "one-question.yaml"
    path.parent.mkdir()
    path.write_bytes((data_folder("cassettes") / "openai" / "one-question.yaml").read_bytes())
    spoil(path, lambda data: data["metadata"]["art"].update(source="strict provider"))
    return path


def spoil(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(yaml.safe_dump(data, width=10_000), encoding="utf-8")


@pytest.mark.unmeasured
@pytest.mark.once
def test_the_cassettes_of_the_suite_have_no_problems():
    assert list(examine(data_folder("cassettes"), FACTS)) == []


def test_a_good_cassette_has_no_problems(kept: Path):
    spoil(kept, lambda data: data["metadata"]["art"].update(source="provider", date=FACTS.today.isoformat()))
    assert list(examine(kept.parent, FACTS)) == []


@pytest.mark.parametrize("what", PROBLEMS)
def test_a_problem_is_found_with_the_file_and_the_remedy(what: str, kept: Path):
    change, problem, remedy = PROBLEMS[what]
    spoil(kept, change)
    (complaint,) = examine(kept.parent, FACTS)
    assert complaint.path == kept
    assert problem in complaint.problem
    assert remedy in complaint.remedy
    assert "abcdefghijklmnopqrstuvw" not in str(complaint)


def test_an_engine_may_break_the_types_of_a_provider_but_must_answer(kept: Path):
    spoil(kept, lambda data: data["metadata"]["art"].update(source="local engine"))
    spoil(kept, put(answering(object="text_completion"), *BODY))
    assert list(examine(kept.parent, FACTS)) == []
    spoil(kept, put("", *BODY))
    assert ["the answer is empty" in one.problem for one in examine(kept.parent, FACTS)] == [True]


@pytest.mark.parametrize(("host", "complaints"), [("mine.openai.azure.com", 0), ("api.openai.com", 1)])
def test_a_host_with_wider_types_is_judged_by_its_own(host: str, complaints: int, kept: Path):
    spoil(kept, put(f"https://{host}/v1/chat/completions", *FIRST, "request", "uri"))
    spoil(kept, put('data: {"id":"","object":"","created":0,"model":"","choices":[]}\n\n', *BODY))
    problems = [complaint.problem for complaint in examine(kept.parent, FACTS)]
    assert len(problems) == complaints
    assert all("/object: the provider's types no longer allow it" in problem for problem in problems)


def test_two_answers_to_the_same_request_are_found(kept: Path):
    spoil(kept, lambda data: data["interactions"].append(data["interactions"][0]))
    (complaint,) = examine(kept.parent, FACTS)
    assert "interactions[0] and interactions[1] match the same request" in complaint.problem


def test_calls_in_an_unknown_format_are_not_compared_and_not_validated(kept: Path):
    def add(data: dict[str, Any]) -> None:
        (one,) = data["interactions"]
        other = {**one, "request": {**one["request"], "uri": "https://api.example.com/v1/models"}}
        data["interactions"] += [other, other]

    spoil(kept, add)
    assert list(examine(kept.parent, FACTS)) == []


def test_a_time_in_the_scenario_itself_is_not_a_problem(kept: Path):
    scenario = FACTS.scenarios["one-question"]
    text = scenario.prompt[-1]["content"]
    spoil(kept, put(asking(text), *REQUEST))
    assert list(examine(kept.parent, FACTS)) == []


def test_a_cassette_without_a_scenario_is_never_replayed(kept: Path):
    kept.rename(kept.with_name("gone.yaml"))
    problems = [complaint.problem for complaint in examine(kept.parent, FACTS)]
    assert problems == ["never replayed: there is no scenario 'gone'"]


def test_a_cassette_that_the_last_run_did_not_play_is_found(kept: Path):
    played = gather_facts(load_scenarios(), replayed=frozenset({"anthropic/one-question.yaml"}))
    (complaint,) = examine(kept.parent, played)
    assert complaint.problem == "never replayed: the last run did not play it"
    played = gather_facts(load_scenarios(), replayed=frozenset({"openai/one-question.yaml"}))
    assert list(examine(kept.parent, played)) == []


def test_a_broken_file_has_one_problem(kept: Path):
    kept.write_bytes(b"\xff\xfe")
    (complaint,) = examine(kept.parent, FACTS)
    assert "byte 0: it cannot be used: the file is not UTF-8 text" in complaint.problem


def test_a_folder_without_cassettes_is_an_error(tmp_path: Path):
    with pytest.raises(HarnessError, match="there is no cassette in"):
        list(examine(tmp_path, FACTS))


def doctor(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["doctor", *arguments])


def test_the_command_exits_with_0_without_problems_and_with_1_otherwise(kept: Path, tmp_path: Path):
    none = ("--report", str(tmp_path / "none"))
    assert doctor(str(tmp_path), *none).exit_code == 0
    spoil(kept, put("sha256:old", *ART, "digest"))
    result = doctor(str(tmp_path), *none)
    assert result.exit_code == 1
    assert result.output == f"{kept}: the scenario has changed since it was recorded; record it again\n"
    assert doctor(str(tmp_path / "nowhere"), *none).exit_code == 2


def test_the_command_reads_from_the_report_what_was_replayed(kept: Path, tmp_path: Path):
    folder = tmp_path / "report"
    for name, cassettes, problem in (("anthropic", None, "the last run did not play it"), ("openai", tmp_path, "")):
        replayed = certify(name, selection=Selection(checks=REPLAY, cassettes=cassettes), isolated=False)
        write_reports([replayed], folder)
        assert doctor(str(kept.parent), "--report", str(folder)).exit_code == 0  # a filtered run does not count
        write_reports([msgspec.structs.replace(replayed, is_filtered=False)], folder)
        result = doctor(str(kept.parent), "--report", str(folder))
        assert (result.exit_code, problem in result.output) == (1 if problem else 0, True)


def test_a_file_that_is_not_a_report_is_an_error(kept: Path, tmp_path: Path):
    (tmp_path / "report.json").write_text("[]", encoding="utf-8")
    result = doctor(str(kept.parent), "--report", str(tmp_path))
    assert result.exit_code == 2
    assert "is not a report of this suite" in result.output
