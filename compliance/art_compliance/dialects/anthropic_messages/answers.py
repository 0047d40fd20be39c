"""Writes Anthropic's answers, with the fields of answers recorded in 2026.

`container`, `citations` and `server_tool_use` are null, as `Message`, `TextBlock` and `Usage` of anthropic 2.12 have
them; recorded answers leave out those that are null.
"""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.base import Models
from art_compliance.dialects.writing import CannotWrite, arguments_of
from art_compliance.scenarios import WrittenAnswer
from art_sdk.messages import ToolCall

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
        "container": None,
        "usage": _usage(answer),
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _content(answer: WrittenAnswer) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": answer.signature or _SIGNATURE})
    if answer.content:  # an empty answer has no block: recorded in 2026
        content.append({"type": "text", "text": answer.content, "citations": None})
    return content + [_call(call) for call in answer.tool_calls]


def _call(call: ToolCall) -> dict[str, Any]:
    """The model itself calls the tool, not its code: `caller`."""
    return {
        "type": "tool_use",
        "id": call.id,
        "name": call.function.name,
        "input": arguments_of(call),
        "caller": {"type": "direct"},
    }


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    """`input_tokens` leaves out what came from a cache and what went into one."""
    read, written = answer.cached_tokens or 0, answer.cache_write_tokens or 0
    return {
        "input_tokens": answer.input_tokens - read - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": answer.output_tokens,
        "output_tokens_details": {"thinking_tokens": answer.thinking_tokens or 0},
        "server_tool_use": None,
        "service_tier": "standard",
        "inference_geo": "not_available",
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


def _describe_model(name: str) -> dict[str, Any]:
    """As `ModelInfo` in anthropic 2.12; the epoch stands for a date that is not known."""
    made = {"display_name": name, "created_at": "1970-01-01T00:00:00Z", "lifecycle": "active"}
    return {"type": "model", "id": name, **made}


def _gather_models(models: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {"data": list(models), "has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}


MODELS: Final = Models(
    names=("claude-haiku-4-5", "claude-sonnet-4-5"),
    describe=_describe_model,
    gather=_gather_models,
    others=(
        "claude-3-haiku-20240307",
        "claude-3-7-sonnet-20250219",
        "claude-opus-4-1-20250805",
        "claude-opus-4-7",
        "claude-opus-4-8",
    ),
)


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones."""
    error = {"type": _TYPES.get(status, "api_error"), "message": message}
    return json.dumps({"type": "error", "error": error, "request_id": "req_written"}).encode()
