"""The exam by recorded traffic: its list is kept, says what the judges say, and has no false refusal in it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.judging.exam import Answer, GradeList, Recording, dialects_of, grade, load_grades, load_recordings
from art_compliance.judging.rulebook import load_rules
from art_compliance.resources import data_folder
from recorded_traffic import FOLDER, needs_traffic

KEPT = data_folder("fixtures") / "exam" / "recorded.json"
ACCEPTED = {
    "openai-chat": 67,
    "openai-responses": 23,
    "anthropic-messages": 24,
    "gemini-generate": 18,
    "mistral-chat": 7,
    "deepseek-chat": 6,
    "openrouter-chat": 8,
    "groq-chat": 6,
    "openai-compatible": 12,
    "bedrock-converse": 11,
    "ollama-chat": 5,
    "cohere-chat-v2": 6,
}
"""How many accepted requests each dialect has judged."""


@needs_traffic
def test_the_list_matches_the_judges_verdicts_on_recorded_traffic():
    assert tuple(map(grade, load_recordings(FOLDER))) == load_grades(KEPT).grades


def test_no_accepted_request_on_the_list_is_refused():
    kept = load_grades(KEPT)
    assert kept.faults == ()
    judged = [verdict.dialect for one in kept.grades if one.status == 200 for verdict in one.judged]
    assert Counter(judged) == ACCEPTED


def test_the_list_has_every_recording_once_and_names_known_rules():
    kept = load_grades(KEPT)
    rules = {rule.id for dialect in DIALECTS for rule in load_rules(dialect)}
    assert len({one.id for one in kept.grades}) == len(kept.grades) == 199
    assert all(re.fullmatch("[0-9a-f]{64}", one.sha256) for one in kept.grades)
    named = {name for one in kept.grades for verdict in one.judged for name in verdict.by}
    assert {name for name in named if not name.startswith("schema ")} <= rules
    assert all(verdict.by for one in kept.grades for verdict in one.judged if verdict.verdict == "refused")


def test_an_exception_is_about_a_recording_and_has_its_evidence():
    kept = load_grades(KEPT)
    assert kept.exceptions.keys() <= {one.id for one in kept.grades if one.is_false_refusal}
    assert all("http" in evidence or "recorded" in evidence for evidence in kept.exceptions.values())


def recording(request: Any, status: int = 200, **fields: Any) -> dict[str, Any]:
    return {"shape": "chat_completions", "request": request, "response": {"status": status}, **fields}


GOOD = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
BAD = {"model": "m", "messages": [{"role": "user", "content": 5}]}


def record(folder: Path, **recordings: Any) -> Path:
    (folder / "nobody").mkdir(exist_ok=True)
    for name, content in recordings.items():
        (folder / "nobody" / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def exam(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["exam", *map(str, arguments)])


def test_a_false_refusal_names_the_judge_and_fails_the_exam(tmp_path):
    result = exam(record(tmp_path, good=recording(GOOD), bad=recording(BAD), refused=recording(BAD, 400)))
    assert result.exit_code == 1
    assert "false refusal of nobody/bad: openai-chat: schema /messages/0/content\n" in result.output
    assert "nobody/good" not in result.output
    assert "openai-chat: 1 of 2 accepted requests pass; 1 of 1 refused ones are refused" in result.output


def test_a_request_that_passes_and_cannot_be_decoded_fails_the_exam(tmp_path):
    odd = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stop": "x"}
    assert exam(record(tmp_path, odd=recording(odd))).exit_code == 0
    lost = grade(Recording(shape="chat_completions", request={"messages": 5}, response=Answer(200), id="a/b"))
    assert [verdict.decoded for verdict in lost.judged] == [False]
    assert lost.is_false_refusal


def test_exceptions_stay_when_the_list_is_rewritten(tmp_path):
    kept, folder = tmp_path / "kept.json", record(tmp_path, bad=recording(BAD))
    kept.write_text(json.dumps({"exceptions": {"nobody/bad": "http://evidence.example"}, "grades": []}))
    assert exam(folder, "--write", kept).exit_code == 0
    again = load_grades(kept)
    assert isinstance(again, GradeList)
    assert again.exceptions == {"nobody/bad": "http://evidence.example"}
    assert [one.id for one in again.grades] == ["nobody/bad"]


@pytest.mark.parametrize(
    ("url", "dialects"),
    [
        ("https://api.mistral.ai/v1/chat/completions", ("openai-chat", "mistral-chat")),
        ("https://openrouter.ai/api/v1/chat/completions", ("openai-chat", "openrouter-chat")),
        ("https://api.openai.com/v1/chat/completions", ("openai-chat",)),
        ("https://api.groq.com/openai/v1/chat/completions", ("openai-chat", "groq-chat")),
        (None, ("openai-chat",)),
    ],
)
def test_a_recording_is_judged_by_the_dialect_of_its_shape_and_by_its_hosts_own(url, dialects):
    assert dialects_of("chat_completions", url) == dialects


def test_a_shape_without_a_dialect_is_not_judged():
    assert grade(Recording(shape="no_such_shape", request={}, response=Answer(200), id="a/b")).judged == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "nobody/x.json"), ('{"shape": "no_such_shape"}', "missing required field `request`"), ("[1]", "Expected")],
)
def test_an_error_in_a_recording_names_the_file(tmp_path, text, problem):
    (tmp_path / "nobody").mkdir()
    (tmp_path / "nobody" / "x.json").write_text(text)
    with pytest.raises(HarnessError, match=re.escape("x.json")) as caught:
        list(load_recordings(tmp_path))
    assert problem in str(caught.value)
    assert exam(tmp_path).exit_code == 2


def test_an_empty_folder_and_a_broken_list_are_bad_input(tmp_path):
    assert exam(tmp_path).exit_code == 2
    (tmp_path / "kept.json").write_text('{"grades": 5}')
    assert exam(record(tmp_path, good=recording(GOOD)), "--write", tmp_path / "kept.json").exit_code == 2
