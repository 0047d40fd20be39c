"""A request, a scenario or a cassette that changed since the recording: what is shown, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from art_compliance.cassettes import load_cassette, write_cassette
from art_compliance.run.rerun import Rerun
from art_sdk import GeminiAdapter, OpenAIAdapter
from made_cassettes import KEY, findings, record_into, relabel, replayed

pytestmark = pytest.mark.unmeasured  # other tests run the same lines


def test_a_changed_request_is_shown_in_normal_form_and_raw_with_the_choice_and_without_the_key(tmp_path: Path):
    record_into(tmp_path, "gemini", "one-question")

    class Changed(GeminiAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            payload = super().translate(prompt, options)
            payload["contents"][0]["parts"][0]["text"] += " Please."
            return payload

        def request(self, payload: Any, options: Any) -> Any:
            sent = super().request(payload, options)
            return type(sent)(sent.method, f"{sent.url}?key={KEY}", sent.headers, sent.body)

    report = replayed(tmp_path, Changed, "one-question")
    assert "replay.cassette-is-sound" not in {result.check for result in report.failures}  # it is one cause
    wrong = findings(report, "replay.request-is-the-recorded-one")
    assert "in normal form: /prompt/1/texts/0: recorded " in wrong
    assert "raw: /contents/0/parts/0/text: recorded " in wrong
    assert 'Please."' in wrong
    assert "if the adapter regressed, fix it; if you meant the change, record again: art record" in wrong
    assert KEY not in msgspec.json.encode(report).decode()


def test_an_answer_to_another_request_counts_for_nothing(tmp_path: Path):
    record_into(tmp_path, "openai", "one-question", "answer-text")
    relabel(tmp_path / "openai" / "one-question.yaml", source="provider")

    class Changed(OpenAIAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            payload = super().translate(prompt, options)
            return {**payload, "seed": 7} if "France" in str(prompt) else payload

    report = replayed(tmp_path, Changed, "one-question", "answer-text")
    assert {result.scenario for result in report.failures} == {"one-question"}
    assert report.recordings == {"strict provider": 1}


def test_a_scenario_that_changed_since_leaves_no_choice(tmp_path: Path):
    record_into(tmp_path, "openai", "one-question")
    relabel(tmp_path / "openai" / "one-question.yaml", digest="sha256:of-old")

    class Changed(OpenAIAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            return {**super().translate(prompt, options), "seed": 7}

    wrong = findings(replayed(tmp_path, Changed, "one-question"), "replay.request-is-the-recorded-one")
    assert "the scenario has changed since it was recorded: record again: art record" in wrong
    assert "regressed" not in wrong


def test_two_answers_to_one_request_and_an_answer_to_none_are_found(tmp_path: Path):
    record_into(tmp_path, "openai", "one-question", "answer-text")
    path = tmp_path / "openai" / "one-question.yaml"
    one, other = load_cassette(path), load_cassette(tmp_path / "openai" / "answer-text.yaml")
    write_cassette(path, [*one.exchanges, *one.exchanges], one.provenance)
    wrong = findings(replayed(tmp_path, OpenAIAdapter, "one-question"), "replay.cassette-is-sound")
    assert "interactions[0] and interactions[1] match the same request" in wrong
    assert "was never requested" not in wrong  # the adapter asks for it as often as it should
    write_cassette(path, [*one.exchanges, *other.exchanges], one.provenance)
    wrong = findings(replayed(tmp_path, OpenAIAdapter, "one-question"), "replay.cassette-is-sound")
    assert "interactions[1] was never requested" in wrong


@pytest.mark.parametrize("place", ["request", "response"])
def test_a_cassette_with_a_secret_is_not_played_counts_for_nothing_and_shows_it_nowhere(place: str, tmp_path: Path):
    record_into(tmp_path, "openai", "one-question", "answer-text")
    relabel(tmp_path / "openai" / "one-question.yaml", source="provider")
    path = tmp_path / "openai" / "one-question.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if place == "request":
        data["interactions"][0]["request"]["headers"]["authorization"] = [f"Bearer {KEY}"]
    else:
        body = data["interactions"][0]["response"]["body"]
        body["string"] = body["string"].replace("This answer", f"{KEY} is")
    path.write_text(yaml.safe_dump(data, width=10_000), encoding="utf-8")
    report = replayed(tmp_path, OpenAIAdapter, "one-question", "answer-text")
    assert [(result.check, result.scenario) for result in report.failures] == [
        ("replay.cassette-is-sound", "one-question")
    ]
    wrong = findings(report, "replay.cassette-is-sound")
    assert f"{path}: line " in wrong
    assert "it contains what looks like a secret, so it is not played; revoke it, remove it" in wrong
    assert report.recordings == {"strict provider": 1}
    assert not report.levels["replay"].is_applicable
    assert not report.levels["replay"].allows_certificate
    assert KEY not in msgspec.json.encode(report).decode()


def test_recording_again_replaces_a_cassette_with_a_secret(tmp_path: Path):
    record_into(tmp_path, "openai", "one-question")
    path = tmp_path / "openai" / "one-question.yaml"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace("France", KEY), encoding="utf-8")
    (one,) = record_into(tmp_path, "openai", "one-question")
    assert one.changed
    assert path.read_text(encoding="utf-8") == whole


SOURCED = {
    "provider": "--key-from VARIABLE",
    "local engine": "--local-engine --engine 'NAME VERSION' --base-url URL",
    "strict provider": "--from-strict-provider",
}


@pytest.mark.parametrize("source", SOURCED)
def test_the_advice_to_record_again_names_the_same_source(source: str, tmp_path: Path):
    record_into(tmp_path, "openai", "one-question")
    path = tmp_path / "openai" / "one-question.yaml"
    relabel(path, source=source)
    one = load_cassette(path)
    write_cassette(path, [*one.exchanges, *one.exchanges], one.provenance)
    wrong = findings(replayed(tmp_path, OpenAIAdapter, "one-question"), "replay.cassette-is-sound")
    assert f"--scenarios one-question {SOURCED[source]} --into {tmp_path}" in wrong


def test_a_broken_cassette_fails_one_check_and_the_others_do_not_apply(tmp_path: Path):
    record_into(tmp_path, "openai", "one-question")
    path = tmp_path / "openai" / "one-question.yaml"
    path.write_text(path.read_text(encoding="utf-8").partition('"messages"')[0], encoding="utf-8")
    report = replayed(tmp_path, OpenAIAdapter, "one-question")
    assert [result.check for result in report.failures] == ["replay.cassette-is-sound"]
    wrong = findings(report, "replay.cassette-is-sound")
    assert str(path) in wrong
    assert f"record again: art record {report.adapter.name} --scenarios one-question --key-from VARIABLE" in wrong


def test_the_command_to_record_again_has_the_settings_of_the_run(tmp_path: Path):
    folder = tmp_path / "own" / "cassettes"
    rerun = Rerun(adapter="a:B", seed=1, dialect="openai-chat", scenarios_from="my own", cassettes=str(folder))
    line = rerun.recording("one-question", ["--local-engine", "--engine", "NAME VERSION"])
    asked = "art record a:B --dialect openai-chat --scenarios-from 'my own' --scenarios one-question"
    assert line == f"{asked} --local-engine --engine 'NAME VERSION' --into {folder}"
    assert Rerun(adapter="openai", seed=1).recording("one-question", ["--key-from", "KEY"]) == (
        "art record openai --scenarios one-question --key-from KEY"
    )
