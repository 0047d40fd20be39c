"""`art judge` and `art wire`: what they print, and what they end with."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.judging.wire import rebuild
from art_compliance.judging.wire.sources import SOURCES

GOOD = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
WRONG = {**GOOD, "messages": [{"role": "user", "content": [{"type": "text", "txt": "hi"}]}]}


def art(*arguments: str, given: str | bytes | None = None):
    return CliRunner().invoke(app, list(arguments), input=given)


def judge(payload, *more: str):
    return art("judge", "--dialect", "anthropic-messages", *more, given=json.dumps(payload))


def test_a_good_request_exits_with_0(tmp_path):
    file = tmp_path / "request.json"
    file.write_text(json.dumps(GOOD))
    result = art("judge", "--dialect", "anthropic-messages", str(file))
    assert (result.exit_code, result.output) == (0, "nothing found\n")


def test_a_wrong_request_exits_with_1_and_each_finding_has_a_place_and_a_source():
    result = judge(WRONG)
    assert result.exit_code == 1
    assert "reject  /messages/0/content/0/txt\n        unknown field 'txt'; did you mean 'text'?" in result.output
    assert "wire.request-matches-the-schema; anthropic 2." in result.output


def test_a_request_with_only_notes_exits_with_0():
    result = judge({**GOOD, "temperature": 0.5})
    assert result.exit_code == 0
    assert result.output.startswith("note    /temperature")


def test_the_url_decides_whose_fields_are_known():
    payload = json.dumps({**GOOD, "thinking": {"type": "enabled"}})
    hosts = [("https://api.deepseek.com/chat/completions", 0), ("https://api.openai.com/v1/chat/completions", 1)]
    for url, code in hosts:
        assert art("judge", "--dialect", "openai-chat", "--url", url, given=payload).exit_code == code


@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        (
            ("judge", "--url", "https://llm.example/v1/say"),
            "{}",
            "standard input: the wire format of https://llm.example/v1/say is unknown; name it with --dialect; known: ",
        ),
        (
            ("judge",),
            "{}",
            "standard input: name the wire format with --dialect, or the URL with --url; known: anthropic-",
        ),
        (("judge", "--dialect", "poem"), "{}", "there is no judge for the dialect 'poem'; known: anthropic-messages"),
        (("judge", "--dialect", "openai-chat"), "{", "standard input is not JSON: Expecting property name"),
        (("judge", "--dialect", "openai-chat"), b"\xff\xfe{", "standard input is not UTF-8 text (byte 0)"),
        (("judge", "--dialect", "openai-chat"), "[" * 100_000, "standard input is not JSON: it is nested too deep"),
        (("judge", "--dialect", "openai-chat"), " \n", "standard input is empty"),
        (("judge", "--dialect", "openai-chat", "none.json"), None, "cannot read none.json: No such file"),
        (("wire", "rebuild", "poem"), None, "unknown schema 'poem'; known: "),
    ],
)
def test_bad_input_exits_with_2_and_one_message(arguments, given, message):
    result = art(*arguments, given=given)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1


@pytest.fixture
def other_sdk(monkeypatch, tmp_path):
    """Schemas in a folder of their own, where that of `openai-chat` was made from another version."""
    schema = rebuild.before("openai-chat")
    changed = {**schema, "properties": {**schema["properties"], "beam_width": {"type": "integer"}}}
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire" / "openai-chat.schema.json").write_text(json.dumps(changed))
    monkeypatch.setattr(rebuild, "data_folder", lambda _: tmp_path)
    monkeypatch.setattr(rebuild, "rebuild", lambda _: schema)
    return tmp_path / "wire" / "openai-chat.schema.json"


def test_rebuilding_writes_and_prints_what_changed(other_sdk):
    result = art("wire", "rebuild", "openai-chat")
    assert result.exit_code == 0
    assert result.output.startswith(
        'openai-chat: 1 changed\n    /properties/beam_width: {"type": "integer"} -> nothing'
    )
    assert "beam_width" not in other_sdk.read_text()
    assert art("wire", "rebuild", "openai-chat").output == "openai-chat: unchanged\n"


def test_rebuild_with_check_writes_nothing_and_exits_with_1(other_sdk):
    assert art("wire", "rebuild", "openai-chat", "--check").exit_code == 1
    assert "beam_width" in other_sdk.read_text()


def test_a_missing_sdk_is_named(monkeypatch):
    monkeypatch.setattr(rebuild, "distribution", lambda name: (_ for _ in ()).throw(rebuild.PackageNotFoundError(name)))
    result = art("wire", "rebuild", next(iter(SOURCES)))
    assert result.exit_code == 2
    assert "is not installed; install: pip install 'art-adapter-sdk[judges]'" in result.output
