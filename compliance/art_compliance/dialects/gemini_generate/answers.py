"""Writes Gemini's answers, with the fields of answers recorded in 2026."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from art_compliance.dialects.base import ErrorForm, Models
from art_compliance.dialects.writing import CannotWrite, arguments_of
from art_compliance.scenarios import WrittenAnswer

ESSENTIAL: Final = (
    "/candidates",
    "/candidates/0/content/parts/0/functionCall/name",
)

BAD_ENDS: Final = (
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_OTHER",
    "NO_IMAGE",
    "IMAGE_RECITATION",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "CONTINUATION",
    "MODEL_ARMOR",
)
"""`FinishReason` of google-genai, but STOP and the one that says nothing. A reason of images may end any answer."""

BLOCKED_ENDS: Final = (
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "JAILBREAK",
)
"""`BlockedReason` of google-genai, but the one that says nothing."""

_FINISH: Final = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP", "content_filter": "SAFETY"}


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer; a blocked prompt has no candidate.

    Raises CannotWrite for arguments that are not an object, and for a signature that is not base64.
    """
    body: dict[str, Any] = {"usageMetadata": _usage(answer), "modelVersion": "written", "responseId": "written"}
    if answer.finish == "content_filter" and answer.content is None:
        body["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}
    else:
        body["candidates"] = [_candidate(answer)]
    return json.dumps(body, ensure_ascii=False).encode()


def _candidate(answer: WrittenAnswer) -> dict[str, Any]:
    """Only an unstreamed answer with calls has a `finishMessage`. One without anything has no parts.

    Source of the latter: an observed answer, https://github.com/0xPlaygrounds/rig/issues/688.
    """
    parts = _parts(answer)
    content = {"role": "model"} if parts == [{"text": ""}] else {"parts": parts, "role": "model"}
    candidate: dict[str, Any] = {"content": content}
    candidate |= {"finishReason": _FINISH[answer.finish], "index": 0}
    return candidate | ({"finishMessage": "Model generated function call(s)."} if answer.tool_calls else {})


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
    usage: dict[str, Any] = {
        "promptTokenCount": answer.input_tokens,
        "candidatesTokenCount": answer.output_tokens - (thoughts or 0),
        "totalTokenCount": answer.input_tokens + answer.output_tokens,
        "cachedContentTokenCount": answer.cached_tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": answer.input_tokens}],
        "thoughtsTokenCount": thoughts,
        "serviceTier": "standard",
    }
    return {name: value for name, value in usage.items() if value is not None}


_STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def _describe_model(name: str) -> dict[str, Any]:
    """As google-genai 3.4 reads it (`_Model_from_mldev` in models.py)."""
    plain = name.removeprefix("models/")
    methods = ["generateContent", "streamGenerateContent"]
    return {"name": f"models/{plain}", "displayName": plain, "supportedGenerationMethods": methods}


def _gather_models(models: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {"models": list(models)}


MODELS: Final = Models(
    names=("gemini-2.5-flash", "gemini-2.5-pro"),
    describe=_describe_model,
    gather=_gather_models,
    others=("gemini-2.0-flash-001", "gemini-3-pro-preview", "gemma-3-27b-it"),
)


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones."""
    error = {"code": status, "message": message, "status": _STATUSES.get(status, "INTERNAL")}
    return json.dumps({"error": error}).encode()


LISTED_ERROR: Final = ErrorForm(
    words="its error in a list",
    write=lambda status, message: b"[%b]\n" % write_error(status, message),
    when_streaming=True,
)
"""As observed where a stream was asked for, with `alt=sse` too: https://github.com/google-gemini/gemini-cli/issues/6454.

Google's own client reads it: `APIError` in errors.py of google-genai 3.4.
"""
