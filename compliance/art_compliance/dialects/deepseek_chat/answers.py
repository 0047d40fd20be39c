"""Writes DeepSeek's answers, with the fields of answers recorded in 2026."""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.base import Reasoning
from art_compliance.dialects.openai_chat.answers import (
    WRITTEN_AT,
    finish_of,
    numbered_calls_of,
    refuse_refusal,
)
from art_compliance.scenarios import WrittenAnswer
from art_sdk.json_data import is_object


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer; its reasoning has no signature. Raises CannotWrite for refusals and calls without ids."""
    refuse_refusal(answer, "DeepSeek's")
    choice = {"index": 0, "message": _message(answer), "logprobs": None, "finish_reason": finish_of(answer)}
    body = {
        "id": "00000000-0000-4000-8000-000000000000",
        "object": "chat.completion",
        "created": WRITTEN_AT,
        "model": "written",
        "choices": [choice],
        "usage": _usage(answer),
        "system_fingerprint": "fp_written",
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _message(answer: WrittenAnswer) -> dict[str, Any]:
    """Content is text, empty where there is none."""
    said: dict[str, Any] = {"role": "assistant", "content": answer.content or ""}
    if answer.thinking:
        said["reasoning_content"] = answer.thinking
    calls = numbered_calls_of(answer)
    return {**said, "tool_calls": calls} if calls else said


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    cached = answer.cached_tokens or 0
    usage: dict[str, Any] = {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
        "prompt_cache_hit_tokens": cached,
        "prompt_cache_miss_tokens": answer.input_tokens - cached,
    }
    if answer.thinking_tokens is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": answer.thinking_tokens}
    return usage


_TYPES: Final = {400: "invalid_request_error", 401: "authentication_error", 422: "invalid_request_error"}


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones; the types of statuses other than 400 and 401 are inferred."""
    error = {
        "message": message,
        "type": _TYPES.get(status, "unknown_error"),
        "param": None,
        "code": "invalid_request_error",
    }
    return json.dumps({"error": error}).encode()


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """Its text is shown, and has no signature."""
    thinking = payload.get("thinking")
    is_on = is_object(thinking) and thinking.get("type") == "enabled"
    return Reasoning(text=True) if is_on or "reasoner" in model else None
