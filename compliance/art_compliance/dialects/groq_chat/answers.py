"""Writes Groq's answers and chunks, with the fields of those recorded in 2026.

Source of what no recording has: the types of groq 1.7, `XGroq.usage` ("Only sent in the final chunk") among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from art_compliance.dialects.base import ErrorForm, Reasoning
from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.openai_chat.answers import WRITTEN_AT, calls_of, finish_of, refuse_refusal
from art_compliance.dialects.writing import CannotWrite
from art_compliance.scenarios import WrittenAnswer

_REQUEST_ID: Final = "req_00000000000000000000000000"
_ONLY_UNSTREAMED: Final = ("usage_breakdown", "service_tier", "x_groq")


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer. Raises CannotWrite for refusals, filtered answers, and calls without ids."""
    refuse_refusal(answer, "Groq's")
    if answer.finish == "content_filter":
        raise CannotWrite("Groq has no finish reason for filtered answers: Choice.finish_reason in groq 1.7")
    choice = {"index": 0, "message": _message(answer), "logprobs": None, "finish_reason": finish_of(answer)}
    body = {
        "id": "chatcmpl-00000000-0000-4000-8000-000000000000",
        "object": "chat.completion",
        "created": WRITTEN_AT,
        "model": "written",
        "choices": [choice],
        "usage": _usage(answer),
        "usage_breakdown": None,
        "system_fingerprint": "fp_written",
        "x_groq": {"id": _REQUEST_ID, "seed": 1},
        "service_tier": "on_demand",
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _message(answer: WrittenAnswer) -> dict[str, Any]:
    """A message without text has no content, unless it has nothing else."""
    calls = calls_of(answer)
    said: dict[str, Any] = {"role": "assistant"}
    if answer.content or not calls:
        said["content"] = answer.content or ""
    if answer.thinking:
        said["reasoning"] = answer.thinking
    return {**said, "tool_calls": calls} if calls else said


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "queue_time": 0.2,
        "prompt_tokens": answer.input_tokens,
        "prompt_time": 0.04,
        "completion_tokens": answer.output_tokens,
        "completion_time": 0.15,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "total_time": 0.19,
    }
    if answer.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": answer.cached_tokens}
    if answer.thinking_tokens is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": answer.thinking_tokens}
    return usage


def dress_chunks(chunks: Iterable[dict[str, Any]], usage: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks with Groq's own fields: an id in the first one, which has a content, and in the finish with the usage.

    Where the request asks for the usage, the finish has it in OpenAI's place, too, and a last chunk repeats it.
    """
    dressed = [
        {name: value for name, value in chunk.items() if name not in _ONLY_UNSTREAMED and value is not None}
        for chunk in chunks
    ]
    finish, last = next(chunk for chunk in reversed(dressed) if chunk["choices"]), dressed[-1]
    dressed[0]["x_groq"] = {"id": _REQUEST_ID, "seed": 1}
    dressed[0]["choices"][0]["delta"]["content"] = ""
    for delta in (choice["delta"] for chunk in dressed for choice in chunk["choices"]):
        if "reasoning" in delta:
            delta["channel"] = "analysis"
    finish["x_groq"] = {"id": _REQUEST_ID, "usage": usage}
    if last is not finish:
        finish["usage"] = usage
        last["service_tier"] = "on_demand"
    yield from dressed


_TYPES: Final = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    413: ("tokens", "rate_limit_exceeded"),
    429: ("tokens", "rate_limit_exceeded"),
}


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones. Most refusals of a request have no code."""
    return json.dumps({"error": _error(status, message)}).encode()


def _write_failed_call(written: str, status: int, message: str) -> bytes:
    error = {**_error(status, message), "code": "tool_use_failed", "failed_generation": written}
    return json.dumps({"error": error}).encode()


CALLS_FAILED: Final = (
    ErrorForm(
        words="what the model wrote in place of a call of a tool",
        write=partial(_write_failed_call, '<function=look{"at": 1}'),
        status=400,
    ),
    ErrorForm(
        words="a call of the model's that was refused",
        write=partial(_write_failed_call, '{"name": "look", "arguments": {"at": "here"}}'),
        status=400,
    ),
)
"""The first as quoted: https://github.com/groq/groq-typescript/issues/28; the second is recorded. Neither is an answer:
Groq has not accepted the call."""


def write_stream_error(status: int, message: str) -> bytes:
    """The event that ends a stream, as recorded: its type says that it is an error, and it repeats the status."""
    return data_frame({"error": {**_error(status, message), "status_code": status}}, event="error")


def _error(status: int, message: str) -> dict[str, Any]:
    kind, code = _TYPES.get(status, ("internal_server_error", None))
    return {"message": message, "type": kind} | ({"code": code} if code else {})


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """GPT-OSS shows its reasoning unless asked not to (recorded); the others put it into a field only if asked."""
    shown = payload.get("include_reasoning")
    is_on = shown is not False if "gpt-oss" in model else shown is True or payload.get("reasoning_format") == "parsed"
    return Reasoning(text=True) if is_on else None
