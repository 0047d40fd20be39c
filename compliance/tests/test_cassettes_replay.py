"""Recorded once, replayed for ever: without a network, by meaning, and with the choice named where it changed."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from typer.testing import CliRunner

from art_compliance import Selection, certify
from art_compliance.cassettes import load_cassette, write_cassette
from art_compliance.cassettes.matching import Asked, changes, describe_mismatch, is_same
from art_compliance.checks import CHECKS, Trial
from art_compliance.checks.replay import replaying as replay
from art_compliance.checks.replay.recorded import read_recorded
from art_compliance.checks.trial import Replayed
from art_compliance.commands import app
from art_compliance.dialects import DIALECTS
from art_compliance.miniatures.base import change_events
from art_compliance.resources import data_folder
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.run.recorder import choose
from art_compliance.run.rerun import Rerun
from art_compliance.run.runner import Session
from art_compliance.subject.events import Answered
from art_compliance.subject.opening import open_subject
from art_sdk import GeminiAdapter, OpenAIAdapter
from made_cassettes import ADAPTERS, KEY, REPLAY, findings, record_into, replayed


def relabel(path: Path, **changed: Any) -> None:
    kept = load_cassette(path)
    path.unlink()
    write_cassette(path, kept.exchanges, msgspec.structs.replace(kept.provenance, **changed))


# What is kept.


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_each_reference_adapter_has_cassettes_of_twenty_scenarios_and_more_from_the_strict_provider(adapter: str):
    kept = [load_cassette(path) for path in (data_folder("cassettes") / adapter).glob("*.yaml")]
    assert [one.provenance.source for one in kept if one.provenance].count("strict provider") >= 20
    assert {one.path.stem for one in kept} <= set(live_scenarios())


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_what_is_kept_is_what_the_strict_provider_answers_today(adapter: str, tmp_path: Path):
    """Where this fails, `make cassettes` writes them anew."""
    record_into(tmp_path, adapter)
    for path in sorted((tmp_path / adapter).glob("*.yaml")):
        kept = load_cassette(data_folder("cassettes") / adapter / path.name)
        if kept.provenance is not None and kept.provenance.source == "strict provider":
            assert load_cassette(path).exchanges == kept.exchanges


# Replay.


def test_nothing_is_asked_of_any_server_while_a_cassette_is_played(monkeypatch: pytest.MonkeyPatch):
    with open_subject(OpenAIAdapter, name="openai") as subject:
        session = Session(subject, 1, selection=Selection(cassettes=data_folder("cassettes")))
        scenario = choose(("answer-text-beside-calls",))[0]
        monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection was opened"))
        results = {name: session.run(CHECKS[name], scenario) for name in REPLAY}
        assert results.pop("replay.cuts-change-nothing").reason == "the recorded answer is no stream"
        assert {result.verdict for result in results.values()} == {"pass"}
        assert subject.request_count == 0


@pytest.mark.parametrize("adapter", ["openai", "anthropic"])
def test_what_a_real_engine_answered_is_read(adapter: str):
    """Recorded by `make record-local`: texts, calls, two calls at once, text after results; whole and streamed."""
    kept = [load_cassette(path) for path in (data_folder("cassettes") / adapter).glob("*.yaml")]
    of_engine = [one for one in kept if one.provenance is not None and one.provenance.source == "local engine"]
    assert len(of_engine) == 12
    assert all("llama-server" in one.provenance.versions["engine"] for one in of_engine if one.provenance)
    report = replayed(data_folder("cassettes"), ADAPTERS[adapter], *(one.path.stem for one in of_engine))
    assert report.levels["replay"].is_passed
    assert report.recordings == {"local engine": 12}


def test_a_recorded_stream_is_cut_otherwise_and_read_the_same(tmp_path: Path):
    record_into(tmp_path, "openai", "streamed-parallel-calls")

    class Careless(OpenAIAdapter):
        """Each chunk is taken for one event or more, as a cassette would have it."""

        def stream_reader(self, head: Any, info: Any) -> Any:
            reader = super().stream_reader(head, info)
            feed = reader.feed
            reader.feed = lambda chunk: feed(chunk) if chunk.endswith(b"\n\n") else []
            return reader

    report = replayed(tmp_path, Careless, "streamed-parallel-calls")
    assert {result.check for result in report.failures} == {"replay.cuts-change-nothing"}
    assert "cut otherwise, it is not read" in findings(report, "replay.cuts-change-nothing")


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("name", ["streamed-parallel-calls", "answer-parallel-calls"])
def test_a_call_that_is_missing_is_told(adapter: str, name: str, tmp_path: Path):
    record_into(tmp_path, adapter, name)
    path = tmp_path / adapter / f"{name}.yaml"
    kept = load_cassette(path)
    one = kept.exchanges[0]
    changed = {b"get_weather": b"get_climate", b'{\\"city': b'{\\"town'}
    with open_subject(ADAPTERS[adapter], name=adapter) as subject:
        session = Session(subject, 1, selection=Selection(cassettes=tmp_path))
        trial = session._trial(choose((name,))[0])
        assert trial.replayed.reply.error is None
        body = one.answer_body
        for old, new in changed.items():
            body = body.replace(old, new)
        assert body != one.answer_body
        exchange = msgspec.structs.replace(one, answer_body=body)
        trial.__dict__["replayed"] = msgspec.structs.replace(
            trial.replayed, cassette=msgspec.structs.replace(kept, exchanges=(exchange,))
        )
        told = [finding.message for finding in CHECKS["replay.message-is-whole"](trial).findings]
    assert len(told) == 1
    assert "the recorded answer calls get_climate" in told[0]


def test_without_any_cassette_the_level_is_not_applicable(tmp_path: Path):
    report = replayed(tmp_path, OpenAIAdapter)
    assert not report.levels["replay"].is_applicable
    assert not report.levels["replay"].is_passed


@pytest.mark.parametrize("source", ["provider", "provider, recorded by others", "local engine"])
def test_one_answer_of_somebody_else_makes_the_level_count(source: str, tmp_path: Path):
    record_into(tmp_path, "openai", "one-question", "answer-text")
    relabel(tmp_path / "openai" / "answer-text.yaml", source=source)
    report = replayed(tmp_path, OpenAIAdapter, "one-question", "answer-text")
    assert report.levels["replay"].is_passed
    assert report.recordings == {source: 1, "strict provider": 1}


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
    told = findings(report, "replay.request-is-the-recorded-one")
    assert "in normal form: /prompt/1/texts/0: recorded " in told
    assert "raw: /contents/0/parts/0/text: recorded " in told
    assert "Please.'" in told
    assert "either the adapter regressed, then mend it; or the change is meant, then record again: art record" in told
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

    told = findings(replayed(tmp_path, Changed, "one-question"), "replay.request-is-the-recorded-one")
    assert "the scenario has changed since: record again: art record" in told
    assert "regressed" not in told


def test_two_answers_to_one_request_and_an_answer_to_none_are_told(tmp_path: Path):
    record_into(tmp_path, "openai", "one-question", "answer-text")
    path = tmp_path / "openai" / "one-question.yaml"
    one, other = load_cassette(path), load_cassette(tmp_path / "openai" / "answer-text.yaml")
    write_cassette(path, [*one.exchanges, *one.exchanges], one.provenance)
    told = findings(replayed(tmp_path, OpenAIAdapter, "one-question"), "replay.cassette-is-sound")
    assert "interactions[0] and interactions[1] match one request: which answers is chance" in told
    assert "was never asked for" not in told  # the adapter asks for it as often as it should
    write_cassette(path, [*one.exchanges, *other.exchanges], one.provenance)
    told = findings(replayed(tmp_path, OpenAIAdapter, "one-question"), "replay.cassette-is-sound")
    assert "interactions[1] was never asked for" in told


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
    told = findings(report, "replay.cassette-is-sound")
    assert f"{path}: line " in told
    assert "it contains what looks like a secret, so it is not played; revoke it, remove it" in told
    assert report.recordings == {"strict provider": 1}
    assert not report.levels["replay"].is_applicable
    assert not report.levels["replay"].holds
    assert KEY not in msgspec.json.encode(report).decode()


def test_recording_again_mends_a_cassette_with_a_secret(tmp_path: Path):
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
def test_what_is_told_to_record_again_asks_the_same_source(source: str, tmp_path: Path):
    record_into(tmp_path, "openai", "one-question")
    path = tmp_path / "openai" / "one-question.yaml"
    relabel(path, source=source)
    one = load_cassette(path)
    write_cassette(path, [*one.exchanges, *one.exchanges], one.provenance)
    told = findings(replayed(tmp_path, OpenAIAdapter, "one-question"), "replay.cassette-is-sound")
    assert f"--scenarios one-question {SOURCED[source]} --into {tmp_path}" in told


def test_a_broken_cassette_fails_one_check_and_the_others_do_not_apply(tmp_path: Path):
    record_into(tmp_path, "openai", "one-question")
    path = tmp_path / "openai" / "one-question.yaml"
    path.write_text(path.read_text(encoding="utf-8").partition('"messages"')[0], encoding="utf-8")
    report = replayed(tmp_path, OpenAIAdapter, "one-question")
    assert [result.check for result in report.failures] == ["replay.cassette-is-sound"]
    told = findings(report, "replay.cassette-is-sound")
    assert str(path) in told
    assert f"record again: art record {report.adapter.name} --scenarios one-question --key-from VARIABLE" in told


def test_recording_again_is_asked_as_the_run_was(tmp_path: Path):
    folder = tmp_path / "own" / "cassettes"
    rerun = Rerun(adapter="a:B", seed=1, dialect="openai-chat", scenarios_from="my own", cassettes=str(folder))
    line = rerun.recording("one-question", ["--local-engine", "--engine", "NAME VERSION"])
    asked = "art record a:B --dialect openai-chat --scenarios-from 'my own' --scenarios one-question"
    assert line == f"{asked} --local-engine --engine 'NAME VERSION' --into {folder}"
    assert Rerun(adapter="openai", seed=1).recording("one-question", ["--key-from", "KEY"]) == (
        "art record openai --scenarios one-question --key-from KEY"
    )


def test_an_answer_in_gzip_or_in_pieces_is_replayed(tmp_path: Path):
    record_into(tmp_path, "openai", "answer-one-call")
    path = tmp_path / "openai" / "answer-one-call.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    answer = data["interactions"][0]["response"]
    answer["headers"]["Content-Encoding"] = ["gzip"]
    answer["body"]["string"] = gzip.compress(answer["body"]["string"].encode())
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    assert replayed(tmp_path, OpenAIAdapter, "answer-one-call").failures == []


def spoiled(change: Any) -> Any:
    def make(**settings: Any) -> Any:
        adapter = OpenAIAdapter(**settings)
        change_events(adapter, change)
        return adapter

    return make


def each(kind: str, **changed: Any) -> Any:
    return lambda events: [{**event, **changed} if event["type"] == kind else event for event in events]


def crash(_: Any) -> Any:
    raise KeyError("choices")


TOLD_WRONG = {
    "it raises": (crash, "answer-one-call", "replay.answer-is-read", "it raised KeyError: 'choices'"),
    "an error": (
        lambda events: [{"type": "ERROR", "error": {"message": "no"}}, {**events[-1], "message": None}],
        "answer-text",
        "replay.answer-is-read",
        "call gave an ERROR event: no",
    ),
    "a message of no role": (
        each("END", message={"content": "x"}),
        "answer-text",
        "replay.message-is-whole",
        "END's message is none of the standard",
    ),
    "another text in the message": (
        each("END", message={"role": "assistant", "content": "x"}),
        "answer-text",
        "replay.message-is-whole",
        "the message's content is 'x'",
    ),
    "no calls in the message": (
        each("END", message={"role": "assistant", "content": None}),
        "answer-one-call",
        "replay.message-is-whole",
        "1 calls were told, and they are not the 0 of the message",
    ),
    "no text": (
        lambda events: [*each("END", message={"role": "assistant", "content": None})(events[1:])],
        "answer-text",
        "replay.message-is-whole",
        "a text of the recorded answer was not told whole: ",
    ),
    "no counts": (
        each("METADATA", metadata={"stop_reason": "stop"}),
        "answer-text",
        "replay.tokens-are-counted",
        "input_tokens is None, the recorded answer counts ",
    ),
    "no end": (lambda events: events[:-1], "answer-text", "replay.events-keep-their-order", "END"),
}


@pytest.mark.parametrize("what", TOLD_WRONG)
def test_what_is_told_wrong_of_a_recorded_answer_is_found(what: str, tmp_path: Path):
    change, name, check, message = TOLD_WRONG[what]
    record_into(tmp_path, "openai", name)
    with open_subject(spoiled(change), name="spoiled", dialect="openai-chat") as subject:
        result = Session(subject, 1, selection=Selection(cassettes=tmp_path)).run(CHECKS[check], choose((name,))[0])
    assert result.verdict == "fail"
    assert message in "\n".join(finding.message for finding in result.findings)


def test_what_is_cut_otherwise_and_told_otherwise_is_found(tmp_path: Path):
    record_into(tmp_path, "openai", "streamed")

    class Eager(OpenAIAdapter):
        """A chunk that ends within an event is told as one token more."""

        def stream_reader(self, head: Any, info: Any) -> Any:
            reader = super().stream_reader(head, info)
            feed = reader.feed
            reader.feed = lambda chunk: feed(chunk if chunk.endswith(b"\n\n") else chunk.replace(b"w", b"v"))
            return reader

    told = findings(replayed(tmp_path, Eager, "streamed"), "replay.cuts-change-nothing")
    assert "cut otherwise, it differs in " in told


def test_an_answer_that_counts_nothing_is_not_held_against_the_adapter(tmp_path: Path):
    record_into(tmp_path, "openai", "answer-text")
    path = tmp_path / "openai" / "answer-text.yaml"
    one = load_cassette(path)
    body = json.loads(one.exchanges[0].answer_body)
    del body["usage"]
    exchange = msgspec.structs.replace(one.exchanges[0], answer_body=json.dumps(body).encode())
    write_cassette(path, [exchange], one.provenance)
    report = replayed(tmp_path, OpenAIAdapter, "answer-text")
    assert report.failures == []
    reasons = {result.check: result.reason for result in report.results if result.verdict == "not applicable"}
    assert reasons["replay.tokens-are-counted"] == "the recorded answer counts no tokens"


CHAT_BODY = {
    "choices": [
        {"index": 1, "message": {"content": "another's"}},
        {
            "index": 0,
            "message": {
                "content": [{"type": "text", "text": "parts "}, {"type": "text", "text": "of it"}, "no part"],
                "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1'}}, {"function": None}],
            },
        },
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
}
ANTHROPIC_STREAM = b"""data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}}
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "b"}}
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "stray"}}
data: {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "name": "f", "input": {}}}
data: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}}
data: [DONE]
"""
GEMINI_BODY = [
    {"candidates": []},
    {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "Yes"}]}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}}]},
    "no chunk",
]
ANTHROPIC_BODY = {
    "content": [
        {"type": "server_tool_use", "name": "web_search", "input": {"query": "sea"}},
        {"type": "web_search_tool_result", "content": []},
        {"type": "tool_use", "name": "f", "input": {"a": 1}},
        {"type": "text", "text": "So."},
    ]
}
SAID = {
    "chat completions": ("mistral-chat", json.dumps(CHAT_BODY), ["parts of it"], [("f", '{"a": 1'), ("", {})]),
    "a stream of Anthropic's": ("anthropic-messages", ANTHROPIC_STREAM.decode(), ["ab"], [("f", {})]),
    "tools that Anthropic runs itself": (
        "anthropic-messages",
        json.dumps(ANTHROPIC_BODY),
        ["So."],
        [("f", {"a": 1})],
    ),
    "chunks of Gemini's": ("gemini-generate", json.dumps(GEMINI_BODY), ["Yes"], [("f", {"a": 1})]),
    "nothing": ("openai-chat", "<html>", [], []),
}


@pytest.mark.parametrize("what", SAID)
def test_a_recorded_answer_is_read_without_any_adapter(what: str):
    dialect, body, texts, calls = SAID[what]
    told = read_recorded(dialect, body.encode())
    assert list(told.texts.values()) == texts
    assert [(call.name, call.value) for call in told.calls.values()] == calls


def test_of_several_interactions_each_request_is_looked_for_and_the_last_answer_is_read(tmp_path: Path):
    folder = data_folder("cassettes") / "openai"
    one, other, third = (
        load_cassette(folder / f"{name}.yaml") for name in ("one-question", "plain-text", "short-exchange")
    )
    kept = msgspec.structs.replace(one, exchanges=(*one.exchanges, *other.exchanges))
    asked = tuple(Asked.of(found.exchanges[0]) for found in (one, third))
    with open_subject(OpenAIAdapter, name="openai") as subject:
        trial = Trial(subject, choose(("one-question",))[0], 1)
        vars(trial)["replayed"] = Replayed(cassette=kept, reply=Answered(()), asked=asked, unplayed=(1,))
        (found,) = replay.request_is_the_recorded_one.run(trial)
        assert replay._last(trial) == other.exchanges[0]
    assert "the request is not the one in " in found.message
    assert "/messages/0/content: recorded " in found.message


# Matching.


def asked(**body: Any) -> Asked:
    return Asked("POST", "https://api.example.com/v1/chat/completions", json.dumps(body).encode())


def conversation(first: str, second: str, answers: str = "") -> Asked:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in (first, second)]
    return asked(
        model="m",
        messages=[
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": answers or first, "content": "1"},
            {"role": "tool", "tool_call_id": second, "content": "2"},
        ],
    )


CHAT = DIALECTS["openai-chat"]
HI = {"type": "text", "text": "hi"}
TEXT = asked(model="m", messages=[{"role": "user", "content": "hi"}])

SAME = {
    "the order of fields": (TEXT, asked(messages=[{"content": "hi", "role": "user"}], model="m")),
    "a text as a block": (
        TEXT,
        asked(model="m", messages=[{"role": "user", "content": [HI]}]),
    ),
    "another host": (TEXT, Asked("POST", "http://127.0.0.1/v1/chat/completions", TEXT.body)),
    "another root": (TEXT, Asked("POST", "https://proxy.example.com/openai/chat/completions", TEXT.body)),
    "other ids, one to one": (conversation("a", "b"), conversation("b", "c")),
}
OTHER = {
    "another text": (TEXT, asked(model="m", messages=[{"role": "user", "content": "hi "}])),
    "another model": (TEXT, asked(model="n", messages=[{"role": "user", "content": "hi"}])),
    "a field more": (TEXT, asked(model="m", messages=[{"role": "user", "content": "hi"}], seed=1)),
    "another path": (TEXT, Asked("POST", "https://api.example.com/v1/responses", TEXT.body)),
    "another method": (TEXT, Asked("PUT", TEXT.uri, TEXT.body)),
    "two ids that became one": (conversation("a", "b"), conversation("a", "a")),
    "no JSON": (TEXT, Asked("POST", TEXT.uri, b"hello")),
}


@pytest.mark.parametrize("what", SAME)
def test_two_requests_that_mean_the_same_match(what: str):
    assert is_same(CHAT, *SAME[what])


@pytest.mark.parametrize("what", OTHER)
def test_two_requests_that_do_not_mean_the_same_do_not_match(what: str):
    one, other = OTHER[what]
    assert not is_same(CHAT, one, other)
    assert "recorded " in describe_mismatch(CHAT, one, other)


def test_a_difference_is_told_by_its_pointer():
    recorded = {"a": [1, {"b/c": "x" * 200 + "y"}], "gone": None, "same": 1}
    now = {"a": [1.0, {"b/c": "x" * 200 + "z"}, 3], "new": True, "same": 1}
    assert [str(change) for change in changes(recorded, now)] == [
        "/a/0: recorded 1, now 1.0",
        f"/a/1/b~1c: recorded '…{'x' * 20}y', now '…{'x' * 20}z'",
        "/a/2: recorded nothing, now 3",
        "/gone: recorded None, now nothing",
        "/new: recorded nothing, now True",
    ]


# The command.


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["replay", *arguments])


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


def test_what_comes_with_the_suite_is_replayed_where_the_folder_at_hand_is_anothers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "cassettes" / "acme").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    told = run("openai", "--scenarios", "one-question")
    assert told.exit_code == 0, told.output
    assert "replayed answers: 1 by local engine" in told.output


def test_a_vcrpy_that_plays_nothing_is_told_once_and_before_anything_is_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("art_compliance.cassettes.recording.version", lambda _: "8.1.1")
    told = run("openai")
    assert told.exit_code == 2
    assert told.output == (
        "harness: vcrpy 8.1.1 does not see httpx2, so it would record and play nothing: pip install 'vcrpy>=8.2'\n"
    )
    assert certify(OpenAIAdapter, selection=Selection(checks=("wire.no-rule-is-broken",))).failures == []


MUTE = """
from art_sdk import OpenAIAdapter

class Mute(OpenAIAdapter):
    def translate(self, prompt, options):
        raise KeyError("hello")
"""


def test_an_adapter_that_cannot_even_say_hello_ends_with_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "mute_adapter.py").write_text(MUTE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    told = run("mute_adapter:Mute", "--cassettes", str(data_folder("cassettes")))
    assert told.exit_code == 2
    assert "HARNESS preflight." in told.output


NOT_REPLAYED = {
    "no adapter": ((), "name an adapter"),
    "no such scenario": (("openai", "--scenarios", "nope"), "there is no scenario 'nope'"),
    "no such folder": (("openai", "--cassettes", "nope"), "there is no folder of cassettes nope"),
    "nothing kept": (("openai", "--scenarios", "one-letter-texts"), "its provider has no cassette of these scenarios"),
}


@pytest.mark.parametrize("what", NOT_REPLAYED)
def test_what_cannot_be_replayed_is_told_in_words(what: str):
    arguments, message = NOT_REPLAYED[what]
    told = run(*arguments)
    assert told.exit_code == 2
    assert message in told.output
