"""The strict provider answers what a request asks for: calls, limits, schemas and reasoning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.provider import WRITTEN_TEXT, StrictProvider
from art_compliance.provider.composing import ANSWERS
from art_compliance.provider.signatures import is_ours, sign
from row_tables import table
from strict_requests import FINISH, HELLO, PATHS, SCHEMA, TOOLS, each, post, read_answer, with_results, words


@pytest.fixture(scope="module")
def provider() -> Iterator[StrictProvider]:
    with StrictProvider() as opened:
        yield opened


@each
def test_tools_are_called_once_and_their_results_answered_with_a_text(provider: StrictProvider, dialect: str):
    response = post(provider, dialect, HELLO[dialect] | TOOLS[dialect])
    text, calls, finish = read_answer(dialect, response)
    assert (text, finish) == (None, FINISH[dialect][2])
    assert calls == [("look", {"city": "written"}), ("see", {"city": "written"})]
    again = post(provider, dialect, with_results(dialect, response.json()))
    assert again.status_code == 200, again.text
    assert read_answer(dialect, again) == (WRITTEN_TEXT, [], FINISH[dialect][0])


CHOICES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("openai-chat", {"tool_choice": "none"}, []),
    ("openai-chat", {"tool_choice": "required", "parallel_tool_calls": False}, ["look"]),
    ("openai-chat", {"tool_choice": {"type": "function", "function": {"name": "see"}}}, ["see"]),
    ("anthropic-messages", {"tool_choice": {"type": "none"}}, []),
    ("anthropic-messages", {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, ["look"]),
    ("anthropic-messages", {"tool_choice": {"type": "tool", "name": "see"}}, ["see"]),
    ("gemini-generate", {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}, []),
    (
        "gemini-generate",
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["see"]}}},
        ["see"],
    ),
]


@pytest.mark.parametrize(("dialect", "choice", "names"), CHOICES)
def test_a_choice_of_tools_is_honoured(
    provider: StrictProvider, dialect: str, choice: dict[str, Any], names: list[str]
):
    text, calls, _ = read_answer(dialect, post(provider, dialect, HELLO[dialect] | TOOLS[dialect] | choice))
    assert [name for name, _ in calls] == names
    assert (text is None) is bool(names)


LIMITS: list[tuple[str, dict[str, Any]]] = [
    ("openai-chat", {"max_completion_tokens": 3}),
    ("anthropic-messages", {"max_tokens": 3}),
    ("gemini-generate", {"generationConfig": {"maxOutputTokens": 3}}),
]


@pytest.mark.parametrize(("dialect", "limit"), LIMITS)
def test_few_tokens_cut_the_answer_by_length(provider: StrictProvider, dialect: str, limit: dict[str, Any]):
    for tools in ({}, TOOLS[dialect]):
        response = post(provider, dialect, HELLO[dialect] | limit | tools)
        assert read_answer(dialect, response) == (WRITTEN_TEXT[:12], [], FINISH[dialect][1])


STOPS: list[tuple[str, dict[str, Any]]] = [
    ("openai-chat", {"stop": ["not", ","]}),
    ("anthropic-messages", {"stop_sequences": ["not", ","]}),
    ("gemini-generate", {"generationConfig": {"stopSequences": ["not", ","]}}),
]


@pytest.mark.parametrize(("dialect", "stop"), STOPS)
def test_a_stop_sequence_ends_the_answer_before_it(provider: StrictProvider, dialect: str, stop: dict[str, Any]):
    text, _, finish = read_answer(dialect, post(provider, dialect, HELLO[dialect] | stop))
    assert (text, finish) == (WRITTEN_TEXT.partition(",")[0], FINISH[dialect][0])


FORMATS: list[tuple[str, dict[str, Any]]] = [
    (
        "openai-chat",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
    ),
    ("gemini-generate", {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}}),
]


@pytest.mark.parametrize(("dialect", "wanted"), FORMATS)
def test_an_answer_with_a_schema_is_json_that_fits_it(provider: StrictProvider, dialect: str, wanted: dict[str, Any]):
    text, _, _ = read_answer(dialect, post(provider, dialect, HELLO[dialect] | wanted))
    assert json.loads(text) == {"city": "written"}


THINKING: list[tuple[str, dict[str, Any], str]] = [
    ("anthropic-messages", {"max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024}}, "signature"),
    ("gemini-generate", {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}, "thoughtSignature"),
]


@pytest.mark.parametrize(("dialect", "wanted", "name"), THINKING)
def test_requested_reasoning_is_signed_and_must_come_back_unchanged(
    provider: StrictProvider, dialect: str, wanted: dict[str, Any], name: str
):
    response = post(provider, dialect, HELLO[dialect] | TOOLS[dialect] | wanted)
    assert "This thought was written" in response.text
    payload = with_results(dialect, response.json()) | wanted
    assert post(provider, dialect, payload).status_code == 200
    signature = response.text.partition(f'"{name}": "')[2].partition('"')[0]
    assert is_ours(signature)
    changed = json.loads(json.dumps(payload).replace(signature, signature[:-2] + "AA"))
    refused = post(provider, dialect, changed)
    assert refused.status_code == 400
    assert "signature" in words(dialect, refused)
    assert provider.seen()[-1].findings[-1].check == "provider.signature-comes-back-unchanged"


@pytest.mark.parametrize("asked", [{}, {"include": ["reasoning.encrypted_content"]}])
def test_encrypted_reasoning_of_the_responses_api_need_not_be_asked_for(
    provider: StrictProvider, asked: dict[str, Any]
):
    payload = HELLO["openai-responses"] | {"model": "gpt-5-mini"} | asked
    thought, *_ = post(provider, "openai-responses", payload).json()["output"]
    assert is_ours(thought["encrypted_content"])


def test_a_changed_thought_does_not_match_its_signature(provider: StrictProvider):
    _, wanted, _ = THINKING[0]
    response = post(provider, "anthropic-messages", HELLO["anthropic-messages"] | TOOLS["anthropic-messages"] | wanted)
    payload = with_results("anthropic-messages", response.json()) | wanted
    payload["messages"][1]["content"][0]["thinking"] += "!"
    refused = post(provider, "anthropic-messages", payload)
    assert "messages.1.content.0: Invalid `signature` in `thinking` block" in words("anthropic-messages", refused)


@pytest.mark.parametrize("signature", ["", "AAAA", "no base64!", sign("a")[:-4], "\u2713"])
def test_a_foreign_signature_is_recognized(signature: str):
    assert not is_ours(signature)


def test_gemini_accepts_signatures_in_either_alphabet_and_the_one_that_skips_validation(provider: StrictProvider):
    own = next(sign(str(number)) for number in range(99) if "/" in sign(str(number)))
    dummies = (
        "skip_thought_signature_validator",
        "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",  # as Google's own client sends it
        "context_engineering_is_the_way_to_go",
        "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv",
    )
    for signature in (own, own.replace("/", "_").replace("+", "-"), *dummies):
        turn = {"role": "model", "parts": [{"text": "hm", "thoughtSignature": signature}]}
        payload = {"contents": [*HELLO["gemini-generate"]["contents"], turn, *HELLO["gemini-generate"]["contents"]]}
        assert post(provider, "gemini-generate", payload).status_code == 200


@each
@table("answer", ANSWERS)
def test_every_named_answer_is_written_both_streamed_and_unstreamed(dialect: str, answer: str):
    with StrictProvider(dialect, answer=answer) as one:
        assert post(one, dialect, HELLO[dialect]).status_code == 200
        streamed = (
            {"path": PATHS[dialect].replace(":generate", ":streamGenerate") + "?alt=sse"} if "gemini" in dialect else {}
        )
        body = HELLO[dialect] if streamed else HELLO[dialect] | {"stream": True}
        response = post(one, dialect, body, **streamed)
        assert response.headers["content-type"] == DIALECTS[dialect].streams.content_type
        assert [exchange.said is not None for exchange in one.seen()] == [True, True]


def test_gemini_streams_an_array_unless_events_are_requested(provider: StrictProvider):
    path = PATHS["gemini-generate"].replace(":generate", ":streamGenerate")
    response = post(provider, "gemini-generate", HELLO["gemini-generate"], path=path)
    assert response.headers["content-type"] == "application/json"
    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in response.json()]
    assert "".join(texts) == WRITTEN_TEXT
    assert len(texts) > 3
