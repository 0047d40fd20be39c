"""Writes Cohere's answers, with the fields of recorded answers and of `V2ChatResponse` in cohere 7.3."""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.base import Models
from art_compliance.dialects.writing import CannotWrite
from art_compliance.scenarios import WrittenAnswer

ESSENTIAL: Final = ("/message", "/finish_reason", "/message/tool_calls/0/id", "/message/tool_calls/0/function/name")

GOOD_ENDS: Final = ("STOP_SEQUENCE",)
BAD_ENDS: Final = ("MAX_TOKENS", "ERROR", "TIMEOUT")
"""`ChatFinishReason` in cohere 7.3."""

_FINISH: Final = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}
_ID: Final = "00000000-0000-4000-8000-000000000000"


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer.

    Raises CannotWrite for what Cohere never says: that it refused or filtered, a signature, and calls without ids.
    """
    return json.dumps(body_of(answer), ensure_ascii=False).encode()


def body_of(answer: WrittenAnswer) -> dict[str, Any]:
    """The answer as JSON data. Raises CannotWrite."""
    if answer.is_refusal or answer.finish == "content_filter":
        raise CannotWrite("Cohere has no refusals and no finish reason for filtered answers: ChatFinishReason")
    if answer.signature is not None:
        raise CannotWrite("Cohere signs nothing")
    if answer.without_ids:
        raise CannotWrite("Cohere's calls have ids: ToolCallV2.id")
    return {
        "id": _ID,
        "message": _message(answer),
        "finish_reason": _FINISH[answer.finish],
        "usage": _usage(answer),
    }


def _message(answer: WrittenAnswer) -> dict[str, Any]:
    """Recorded messages leave out what they have nothing of."""
    content: list[dict[str, Any]] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking})
    if answer.content is not None and (answer.content or not answer.tool_calls):
        content.append({"type": "text", "text": answer.content})
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments or "{}"},
        }
        for call in answer.tool_calls
    ]
    parts = {"content": content, "tool_calls": calls}
    return {"role": "assistant", **{name: part for name, part in parts.items() if part}}


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    """What is billed is less than what is read: without Cohere's own prompt. Thinking is not counted apart.

    How much less is our choice.
    """
    counts = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
    billed = {name: count // 2 for name, count in counts.items()}
    usage: dict[str, Any] = {"billed_units": billed, "tokens": counts}
    return usage if answer.cached_tokens is None else {**usage, "cached_tokens": answer.cached_tokens}


def write_error(status: int, message: str) -> bytes:
    """An error answer, as recorded."""
    del status
    return json.dumps({"id": _ID, "message": message}, ensure_ascii=False).encode()


def _describe_model(name: str) -> dict[str, Any]:
    """As `GetModelResponse` of cohere 7.3 reads it."""
    return {"name": name, "endpoints": ["chat"], "finetuned": False, "context_length": 256000, "features": ["tools"]}


def _gather_models(models: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {"models": list(models)}


MODELS: Final = Models(
    names=("command-a-03-2025", "command-a-reasoning-08-2025"),
    describe=_describe_model,
    gather=_gather_models,
    others=("command-r7b-12-2024", "command-a-vision-07-2025", "c4ai-aya-expanse-32b"),
)
