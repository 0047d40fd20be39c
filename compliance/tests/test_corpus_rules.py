"""The rules' own exam, by recorded traffic: what a provider took breaks none, what it refused breaks the one it names.

A request of a relative of OpenAI's is judged as `openai-chat`, as an adapter to it would be.
"""

from __future__ import annotations

import pytest

from art_compliance.findings import Finding
from art_compliance.judging.exam import dialects_of
from art_compliance.judging.rulebook import judge_rules
from recorded_traffic import Recorded, accepted, listed_refusals, needs_traffic, params, recorded_files
from row_tables import table

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

REFUSED = {
    "openai.role-system-models": ("does not support 'developer' with this model", "does not support 'system' with"),
    "openai.strict-schema-closed": ("'additionalProperties' is required to be supplied and to be false",),
    "openai.stop-unsupported-models": ("Unsupported parameter: 'stop' is not supported with this model",),
    "openai.audio-input-models": ("Content blocks are expected to be either text or image_url type",),
    "openai.web-search-models": ("Web search options not supported with this model",),
    "openai.image-format": ("You uploaded an unsupported image",),
    "responses.reasoning-followed": ("was provided without its required following item",),
    "responses.sampling-range": ("Invalid 'temperature': decimal below minimum value",),
    "responses.strict-schema-required": ("to be an array including every key in properties",),
    "responses.effort-models": ("is not supported with the 'o4-mini' model",),
    "anthropic.nonempty-content": ("all messages must have non-empty content except",),
    "gemini.roles": ("Please use a valid role: user, model",),
    "gemini.temperature": ("it has a temperature value of 1000",),
    "anthropic.effort-level": ("does not support effort level",),
}
"""For each rule, the words of the recorded refusals that it explains."""

OTHER_REASONS = (
    "Error while downloading",
    "Input does not match the expected shape",  # the schema's business
    "Missing required parameter",  # likewise
    "API key not valid",
    "Incorrect API key provided",
    "The requested model",
    "exceeds the context window",
    "Invalid file data",
    "The file type you uploaded is not supported",
    "No tool output found for tool call",  # DeepSeek's: an output far behind its call
    "too long",
    "too many tokens",
    "maximum context length",
    "token count",
    "Tool call validation failed",
    "Tool choice is required, but",
    "Cannot fetch content from",
    "Input Tokens Exceeded",
    "The provided model identifier is invalid",
    "doesn't support the video content block",  # one model's, at Bedrock
    "doesn't support the s3Uri field",  # likewise
    "extraneous key [toolResult] is not permitted",  # Bedrock's own translation of a document in a result
    "document.source.type: Field required",  # likewise
)
"""Words of refusals for what no rule is about."""


def judged(one: Recorded) -> list[Finding]:
    return [
        finding
        for dialect in dialects_of(one.shape, one.url)
        for finding in judge_rules(dialect, one.request, model=one.model, url=one.url)
    ]


def refused() -> list[Recorded]:
    """The requests of our dialects that were refused for what they say."""
    every = [*recorded_files(), *(one for one in listed_refusals() if one.request)]
    return [one for one in every if one.status in (400, 422) and dialects_of(one.shape, one.url)]


@table("one", params(accepted()))
def test_an_accepted_request_breaks_no_rule(one: Recorded):
    assert [finding.message for finding in judged(one) if finding.severity == "reject"] == []


@table("one", params(refused()))
def test_a_refused_request_breaks_the_rule_that_its_refusal_names(one: Recorded):
    body = one.answer.decode()
    named = {name for name, texts in REFUSED.items() if any(text in body for text in texts)}
    found = {finding.message.partition(": ")[0] for finding in judged(one) if finding.severity == "reject"}
    assert found == named
    assert named or any(text in body for text in OTHER_REASONS)


@needs_traffic
def test_every_rule_named_by_refusals_is_covered():
    bodies = [one.answer.decode() for one in refused()]
    seen = {name for name, texts in REFUSED.items() if any(text in words for words in bodies for text in texts)}
    assert seen == set(REFUSED)
    assert len(accepted()) >= 60
