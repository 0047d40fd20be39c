"""Writes Anthropic's answers, with the fields of answers recorded in 2025 and 2026."""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.writing import CannotWrite, arguments_of
from art_compliance.scenarios import WrittenAnswer

ESSENTIAL: Final = (
    "/content",
    "/stop_reason",
    "/content/0/text",
    "/content/0/name",
    "/content/0/id",
)

_FINISH: Final = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
_SIGNATURE: Final = "d3JpdHRlbiwgbm90IHNpZ25lZA=="


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer. Raises CannotWrite for arguments that are not an object, and for calls without ids."""
    if answer.without_ids:
        raise CannotWrite("every call of an Anthropic message needs an id")
    body = {
        "id": "msg_written",
        "type": "message",
        "role": "assistant",
        "model": "written",
        "content": _content(answer),
        "stop_reason": _FINISH[answer.finish],
        "stop_sequence": None,
        "stop_details": None,
        "usage": _usage(answer),
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _content(answer: WrittenAnswer) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": answer.signature or _SIGNATURE})
    if answer.content:  # an empty answer has no block: recorded in 2026
        content.append({"type": "text", "text": answer.content})
    return content + [
        {"type": "tool_use", "id": call.id, "name": call.function.name, "input": arguments_of(call)}
        for call in answer.tool_calls
    ]


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    """`input_tokens` leaves out what came from a cache."""
    return {
        "input_tokens": answer.input_tokens - (answer.cached_tokens or 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.cached_tokens or 0,
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"thinking_tokens": answer.thinking_tokens or 0},
        "service_tier": "standard",
    }


_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones."""
    error = {"type": _TYPES.get(status, "api_error"), "message": message}
    return json.dumps({"type": "error", "error": error, "request_id": "req_written"}).encode()
