"""What was recorded is replayed by one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.resources import data_folder
from made_cassettes import record_into


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["replay", *arguments])


@pytest.mark.once
def test_what_was_recorded_is_replayed_by_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    record_into(tmp_path / "cassettes", "openai", "one-question", "streamed")
    monkeypatch.chdir(tmp_path)
    good = run("openai")
    assert good.exit_code == 0, good.output
    assert "replayed answers: 2 by strict provider" in good.output
    one = run("openai", "--scenarios", " streamed,")
    assert "replayed answers: 1 by strict provider" in one.output
    path = tmp_path / "cassettes" / "openai" / "one-question.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("France", "Spain"), encoding="utf-8")
    changed = run("openai")
    assert changed.exit_code == 1
    assert "FAIL replay.request-is-the-recorded-one" in changed.output
    path.write_text("interactions: []", encoding="utf-8")
    assert run("openai", "--scenarios", "one-question").exit_code == 1


@pytest.mark.once
def test_the_suites_own_cassettes_are_replayed_if_the_folder_has_none_of_the_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "cassettes" / "acme").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    result = run("openai", "--scenarios", "one-question")
    assert result.exit_code == 0, result.output
    assert "replayed answers: 1 by local engine" in result.output


MUTE = """
from art_sdk import OpenAIAdapter

class Mute(OpenAIAdapter):
    def translate(self, prompt, options):
        raise KeyError("hello")
"""


@pytest.mark.once
def test_an_adapter_that_cannot_even_say_hello_ends_with_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "mute_adapter.py").write_text(MUTE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    result = run("mute_adapter:Mute", "--cassettes", str(data_folder("cassettes")))
    assert result.exit_code == 2
    assert "HARNESS preflight." in result.output


NOT_REPLAYED = {
    "no adapter": ((), "name an adapter"),
    "no such scenario": (("openai", "--scenarios", "nope"), "there is no scenario 'nope'"),
    "no such folder": (("openai", "--cassettes", "nope"), "there is no cassette folder nope"),
    "nothing kept": (("openai", "--scenarios", "one-letter-texts"), "its provider has no cassette of these scenarios"),
}


@pytest.mark.parametrize("what", NOT_REPLAYED)
def test_a_replay_that_cannot_begin_says_why(what: str):
    arguments, message = NOT_REPLAYED[what]
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
