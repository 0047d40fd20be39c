"""The judge's own exam: requests that real providers answered with 200 decode, and survive being rebuilt.

Every difference between a recorded request and the one that our adapter makes of its decoding
falls under one of the reasons below, or is a failure.
"""

from __future__ import annotations

import re

import pytest

from art_compliance import Decoded, decode
from art_compliance.comparison import Expected, compare
from art_compliance.judging.exam import dialects_of
from art_sdk import ARTError, parse_options, parse_prompt
from art_sdk.messages import dump_prompt
from recorded_traffic import (
    DECLARED_REPAIRS,
    NO_SLOT,
    Recorded,
    accepted,
    decoded_of,
    needs_traffic,
    open_reader,
    params,
    place_of,
    reader_of,
    rebuild,
)
from row_tables import table

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

LATER = "a feature of a later version of the adapters"
AT_THE_PROVIDER = "the earlier turns are kept by the provider: adapters here send the whole conversation"

OPAQUE_REASONS = {
    r"/(n|seed|random_seed|prompt_cache_key|stream_options|usage|reasoning)(/.*)?": NO_SLOT,
    r"/messages/\d+/(prefix|tool_calls/\d+/index)": NO_SLOT,
    r"/tools/\d+/function/strict": NO_SLOT,
    r"/response_format/json_schema/(name|description|strict)": NO_SLOT,
    r"/generationConfig/(seed|responseModalities)": NO_SLOT,
    r"/toolConfig/includeServerSideToolInvocations": NO_SLOT,
    r"/tools/\d+/(googleSearch|google_search)": NO_SLOT,
    r"/thinking": NO_SLOT,
    r"/(store|include|service_tier)": NO_SLOT,
    r"/tools/\d+/strict": NO_SLOT,
    r"/text/format/(name|strict)": NO_SLOT,
    r"/input/\d+/(id|status)": NO_SLOT,
    r"/previous_response_id": AT_THE_PROVIDER,
    r"/tool_choice": "a choice among some of the tools",
    r"/(guardrailConfig|additionalModelRequestFields)": NO_SLOT,
    r"/toolConfig/tools/\d+/systemTool": NO_SLOT,
    r"/output_config/effort": NO_SLOT,
    r"/(system|tools|messages/\d+/content)/\d+/cache_control": NO_SLOT,
    r"/tools/\d+/defer_loading": NO_SLOT,
    r"/messages/\d+/(reasoning|reasoning_content|reasoning_details)": LATER,
}
"""What a recorded request holds beyond the standard format, by JSON pointer. Nothing else may be opaque."""

OWN_ADDITIONS = {
    *("/response_format/json_schema/name", "/text/format/name", "/text/format/strict"),
    *("/stream_options", "/thinking", "/store", "/include"),
}
"""What our adapter adds, by JSON pointer: a name that OpenAI wants, and that a schema stays as it is; that a stream is
counted; for DeepSeek that the model must not think where the choice of a tool is forced; that a response is not stored,
and that its reasoning comes back."""

each = pytest.mark.parametrize("one", params(accepted()))


@needs_traffic
def test_the_corpus_is_no_smaller_than_before():
    assert len(accepted()) >= 85


def decodings(one: Recorded) -> list[Decoded]:
    """By the dialect of the shape, and by the provider's own where it has one."""
    return [decode(name, one.request, url=one.url) for name in dialects_of(one.shape, one.url)]


@each
def test_an_accepted_request_decodes_and_its_opaque_parts_are_known(one: Recorded):
    decoded = decodings(one)[-1]
    assert decoded.prompt
    unexplained = [
        pointer for pointer in decoded.opaque if not any(re.fullmatch(known, pointer) for known in OPAQUE_REASONS)
    ]
    assert unexplained == []


@each
def test_an_accepted_request_is_a_valid_prompt(one: Recorded):
    for decoded in decodings(one):
        assert parse_prompt(dump_prompt(decoded.prompt)) == decoded.prompt


@each
def test_an_accepted_request_is_rebuilt_to_one_that_means_the_same(one: Recorded):
    if "previous_response_id" in one.request:
        pytest.skip(AT_THE_PROVIDER)
    rebuilt = rebuild(one)
    losses = open_reader(reader_of(one)).losses
    assert [one for one in rebuilt.compared.differences if one.loss not in losses] == []
    assert rebuilt.compared.repairs <= DECLARED_REPAIRS[one.dialect]
    assert rebuilt.again.opaque.keys() <= OWN_ADDITIONS


@table("one", params(one for one in accepted() if one.shape == "chat_completions" and place_of(one)))
def test_an_adapter_of_the_family_calls_the_recorded_url(one: Recorded):
    adapter, options = open_reader(reader_of(one), **place_of(one)), parse_options({"thread_id": "corpus"})
    assert adapter.request({}, options).url == one.url


@each
def test_a_loss_in_a_rebuilt_request_is_noticed(one: Recorded):
    decoded = decoded_of(one)
    shorter = decoded.prompt[:-1]
    if not shorter:
        return
    try:
        payload = open_reader(reader_of(one)).translate(shorter, parse_options({"thread_id": "corpus"}))
    except ARTError:
        return
    whole = Expected(dialect=one.dialect, prompt=decoded.prompt, tools=(), options={})
    assert compare(whole, decode(one.dialect, payload)).differences
