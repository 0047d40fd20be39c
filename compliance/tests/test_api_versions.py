"""A provider's API has versions: a rule holds since one of them, and the request says which one it wants."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from art_compliance import judge
from art_compliance.commands import app
from art_compliance.dialects import DIALECTS
from art_compliance.provider import Request, ask
from art_compliance.provider.refusing import find_wrong, refuse_for

OLD, NEW = "2023-06-01", "2026-10-21"
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-opus-4-7/invoke"
BODY = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
SAMPLED = {**BODY, "temperature": 1.0}


def refusals(body: dict[str, Any], version: str | None, url: str | None = None) -> list[str]:
    found = judge("anthropic-messages", body, version=version, url=url)
    return [one.message.partition(":")[0] for one in found if one.severity == "reject"]


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        (None, []),
        (OLD, []),
        (NEW, ["anthropic.sampling-removed"]),
        ("2027-02-03", ["anthropic.sampling-removed"]),
        ("latest", []),
    ],
)
def test_a_rule_applies_since_the_version_that_it_names(version, rules):
    assert refusals(SAMPLED, version) == rules
    assert refusals(BODY, version) == []


def test_where_the_body_names_the_version_it_is_read_there():
    hosted = {name: value for name, value in SAMPLED.items() if name != "model"}
    assert refusals({**hosted, "anthropic_version": "bedrock-2023-05-31"}, None, BEDROCK) == []
    assert refusals({**hosted, "anthropic_version": NEW}, None, BEDROCK) == ["anthropic.sampling-removed"]


@pytest.mark.parametrize(
    ("dialect", "version", "words"),
    [
        ("anthropic-messages", "2027-02-03", "known: 2023-06-01, 2026-10-21, 2023-01-01"),
        ("openai-chat", "2027-02-03", "this provider does not name versions in a header"),
        ("anthropic-messages", OLD, None),
        ("openai-chat", None, None),
    ],
)
def test_a_version_that_is_not_known_is_a_note(dialect, version, words):
    notes = [one.message for one in judge(dialect, BODY, version=version) if "version" in one.message]
    assert (len(notes), all(words in note for note in notes)) == (0 if words is None else 1, True)


@pytest.mark.parametrize(("version", "status"), [(OLD, None), (NEW, 400)])
def test_the_strict_provider_judges_by_the_header(version, status):
    headers = {"x-api-key": "any", "anthropic-version": version}
    asked = ask(DIALECTS["anthropic-messages"], Request("POST", "/v1/messages", headers, json.dumps(SAMPLED).encode()))
    refusal = refuse_for(asked, find_wrong(asked))
    assert (refusal and refusal.status) == status
    assert refusal is None or refusal.words.startswith("temperature: Extra inputs are not permitted")


def test_the_command_takes_the_version():
    for version, code in ((OLD, 0), (NEW, 1)):
        options = ["judge", "--dialect", "anthropic-messages", "--api-version", version, "-"]
        result = CliRunner().invoke(app, options, input=json.dumps(SAMPLED))
        assert (result.exit_code, "anthropic.sampling-removed" in result.output) == (code, bool(code))
