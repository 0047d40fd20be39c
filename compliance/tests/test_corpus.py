"""The judge's own exam: requests that real providers answered with 200 decode, and survive being rebuilt.

Every difference between a recorded request and the one that our adapter makes of its decoding
falls under one of the reasons below, or is a failure.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from art_compliance import Decoded, decode
from art_compliance.comparison import Expected, compare
from art_compliance.exam import SHAPES as DIALECTS
from art_compliance.exam import dialects_of
from art_sdk import (
    AnthropicAdapter,
    ARTError,
    BaseAdapter,
    GeminiAdapter,
    OpenAIAdapter,
    PromptTranslationFailed,
    parse_options,
    parse_prompt,
)
from art_sdk.messages import dump_prompt

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
ADAPTERS: dict[str, type[BaseAdapter]] = {
    "openai-chat": OpenAIAdapter,
    "gemini-generate": GeminiAdapter,
    "anthropic-messages": AnthropicAdapter,
}

NO_SLOT = "the format has no slot for it"
LATER = "a feature of a later version of the adapters"

OPAQUE_REASONS = {
    r"/(n|seed|random_seed|prompt_cache_key|stream_options|usage|reasoning)(/.*)?": NO_SLOT,
    r"/messages/\d+/(prefix|tool_calls/\d+/index)": NO_SLOT,
    r"/tools/\d+/function/strict": NO_SLOT,
    r"/response_format/json_schema/(name|description|strict)": NO_SLOT,
    r"/generationConfig/(seed|responseModalities)": NO_SLOT,
    r"/toolConfig/includeServerSideToolInvocations": NO_SLOT,
    r"/tools/\d+/(googleSearch|google_search)": NO_SLOT,
    r"/thinking": NO_SLOT,
    r"/output_config/effort": NO_SLOT,
    r"/(system|tools|messages/\d+/content)/\d+/cache_control": NO_SLOT,
    r"/tools/\d+/defer_loading": NO_SLOT,
    r"/messages/\d+/(reasoning|reasoning_content|reasoning_details)": LATER,
}
"""What a recorded request holds beyond the standard format, by JSON pointer. Nothing else may be opaque."""

REFUSALS = {"'streaming' is not declared": LATER, "'late_system' is not declared": "some models alone take it"}
"""Why our adapter may refuse what a provider took."""

DECLARED_REPAIRS: dict[str, frozenset[str]] = {
    "openai-chat": frozenset({"maps_call_ids"}),
    "gemini-generate": frozenset({"joins_turns"}),
    "anthropic-messages": frozenset(),
}


def recorded() -> list[Any]:
    if not CORPUS.is_dir():
        reason = f"no recorded traffic: {CORPUS.parent.name}/{CORPUS.name} is not beside the checkout"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")]
    found = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(CORPUS.glob("*/*.json"))]
    return [
        pytest.param(one, id=f"{path.parent.name}/{path.stem}")
        for path, one in found
        if one["shape"] in DIALECTS and one["response"]["status"] == 200
    ]


def is_refused_for_a_known_reason(adapter: BaseAdapter, prompt: Any, options: Any) -> bool:
    try:
        adapter.translate(prompt, options)
    except PromptTranslationFailed as error:
        if not any(reason in error.message for reason in REFUSALS):
            raise
        return True
    return False


def test_the_corpus_holds_what_it_held():
    if not CORPUS.is_dir():
        pytest.skip("no recorded traffic beside the checkout")
    assert len(recorded()) >= 85


def decodings(interaction: dict[str, Any]) -> list[Decoded]:
    """By the dialect of the shape, and by the provider's own where it has one."""
    names = dialects_of(interaction["shape"], interaction["url"])
    return [decode(name, interaction["request"], url=interaction["url"]) for name in names]


@pytest.mark.parametrize("interaction", recorded())
def test_an_accepted_request_decodes_and_what_has_no_slot_is_known(interaction: dict[str, Any]):
    decoded = decodings(interaction)[-1]
    assert decoded.prompt
    unexplained = [
        pointer for pointer in decoded.opaque if not any(re.fullmatch(known, pointer) for known in OPAQUE_REASONS)
    ]
    assert unexplained == []


@pytest.mark.parametrize("interaction", recorded())
def test_an_accepted_request_is_a_valid_prompt(interaction: dict[str, Any]):
    for decoded in decodings(interaction):
        assert parse_prompt(dump_prompt(decoded.prompt)) == decoded.prompt


@pytest.mark.parametrize("interaction", recorded())
def test_an_accepted_request_is_rebuilt_to_one_that_means_the_same(interaction: dict[str, Any]):
    dialect = DIALECTS[interaction["shape"]]
    adapter = ADAPTERS[dialect](api_key="no-key")
    decoded = decode(dialect, interaction["request"], url=interaction["url"])
    wanted = {name: value for name, value in decoded.options.items() if name != "stream"}
    options = parse_options({"thread_id": "corpus", "tools": decoded.tools, **wanted})
    if is_refused_for_a_known_reason(adapter, decoded.prompt, options):
        return
    payload = adapter.translate(decoded.prompt, options)
    again = decode(dialect, payload, url=adapter.request(payload, options).url)
    comparison = compare(Expected(dialect=dialect, prompt=decoded.prompt, tools=decoded.tools, options=wanted), again)
    assert comparison.differences == ()
    assert comparison.repairs <= DECLARED_REPAIRS[dialect]
    assert again.opaque.keys() <= {"/response_format/json_schema/name"}


@pytest.mark.parametrize("interaction", recorded())
def test_a_rebuilt_request_that_lost_something_is_seen(interaction: dict[str, Any]):
    dialect = DIALECTS[interaction["shape"]]
    decoded = decode(dialect, interaction["request"], url=interaction["url"])
    shorter = decoded.prompt[:-1]
    if not shorter:
        return
    try:
        payload = ADAPTERS[dialect](api_key="no-key").translate(shorter, parse_options({"thread_id": "corpus"}))
    except ARTError:
        return
    lost = compare(Expected(dialect=dialect, prompt=decoded.prompt, tools=(), options={}), decode(dialect, payload))
    assert lost.differences
