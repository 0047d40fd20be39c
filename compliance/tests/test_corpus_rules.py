"""The rules' own exam, by recorded traffic: what a provider took breaks none, what it refused breaks the one it names.

A request of a relative of OpenAI's is judged as `openai-chat`, as an adapter to it would be.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from art_compliance.exam import dialects_of
from art_compliance.findings import Finding
from art_compliance.rules import RULED, judge_rules

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

REFUSED = {
    "openai.role-system-models": ("does not support 'developer' with this model", "does not support 'system' with"),
    "openai.strict-schema-closed": ("'additionalProperties' is required to be supplied and to be false",),
    "openai.stop-unsupported-models": ("Unsupported parameter: 'stop' is not supported with this model",),
    "anthropic.nonempty-content": ("all messages must have non-empty content except",),
    "gemini.roles": ("Please use a valid role: user, model",),
    "gemini.temperature": ("it has a temperature value of 1000",),
}
"""For each rule, the words of the recorded refusals that it explains."""

OTHER_REASONS = (
    "Error while downloading",
    "Input does not match the expected shape",  # the schema's business
    "Missing required parameter",  # likewise
    "Content blocks are expected to be either",  # likewise
    "API key not valid",
    "too long",
    "maximum context length",
    "token count",
    "Tool call validation failed",
    "Tool choice is required, but",
    "does not support effort level",
    "Cannot fetch content from",
    "Web search options not supported",
    "unsupported image",
)
"""Words of refusals for what no rule is about."""


def interactions() -> list[dict[str, Any]]:
    if not CORPUS.is_dir():
        return []
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CORPUS.glob("*/*.json"))]


def errors() -> list[dict[str, Any]]:
    """The refusals that are kept by themselves, with their requests."""
    path = CORPUS / "errors.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def judged(one: dict[str, Any]) -> list[Finding]:
    model, url = one.get("model"), one.get("url")
    return [
        finding
        for dialect in dialects_of(one["shape"], one.get("url"))
        for finding in judge_rules(dialect, one["request"], model=model, url=url)
    ]


def params(found: list[dict[str, Any]]) -> list[Any]:
    if not found:
        reason = f"no recorded traffic: {CORPUS.parent.name}/{CORPUS.name} is not beside the checkout"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")]
    return [pytest.param(one, id=f"{one['provider']}-{at}") for at, one in enumerate(found)]


ACCEPTED = [
    one for one in interactions() if one["response"]["status"] == 200 and dialects_of(one["shape"], one.get("url"))
]
ALL_ERRORS = [
    *((one, json.dumps(one["response"])) for one in interactions() if one["response"]["status"] in (400, 422)),
    *((one, json.dumps(one["response"])) for one in errors() if one["status"] in (400, 422) and one.get("request")),
]
REFUSALS = [{**one, "told": told} for one, told in ALL_ERRORS if dialects_of(one["shape"], one.get("url"))]


@pytest.mark.parametrize("one", params(ACCEPTED))
def test_an_accepted_request_breaks_no_rule(one: dict[str, Any]):
    assert [finding.message for finding in judged(one) if finding.severity == "reject"] == []


@pytest.mark.parametrize("one", params(REFUSALS))
def test_a_refused_request_breaks_the_rule_that_its_refusal_names(one: dict[str, Any]):
    named = {name for name, texts in REFUSED.items() if any(text in one["told"] for text in texts)}
    found = {finding.message.partition(": ")[0] for finding in judged(one) if finding.severity == "reject"}
    assert found == named
    assert named or any(text in one["told"] for text in OTHER_REASONS)


def test_every_rule_that_refusals_name_is_seen():
    if not CORPUS.is_dir():
        pytest.skip("no recorded traffic beside the checkout")
    seen = {name for one in REFUSALS for name, texts in REFUSED.items() if any(text in one["told"] for text in texts)}
    assert seen == {name for name in REFUSED if any(name.startswith(dialect.partition("-")[0]) for dialect in RULED)}
    assert len(ACCEPTED) >= 60
