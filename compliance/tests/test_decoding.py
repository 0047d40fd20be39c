"""Requests of every dialect decode to the standard format, or fail with the place that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given

from any_json import JSON
from art_compliance.dialects import DIALECTS, DecodeFailed, decode
from art_compliance.dialects.urls import model_of
from art_compliance.findings import HarnessError
from art_sdk import dump_prompt
from row_tables import table

DATA: Final = Path(__file__).parent / "data" / "decodings"
SAME, WHOLE, WRONG = (json.loads((DATA / f"{name}.json").read_text("utf-8")) for name in ("same", "whole", "wrong"))
FAMILY = [name for name, dialect in DIALECTS.items() if dialect.service.path == DIALECTS["openai-chat"].service.path]


@table(
    ("dialect", "pair"),
    [
        pytest.param(dialect, pair, id=f"{dialect}-{name}")
        for known, pairs in SAME.items()
        for dialect in (FAMILY if known in FAMILY else (known,))
        for name, pair in pairs.items()
    ],
)
def test_equivalent_forms_decode_to_the_same(dialect: str, pair: Any):
    one, other = (decode(dialect, payload) for payload in pair)
    assert (one.prompt, one.tools, one.options) == (other.prompt, other.tools, other.options)
    assert one.opaque == other.opaque == {}


@pytest.mark.parametrize("case", WHOLE.values(), ids=[f"{case['dialect']}-{name}" for name, case in WHOLE.items()])
def test_a_request_decodes_to_its_prompt_tools_options_and_places(case: dict[str, Any]):
    decoded = decode(case["dialect"], case["payload"], url=case["url"])
    plain = msgspec.to_builtins(decoded)
    assert dump_prompt(decoded.prompt) == case["prompt"]
    assert json.loads(json.dumps(plain["tools"])) == case["tools"]
    assert json.loads(json.dumps(plain["options"])) == case["options"]
    assert (decoded.opaque, decoded.places) == (case["opaque"], case["places"])


@table("case", WRONG, ids=[f"{case['dialect']}-{case['pointer']}" for case in WRONG])
def test_a_request_of_another_form_fails_with_its_place(case: dict[str, Any]):
    with pytest.raises(DecodeFailed) as failed:
        decode(case["dialect"], case["payload"])
    assert failed.value.pointer == case["pointer"]


def test_an_unknown_dialect_fails_with_the_known_ones():
    with pytest.raises(
        HarnessError,
        match=r"unknown dialect .x.; known: anthropic-messages, bedrock-converse, cohere-chat-v2, deepseek-chat, ",
    ):
        decode("x", {})


@pytest.mark.unmeasured
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@given(payload=JSON)
def test_decoding_any_json_gives_a_prompt_or_says_where_it_cannot(dialect: str, payload: Any):
    try:
        pointer = min(decode(dialect, payload).places.values(), default="")
    except DecodeFailed as error:
        pointer = error.pointer
    assert pointer == "" or pointer.startswith("/")


GOES_BACK: dict[str, set[str]] = {
    "openai-chat": set(),
    "anthropic-messages": {"text", "signature"},
    "openai-responses": {"text", "signature"},
    "bedrock-converse": {"text", "signature"},
    "gemini-generate": {"signature"},
    "deepseek-chat": {"text"},
    "groq-chat": {"text"},
    "mistral-chat": {"text"},
    "openrouter-chat": {"text", "signature"},
    "openai-compatible": {"text"},
    "ollama-chat": {"text"},
    "cohere-chat-v2": {"text"},
}
"""What a provider gets back of a turn's reasoning: the text, a signature, both or nothing."""


@pytest.mark.parametrize("name", GOES_BACK)
def test_a_provider_gets_back_its_part_of_the_reasoning(name: str):
    dialect = DIALECTS[name]
    wanted = {"text": dialect.requests.has_thinking, "signature": dialect.requests.has_signature}
    assert {what for what, is_wanted in wanted.items() if is_wanted} == GOES_BACK[name]


GEMINI_HOST = "https://generativelanguage.googleapis.com/v1beta"


@pytest.mark.parametrize(
    ("url", "model"),
    [
        (f"{GEMINI_HOST}/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash"),
        (f"{GEMINI_HOST}/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "gemini-2.5-flash"),
        (f"{GEMINI_HOST}/models/vendor%2Fsome:free@2025-05-01:generateContent", "vendor/some:free@2025-05-01"),
        (f"{GEMINI_HOST}/models/vendor%2Fsome%3Afree:streamGenerateContent", "vendor/some:free"),
        (f"{GEMINI_HOST}/tunedModels/mine:generateContent", None),
        ("https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=1", "gpt-4o"),
        ("https://x.example/models/m", "m"),
        ("https://api.openai.com/v1/chat/completions", None),
        (None, None),
    ],
)
def test_a_url_may_name_the_model(url: str | None, model: str | None):
    assert model_of(url) == model
    decoded = decode("gemini-generate", {"contents": [{"parts": [{"text": "a"}]}]}, url=url)
    assert decoded.options.get("model") == model
    assert decoded.options.get("stream", False) is ("streamGenerateContent" in (url or ""))
