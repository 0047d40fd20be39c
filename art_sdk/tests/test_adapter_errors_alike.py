"""An error in an answer with status 200 says the same however it comes: whole, streamed, or instead of a stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_sdk import CallInfo, LLMProviderError, ResponseHead
from streamed import ADAPTERS, KEY, SSE, STREAMS, error_of, read, sse

CHOICE = {"index": 0, "delta": {"content": "x"}, "message": {"content": "x"}, "finish_reason": "error"}

# provider, what the error is, its body, its code, whether trying again may help
ERRORS: list[tuple[str, str, Any, str | None, bool]] = [
    ("openai", "OpenAI", {"error": {"message": "m", "type": "server_error", "code": None}}, "server_error", True),
    ("openai", "a limit", {"error": {"message": "m", "type": "tokens", "code": "rate_limit_exceeded"}}, None, True),
    ("openai", "a refusal", {"error": {"message": "m", "type": "invalid_request_error"}}, None, False),
    ("openai", "overloaded", {"error": {"message": "m", "type": "x", "code": "server_is_overloaded"}}, None, True),
    ("openai", "OpenRouter", {"error": {"message": "m", "code": 502}}, "502", True),
    ("openai", "OpenRouter, word and number", {"error": {"message": "m", "code": 429, "type": "x"}}, "x", True),
    ("openai", "OpenRouter, no credits", {"error": {"message": "m", "code": 402}}, "402", False),
    (
        "openai",
        "OpenRouter, of a choice",
        {"choices": [{**CHOICE, "error": {"message": "m", "code": 502}}]},
        None,
        True,
    ),
    ("openai", "beside choices", {"choices": [CHOICE], "error": {"message": "m", "code": "timeout"}}, None, True),
    ("openai", "Azure", {"error": {"message": "m", "code": "RateLimitReached"}}, "RateLimitReached", True),
    ("openai", "Azure's filter", {"error": {"message": "m", "code": "content_filter", "status": 400}}, None, False),
    ("openai", "Groq", {"error": {"message": "m", "type": "internal_server_error"}}, "internal_server_error", True),
    ("openai", "Mistral", {"object": "error", "message": "m", "type": "x", "code": 503}, "x", True),
    ("openai", "a text", {"error": "m"}, None, False),
    ("openai", "no message", {"error": {"code": 503}}, "503", True),
    ("anthropic", "overloaded", {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, None, True),
    ("anthropic", "a refusal", {"type": "error", "error": {"type": "invalid_request_error"}}, None, False),
    ("anthropic", "a proxy", {"error": {"type": "overloaded_error", "message": "m"}}, "overloaded_error", True),
    ("gemini", "busy", {"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}, "UNAVAILABLE", True),
    ("gemini", "a refusal", {"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}, None, False),
    ("gemini", "an unknown word", {"error": {"code": 429, "message": "m", "status": "NEW"}}, "NEW", True),
]
HEADERS = {"x-request-id": "q", "request-id": "q", "retry-after": "3"}
JSON = {"content-type": "application/json"}


def unstreamed(provider: str, body: Any) -> LLMProviderError:
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    head = ResponseHead(200, HEADERS | JSON)
    return error_of(list(ADAPTERS[provider](api_key=KEY).read_response(head, json.dumps(body).encode(), info)))


def in_stream(provider: str, frames: list[Any]) -> LLMProviderError:
    return error_of(read(provider, sse(frames), ResponseHead(200, HEADERS | SSE)))


def instead(provider: str, body: Any) -> LLMProviderError:
    return error_of(read(provider, json.dumps(body).encode(), ResponseHead(200, HEADERS | JSON)))


@pytest.mark.parametrize(
    ("provider", "body", "code", "is_retryable"),
    [pytest.param(p, body, code, again, id=f"{p}: {what}") for p, what, body, code, again in ERRORS],
)
def test_an_error_says_the_same_however_it_comes(provider: str, body: Any, code: Any, *, is_retryable: bool) -> None:
    first = STREAMS[provider]["good"]["text"]["stream"][:1]
    found = {
        "unstreamed": unstreamed(provider, body),
        "as the first event": in_stream(provider, [body]),
        "as a later event": in_stream(provider, [*first, body]),
        "as an event of the type error": in_stream(provider, [*first, ["error", body]]),
        "instead of a stream": instead(provider, body),
    }
    if provider == "gemini":
        found["as a list"] = unstreamed(provider, [body])
        found["in a list"] = unstreamed(provider, [*first, body])
        found["a list instead of a stream"] = instead(provider, [*first, body])
    details = {how: (error.code, error.details, error.is_retryable) for how, error in found.items()}
    assert all(one == details["unstreamed"] for one in details.values()), details
    error = found["unstreamed"]
    assert (error.is_retryable, error.status, error.retry_after, error.request_id) == (is_retryable, 200, 3.0, "q")
    assert code is None or error.provider_code == code


@pytest.mark.parametrize("nothing", [None, {}, "", False, 0, []])
@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_an_empty_error_is_none(provider: str, nothing: Any) -> None:
    table = STREAMS[provider]["good"]["text"]
    events = read(
        provider, sse([{**frame, "error": nothing} if isinstance(frame, dict) else frame for frame in table["stream"]])
    )
    assert events[-1] == read(provider, sse(table["stream"]))[-1]
    head, info = ResponseHead(200, JSON), CallInfo(thread_id="t", trace_id="r", model="m")
    body = json.dumps({**table["whole"], "error": nothing}).encode()
    assert list(ADAPTERS[provider](api_key=KEY).read_response(head, body, info))[-1] == events[-1]
