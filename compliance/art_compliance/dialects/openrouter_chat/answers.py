"""Writes OpenRouter's answers, with the fields of answers recorded in 2026.

Anthropic's models behind it put a signature into `reasoning.text`: `ReasoningDetailText` in openrouter 1.3. Without a
text it is a `reasoning.encrypted` with the id of the call that it belongs to, as recorded from Google's.
"""

from __future__ import annotations

import json
from typing import Any

from art_compliance.dialects.base import Reasoning
from art_compliance.dialects.openai_chat.answers import WRITTEN_AT, finish_of, numbered_calls_of
from art_compliance.scenarios import WrittenAnswer
from art_sdk.json_data import is_object


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer. Raises CannotWrite for calls without ids."""
    finish = finish_of(answer)
    choice = {
        "index": 0,
        "logprobs": None,
        "finish_reason": finish,
        "native_finish_reason": finish,
        "message": _message(answer),
    }
    body = {
        "id": "gen-written",
        "object": "chat.completion",
        "created": WRITTEN_AT,
        "model": "written",
        "provider": "Written",
        "system_fingerprint": None,
        "service_tier": None,
        "choices": [choice],
        "usage": _usage(answer),
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _message(answer: WrittenAnswer) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": answer.content, "refusal": None}
    if answer.is_refusal:
        said |= {"content": None, "refusal": answer.content}
    said["reasoning"] = answer.thinking or None
    calls, details = numbered_calls_of(answer), _details(answer)
    return said | ({"tool_calls": calls} if calls else {}) | ({"reasoning_details": details} if details else {})


def _details(answer: WrittenAnswer) -> list[dict[str, Any]]:
    if answer.thinking:
        detail = {"type": "reasoning.text", "text": answer.thinking, "format": "anthropic-claude-v1", "index": 0}
        return [detail | ({"signature": answer.signature} if answer.signature else {})]
    if answer.signature:
        detail = {"type": "reasoning.encrypted", "data": answer.signature, "format": "google-gemini-v1", "index": 0}
        return [detail | ({"id": answer.tool_calls[0].id} if answer.tool_calls else {})]
    return []


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "cost": 0.0001,
        "is_byok": False,
        "prompt_tokens_details": {
            "cached_tokens": answer.cached_tokens or 0,
            "cache_write_tokens": 0,
            "audio_tokens": 0,
            "video_tokens": 0,
        },
        "cost_details": {
            "upstream_inference_cost": 0.0001,
            "upstream_inference_prompt_cost": 0.00004,
            "upstream_inference_completions_cost": 0.00006,
        },
        "completion_tokens_details": {
            "reasoning_tokens": answer.thinking_tokens or 0,
            "image_tokens": 0,
            "audio_tokens": 0,
        },
    }


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones: the code is the status, and whoever has a key has an id."""
    user = {} if status == 401 else {"user_id": "user_written"}
    return json.dumps({"error": {"message": message, "code": status}, **user}).encode()


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """Its text is shown where the request has one of two fields."""
    del model
    is_on = is_object(payload.get("reasoning")) or payload.get("include_reasoning") is True
    return Reasoning(text=True) if is_on else None
