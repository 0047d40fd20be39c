"""Unstreamed answers of every built-in adapter, as data: what is read of them, and what is not an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from art_sdk import ArtStandardPrompt, CallInfo, Completion, ErrorEvent, ResponseHead, dump_prompt, fold
from streamed import ADAPTERS, KEY

ANSWERS: dict[str, dict[str, list[Any]]] = {
    provider: json.loads((Path(__file__).parent / "data" / "answers" / f"{provider}.json").read_text(encoding="utf-8"))
    for provider in ADAPTERS
}
WITHOUT_USAGE: dict[str, dict[str, Any]] = {
    "openai": {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]},
    "anthropic": {"type": "message", "content": [], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]},
}


def cases(kind: str) -> Any:
    """The cases of all providers."""
    return pytest.mark.parametrize(
        ("provider", "case"), [(provider, case) for provider, table in ANSWERS.items() for case in table[kind]]
    )


def in_bytes(body: Any) -> bytes:
    """A body of the data: a text as it is, anything else as JSON."""
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def read(provider: str, body: Any, prompt: ArtStandardPrompt = (), **headers: str) -> Completion:
    info = CallInfo(thread_id="t", trace_id="r", model="m", prompt=prompt)
    return fold(ADAPTERS[provider](api_key=KEY).read_response(ResponseHead(200, headers), in_bytes(body), info))


@cases("good")
def test_an_answer_is_read_as_its_message(provider: str, case: dict[str, Any], five_calls: ArtStandardPrompt) -> None:
    answer = read(provider, case["body"], five_calls)
    assert dump_prompt((answer.message,)) == [case["message"]]
    assert (answer.thinking, answer.metadata.request_id) == (case["thinking"], "b")


@cases("ends")
def test_the_reason_for_an_answer_s_end_is_read(provider: str, case: dict[str, Any]) -> None:
    answer = read(provider, case["body"])
    assert (answer.finish, answer.metadata.stop_reason) == (case["reason"], case["reason"])
    assert answer.metadata.raw_stop_reason == case["raw"]


@pytest.mark.parametrize(
    ("provider", "body", "raw"),
    [
        ("openai", {"choices": [{"finish_reason": "content_filter"}]}, "content_filter"),  # Azure, filtered as a whole
        ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS"}]}, "MAX_TOKENS"),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
    ],
)
def test_an_answer_without_a_message_that_says_why_is_empty(provider: str, body: Any, raw: str) -> None:
    answer = read(provider, body)
    assert (answer.message.content, answer.metadata.raw_stop_reason) == ("", raw)


@cases("usage")
def test_token_counts_are_read(provider: str, case: dict[str, Any]) -> None:
    name = "usageMetadata" if provider == "gemini" else "usage"
    header = ADAPTERS[provider].request_id_header
    metadata = read(provider, WITHOUT_USAGE[provider] | {name: case["usage"]}, **{header: "q"}).metadata
    found = [metadata.input_tokens, metadata.output_tokens, metadata.thinking_tokens, metadata.cached_tokens]
    assert found == case["counts"]
    usage = case["usage"] or None if provider == "anthropic" else case["usage"]
    assert (metadata.provider_raw_usage, metadata.request_id) == (usage, "q")


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_answer_without_id_and_usage_is_read(provider: str) -> None:
    metadata = read(provider, WITHOUT_USAGE[provider]).metadata
    assert (metadata.request_id, metadata.provider_raw_usage) == (None, None)


@cases("broken")
def test_a_body_that_is_not_an_answer_is_an_error(provider: str, case: Any) -> None:
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    first = next(ADAPTERS[provider](api_key=KEY).read_response(ResponseHead(200, {}), in_bytes(case), info))
    assert isinstance(first, ErrorEvent)
    assert first.error.message.startswith(f"{provider} answered 200 with a body that cannot be read")


ERRORS: dict[str, dict[str, Any]] = {
    "openai": {"error": {"message": "no", "code": "content_filter"}},  # as Azure answers a prompt that it filtered
    "openai, of a choice": {"choices": [{"error": {"message": "no", "code": 502}, "finish_reason": "error"}]},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
    "gemini": {"error": {"code": 500, "message": "no"}},
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_with_status_200_has_the_provider_s_words(kind: str) -> None:
    provider = kind.partition(",")[0]
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    first = next(ADAPTERS[provider](api_key=KEY).read_response(ResponseHead(200, {}), in_bytes(ERRORS[kind]), info))
    assert isinstance(first, ErrorEvent)
    assert first.error.message == f"{provider} answered 200 with an error: no"
    assert first.error.details["is_retryable"] is (kind != "openai")


def _call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def _use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {}}


WITH_CALLS: dict[str, Callable[[list[str]], Any]] = {
    "openai": lambda ids: {
        "choices": [{"message": {"content": None, "tool_calls": [*map(_call, ids)]}, "finish_reason": "tool_calls"}]
    },
    "anthropic": lambda ids: {"type": "message", "content": [*map(_use, ids)], "stop_reason": "tool_use"},
}


@pytest.mark.parametrize("provider", WITH_CALLS)
def test_a_mapped_call_id_is_undone_in_the_answer(provider: str, call: Any, result: Any) -> None:
    own = "an id, longer than forty characters, with blanks and a comma in it"
    adapter = ADAPTERS[provider](api_key=KEY)
    prompt = [{"role": "user", "content": "u"}, call(own), result(own)]
    info = adapter.prepare(prompt, {"thread_id": "t"}).info
    ((sent, undone),) = info.id_map.items()
    assert (sent != own, undone) == (True, own)
    body = in_bytes(WITH_CALLS[provider]([sent, "other"]))
    message = fold(adapter.read_response(ResponseHead(200, {}), body, info)).message
    assert [one.id for one in message.tool_calls] == [own, "other"]
