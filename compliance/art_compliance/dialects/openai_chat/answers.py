"""Writes OpenAI's answers, with the fields of answers recorded in 2026.

`system_fingerprint` is text, as recorded of GPT-4o and GPT-4.1; it is null in recorded answers of GPT-5.
"""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.base import Reasoning
from art_compliance.dialects.writing import CannotWrite
from art_compliance.scenarios import WrittenAnswer

"""Where the reason for the end is."""

ESSENTIAL: Final = (
    "/choices",
    "/choices/0/message",
    "/choices/0/message/tool_calls/0/function",
    "/choices/0/message/tool_calls/0/function/name",
)

_FINISH: Final = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer. Raises CannotWrite for reasoning, and for calls without ids."""
    if answer.thinking:
        raise CannotWrite("OpenAI's chat completions have no field for reasoning")
    choice = {"index": 0, "message": _message(answer), "logprobs": None, "finish_reason": finish_of(answer)}
    body = {
        "id": "chatcmpl-written",
        "object": "chat.completion",
        "created": WRITTEN_AT,
        "model": "written",
        "choices": [choice],
        "usage": _usage(answer),
        "service_tier": "default",
        "system_fingerprint": "fp_written",
    }
    return json.dumps(body, ensure_ascii=False).encode()


WRITTEN_AT: Final = 1_760_000_000
"""The time of every written answer, in seconds since 1970."""


def describe_model(name: str) -> dict[str, Any]:
    """A model's entry in the list, with the fields that openai 3.54 requires (types/model.py)."""
    return {"id": name, "object": "model", "created": WRITTEN_AT, "owned_by": "written"}


def finish_of(answer: WrittenAnswer) -> str:
    """Why it ended, in the dialect's words. A refusal ends like any other answer."""
    return "stop" if answer.is_refusal else _FINISH[answer.finish]


def calls_of(answer: WrittenAnswer) -> list[dict[str, Any]]:
    """Its calls. Raises CannotWrite for calls without ids."""
    if answer.without_ids:
        raise CannotWrite("every call of a chat completion needs an id")
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in answer.tool_calls
    ]


def numbered_calls_of(answer: WrittenAnswer) -> list[dict[str, Any]]:
    """Its calls as the relatives write them: each with its `index`, even in an unstreamed answer."""
    return [{"index": index, **call} for index, call in enumerate(calls_of(answer))]


def refuse_refusal(answer: WrittenAnswer, whose: str) -> None:
    """Raises CannotWrite for a refusal: only OpenAI and OpenRouter have a field for it."""
    if answer.is_refusal:
        raise CannotWrite(f"{whose} chat completions have no field for a refusal")


def _message(answer: WrittenAnswer) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": answer.content, "refusal": None, "annotations": []}
    if answer.is_refusal:
        said |= {"content": None, "refusal": answer.content}
    calls = calls_of(answer)
    return {**said, "tool_calls": calls} if calls else said


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens or 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": answer.thinking_tokens or 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


_TYPES: Final = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones."""
    kind, code = _TYPES.get(status, ("server_error", None))
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}}).encode()


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """Reasoning is counted and not shown."""
    effort = payload.get("reasoning_effort")
    return Reasoning() if effort not in {None, "none"} or model.startswith(("o1", "o3", "o4")) else None
