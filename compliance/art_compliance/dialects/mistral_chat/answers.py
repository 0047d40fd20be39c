"""Writes Mistral's answers, with the fields of answers recorded in 2025 and 2026.

The thinking chunk follows `ThinkChunk` in mistralai 3.7: no answer with one was recorded.
"""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.openai_chat.answers import (
    WRITTEN_AT,
    finish_of,
    numbered_calls_of,
    refuse_refusal,
)
from art_compliance.dialects.openai_chat.answers import (
    describe_model as describe_chat_model,
)
from art_compliance.dialects.writing import CannotWrite
from art_compliance.scenarios import WrittenAnswer


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer. Raises CannotWrite for refusals, filtered answers, and calls without ids."""
    refuse_refusal(answer, "Mistral's")
    if answer.finish == "content_filter":
        raise CannotWrite("Mistral has no finish reason for filtered answers: ChatCompletionChoice.finish_reason")
    body = {
        "id": "00000000000000000000000000000000",
        "object": "chat.completion",
        "created": WRITTEN_AT,
        "model": "written",
        "choices": [{"index": 0, "message": _message(answer), "finish_reason": finish_of(answer)}],
        "usage": _usage(answer),
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _message(answer: WrittenAnswer) -> dict[str, Any]:
    """`tool_calls` is null where there are none; content is text, or a list of chunks with the thinking first."""
    return {"role": "assistant", "tool_calls": numbered_calls_of(answer) or None, "content": _content(answer)}


def _content(answer: WrittenAnswer) -> str | list[dict[str, Any]]:
    if not answer.thinking:
        return answer.content or ""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": answer.thinking}], "closed": True}
    return [thinking, {"type": "text", "text": answer.content}] if answer.content else [thinking]


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    """Mistral does not count thinking separately."""
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens or 0},
        "service_tier": "standard",
    }


_TYPES: Final = {
    400: ("invalid_request_error", "3051"),
    404: ("invalid_model", "1500"),
    429: ("rate_limited", "1300"),
}


def describe_model(name: str) -> dict[str, Any]:
    """A model's entry in the list, as mistralai 3.7 reads it (`BaseModelCard`)."""
    capabilities = {"completion_chat": True, "function_calling": True}
    return {**describe_chat_model(name), "type": "base", "capabilities": capabilities}


def write_error(status: int, message: str) -> bytes:
    """An error answer: the gateway's `detail` for 401 (recorded) and 422, else the service's own form.

    Source of that form: https://github.com/avante-corp/avante.nvim/pull/2951.
    """
    if status in (401, 422):
        return json.dumps({"detail": message}).encode()
    kind, code = _TYPES.get(status, ("internal_server_error", "1000"))
    error = {"object": "error", "message": message, "type": kind, "param": None, "code": code}
    return json.dumps(error).encode()
