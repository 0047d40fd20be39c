"""Writes Gemini's answers, with the fields of answers recorded in 2025 and 2026."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from art_compliance.dialects.writing import CannotWrite, arguments_of
from art_compliance.scenarios import WrittenAnswer

ESSENTIAL: Final = (
    "/candidates",
    "/candidates/0/finishReason",
    "/candidates/0/content/parts/0/functionCall/name",
)

_FINISH: Final = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer; a blocked prompt has no candidate.

    Raises CannotWrite for arguments that are not an object, and for a signature that is not base64.
    """
    body: dict[str, Any] = {"usageMetadata": _usage(answer), "modelVersion": "written", "responseId": "written"}
    if answer.finish == "content_filter" and answer.content is None:
        body["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}
    else:
        content = {"parts": _parts(answer), "role": "model"}
        body["candidates"] = [{"content": content, "finishReason": _FINISH[answer.finish], "index": 0}]
    return json.dumps(body, ensure_ascii=False).encode()


def _parts(answer: WrittenAnswer) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if answer.thinking:
        parts.append({"text": answer.thinking, "thought": True})
    if answer.content is not None:
        parts.append({"text": answer.content})
    for call in answer.tool_calls:
        called = {"name": call.function.name, "args": arguments_of(call)}
        parts.append({"functionCall": called if answer.without_ids else {"id": call.id, **called}})
    if answer.signature is not None:
        first = next((part for part in parts if "functionCall" in part), parts[-1])
        first["thoughtSignature"] = _bytes_of(answer.signature)
    return parts


def _bytes_of(signature: str) -> str:
    """The signature; `Part.thought_signature` of google-genai 3.4 takes only complete base64."""
    try:
        is_whole = base64.b64encode(base64.b64decode(signature, validate=True)).decode() == signature
    except ValueError:
        is_whole = False
    if not is_whole:
        raise CannotWrite("a thought signature must be base64")
    return signature


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    """`candidatesTokenCount` leaves out the thoughts."""
    thoughts = answer.thinking_tokens
    usage = {
        "promptTokenCount": answer.input_tokens,
        "candidatesTokenCount": answer.output_tokens - (thoughts or 0),
        "totalTokenCount": answer.input_tokens + answer.output_tokens,
        "thoughtsTokenCount": thoughts,
        "cachedContentTokenCount": answer.cached_tokens,
    }
    return {name: count for name, count in usage.items() if count is not None}


_STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones."""
    error = {"code": status, "message": message, "status": _STATUSES.get(status, "INTERNAL")}
    return json.dumps({"error": error}).encode()
