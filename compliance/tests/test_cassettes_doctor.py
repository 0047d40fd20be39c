"""A cassette that loads may be ill all the same: each illness is seen, and told with the file and what to do."""

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
from art_compliance.cassettes.doctor import examine, practice
from art_compliance.commands import app
from art_compliance.resources import data_folder
from art_compliance.run.report import write_reports
from art_compliance.scenarios import load_scenarios
from made_cassettes import REPLAY

HELD = practice(load_scenarios())
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


ILL = {
    "a secret": (put(asking("sk-abcdefghijklmnopqrstuvw"), *REQUEST), "a secret: line ", "revoke it"),
    "a cookie": (put({"cookie": ["x"]}, *FIRST, "request", "headers"), "a secret: line ", "revoke it"),
    "nobody's": (put({}, "metadata"), "nothing says who answered, nor what a request is matched by", "art record"),
    "too old": (
        lambda data: data["metadata"]["art"].update(source="provider", date="2020-01-01"),
        "days old, 365 is the limit",
        "record it again",
    ),
    "of no day": (
        lambda data: data["metadata"]["art"].update(source="provider", date="soon"),
        "its date 'soon' is none",
        "record it again",
    ),
    "of a day to come": (
        lambda data: data["metadata"]["art"].update(source="provider", date="2999-01-01"),
        "its date 2999-01-01 is yet to come",
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
        "its name",
    ),
    "with a uuid": (
        put(asking("job 123e4567-e89b-42d3-a456-426614174000"), *REQUEST),
        "interactions[0].request.body/messages/0/content: a uuid",
        "leave it out",
    ),
    "with a time": (put(asking("It is 2026-01-02T03:04:05Z"), *REQUEST), "/messages/0/content: a time", "leave it out"),
    "with seconds": (put(asking("now 1767323045.12"), *REQUEST), "seconds since 1970", "leave it out"),
    "empty": (put("", *BODY), "interactions[0].response.body.string: it loads, and answers with nothing", "again"),
    "parsed": (
        put({"id": 1}, *FIRST, "response", "parsed_body"),
        "interactions[0].response.parsed_body: it cannot be used: the body stands parsed",
        "fails every replay",
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


def test_what_is_kept_here_is_in_good_health():
    assert list(examine(data_folder("cassettes"), HELD)) == []


def test_a_good_cassette_is_left_alone(kept: Path):
    spoil(kept, lambda data: data["metadata"]["art"].update(source="provider", date=HELD.today.isoformat()))
    assert list(examine(kept.parent, HELD)) == []


@pytest.mark.parametrize("what", ILL)
def test_an_illness_is_told_with_the_file_and_what_to_do(what: str, kept: Path):
    change, told, do = ILL[what]
    spoil(kept, change)
    (complaint,) = examine(kept.parent, HELD)
    assert complaint.path == kept
    assert told in complaint.what
    assert do in complaint.do
    assert "abcdefghijklmnopqrstuvw" not in str(complaint)


def test_an_engine_need_not_keep_to_the_types_of_a_provider_but_must_answer(kept: Path):
    spoil(kept, lambda data: data["metadata"]["art"].update(source="local engine"))
    spoil(kept, put(answering(object="text_completion"), *BODY))
    assert list(examine(kept.parent, HELD)) == []
    spoil(kept, put("", *BODY))
    assert ["answers with nothing" in one.what for one in examine(kept.parent, HELD)] == [True]


@pytest.mark.parametrize(("host", "complaints"), [("mine.openai.azure.com", 0), ("api.openai.com", 1)])
def test_what_a_provider_answers_beyond_its_types_is_no_illness_there(host: str, complaints: int, kept: Path):
    spoil(kept, put(f"https://{host}/v1/chat/completions", *FIRST, "request", "uri"))
    spoil(kept, put('data: {"id":"","object":"","created":0,"model":"","choices":[]}\n\n', *BODY))
    told = [complaint.what for complaint in examine(kept.parent, HELD)]
    assert len(told) == complaints
    assert all("/object: the provider's types no longer allow it" in what for what in told)


def test_two_answers_to_one_request_are_told(kept: Path):
    spoil(kept, lambda data: data["interactions"].append(data["interactions"][0]))
    (complaint,) = examine(kept.parent, HELD)
    assert "interactions[0] and interactions[1] match one request" in complaint.what


def test_a_call_to_a_path_of_no_known_format_is_nobody_s_twin_and_held_to_no_types(kept: Path):
    def add(data: dict[str, Any]) -> None:
        (one,) = data["interactions"]
        other = {**one, "request": {**one["request"], "uri": "https://api.example.com/v1/models"}}
        data["interactions"] += [other, other]

    spoil(kept, add)
    assert list(examine(kept.parent, HELD)) == []


def test_a_time_that_the_scenario_itself_gives_is_no_illness(kept: Path):
    scenario = HELD.scenarios["one-question"]
    text = scenario.prompt[-1]["content"]
    spoil(kept, put(asking(text), *REQUEST))
    assert list(examine(kept.parent, HELD)) == []


def test_a_cassette_of_no_scenario_is_never_replayed(kept: Path):
    kept.rename(kept.with_name("gone.yaml"))
    told = [complaint.what for complaint in examine(kept.parent, HELD)]
    assert told == ["never replayed: no scenario is called 'gone'"]


def test_a_cassette_that_the_last_run_did_not_play_is_told(kept: Path):
    played = practice(load_scenarios(), replayed=frozenset({"anthropic/one-question.yaml"}))
    (complaint,) = examine(kept.parent, played)
    assert complaint.what == "never replayed: the last run did not play it"
    assert (
        list(examine(kept.parent, practice(load_scenarios(), replayed=frozenset({"openai/one-question.yaml"})))) == []
    )


def test_a_file_that_is_broken_is_told_once(kept: Path):
    kept.write_bytes(b"\xff\xfe")
    (complaint,) = examine(kept.parent, HELD)
    assert "byte 0: it cannot be used: the file is no UTF-8 text" in complaint.what


def test_a_folder_without_cassettes_is_a_mistake(tmp_path: Path):
    with pytest.raises(HarnessError, match="there is no cassette in"):
        list(examine(tmp_path, HELD))


def doctor(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["doctor", *arguments])


def test_the_command_ends_with_0_where_all_is_well_and_with_1_where_not(kept: Path, tmp_path: Path):
    none = ("--report", str(tmp_path / "none"))
    assert doctor(str(tmp_path), *none).exit_code == 0
    spoil(kept, put("sha256:old", *ART, "digest"))
    result = doctor(str(tmp_path), *none)
    assert result.exit_code == 1
    assert result.output == f"{kept}: the scenario has changed since it was recorded; record it again\n"
    assert doctor(str(tmp_path / "nowhere"), *none).exit_code == 2


def test_the_command_knows_from_the_report_what_was_replayed(kept: Path, tmp_path: Path):
    folder = tmp_path / "report"
    for name, cassettes, told in (("anthropic", None, "the last run did not play it"), ("openai", tmp_path, "")):
        replayed = certify(name, selection=Selection(checks=REPLAY, cassettes=cassettes))
        write_reports([replayed], folder)
        assert doctor(str(kept.parent), "--report", str(folder)).exit_code == 0  # who filters plays what he likes
        write_reports([msgspec.structs.replace(replayed, is_filtered=False)], folder)
        said = doctor(str(kept.parent), "--report", str(folder))
        assert (said.exit_code, told in said.output) == (1 if told else 0, True)


def test_a_report_that_is_none_is_refused(kept: Path, tmp_path: Path):
    (tmp_path / "report.json").write_text("[]", encoding="utf-8")
    result = doctor(str(kept.parent), "--report", str(tmp_path))
    assert result.exit_code == 2
    assert "is no report of this suite" in result.output
