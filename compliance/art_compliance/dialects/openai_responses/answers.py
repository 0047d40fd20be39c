"""Writes answers of the Responses API, with the fields of answers recorded in 2026.

Every field that the Open Responses specification (openresponses.org, its OpenAPI document in llm-comply 0.5) requires
is there, too.
"""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.base import Models
from art_compliance.dialects.openai_chat.answers import WRITTEN_AT, describe_model
from art_compliance.dialects.openai_chat.answers import write_error as write_chat_error
from art_compliance.dialects.writing import CannotWrite
from art_compliance.scenarios import WrittenAnswer
from art_sdk.messages import ToolCall

ESSENTIAL: Final = (
    "/output",
    "/status",
    "/output/0/type",
    "/output/0/content",
    "/output/0/content/0/text",
    "/output/0/name",
    "/output/0/call_id",
    "/output/0/arguments",
)

write_error = write_chat_error
"""Errors have the form of OpenAI's chat completions: recorded."""


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer. Raises CannotWrite for calls without ids."""
    return json.dumps(_body(answer), ensure_ascii=False).encode()


def _body(answer: WrittenAnswer) -> dict[str, Any]:
    if answer.without_ids:
        raise CannotWrite("every call of a response needs an id")
    reason = _incomplete(answer)
    return {
        "id": "resp_written",
        "object": "response",
        "created_at": WRITTEN_AT,
        "status": "incomplete" if reason else "completed",
        "background": False,
        "completed_at": None if reason else WRITTEN_AT + 1,
        "error": None,
        "frequency_penalty": 0.0,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": "written",
        "moderation": None,
        "output": list(_output(answer, "incomplete" if reason else "completed")),
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": None,
        "reasoning": {"effort": "medium", "summary": "detailed"} if _reasons(answer) else _UNREASONED,
        "safety_identifier": None,
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(answer),
        "user": None,
        "metadata": {},
    }


_UNREASONED: Final[dict[str, Any]] = {"effort": None, "summary": None}


def _reasons(answer: WrittenAnswer) -> bool:
    return bool(answer.thinking or answer.signature)


def _incomplete(answer: WrittenAnswer) -> str | None:
    """Why it is incomplete. A refusal is complete."""
    if answer.finish == "length":
        return "max_output_tokens"
    return "content_filter" if answer.finish == "content_filter" and not answer.is_refusal else None


def _output(answer: WrittenAnswer, status: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if _reasons(answer):
        summary = [{"type": "summary_text", "text": answer.thinking}] if answer.thinking else []
        encrypted = {"encrypted_content": answer.signature} if answer.signature else {}
        items.append({"id": "rs_written", "type": "reasoning", **encrypted, "summary": summary})
    if answer.content is not None:
        message = {"id": "msg_written", "type": "message", "status": status, "content": [_part(answer)]}
        items.append({**message, "role": "assistant"})
    return items + [_call(call, at, status) for at, call in enumerate(answer.tool_calls)]


def _part(answer: WrittenAnswer) -> dict[str, Any]:
    if answer.is_refusal:
        return {"type": "refusal", "refusal": answer.content}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": answer.content}


def _call(call: ToolCall, at: int, status: str) -> dict[str, Any]:
    """Its item has its own id, besides the id that its result names."""
    return {
        "id": f"fc_written_{at}",
        "type": "function_call",
        "status": status,
        "arguments": call.function.arguments,
        "call_id": call.id,
        "name": call.function.name,
    }


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    return {
        "input_tokens": answer.input_tokens,
        "input_tokens_details": {
            "cache_write_tokens": answer.cache_write_tokens or 0,
            "cached_tokens": answer.cached_tokens or 0,
        },
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"reasoning_tokens": answer.thinking_tokens or 0},
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }


def _gather_models(models: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {"object": "list", "data": list(models)}


MODELS: Final = Models(
    names=("gpt-4.1", "gpt-4.1-mini"),
    describe=describe_model,
    gather=_gather_models,
    others=("gpt-4o-2024-08-06", "o3-mini", "gpt-5-mini"),
)
