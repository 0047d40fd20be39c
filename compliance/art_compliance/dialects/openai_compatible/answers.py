"""Writes the answers of servers that speak chat completions: OpenAI's, without what only OpenAI counts or says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from art_compliance.dialects.base import ErrorForm, Reasoning
from art_compliance.dialects.openai_chat.answers import WRITTEN_AT, finish_of, numbered_calls_of, refuse_refusal
from art_compliance.dialects.writing import CannotWrite
from art_compliance.scenarios import WrittenAnswer


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer with its reasoning as `reasoning_content`, as vLLM and llama-server write it.

    Raises CannotWrite for refusals and calls without ids.
    """
    refuse_refusal(answer, "a server's")
    details = {} if answer.thinking_tokens is None else {"reasoning_tokens": answer.thinking_tokens}
    usage = {**_usage(answer), "prompt_tokens_details": {"cached_tokens": answer.cached_tokens or 0}}
    return _body(answer, "reasoning_content", usage | ({"completion_tokens_details": details} if details else {}))


def write_xai(answer: WrittenAnswer) -> bytes:
    """An answer of xAI's, as recorded in 2026: what was thought is counted next to the completion, not in it."""
    refuse_refusal(answer, "xAI's")
    thought = answer.thinking_tokens or 0
    usage = {
        **_usage(answer),
        "completion_tokens": answer.output_tokens - thought,
        "prompt_tokens_details": {
            "text_tokens": answer.input_tokens,
            "audio_tokens": 0,
            "image_tokens": 0,
            "cached_tokens": answer.cached_tokens or 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": thought,
            "audio_tokens": 0,
            **_PREDICTED,
        },
        "num_sources_used": 0,
        "cost_in_usd_ticks": 10_000,
    }
    return _body(answer, "reasoning_content", usage, refusal=None, system_fingerprint="fp_written")


def dress_xai(chunks: Iterable[dict[str, Any]], usage: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks as xAI sends them, as recorded in 2026: only the last delta has a finish reason."""
    del usage
    for chunk in _begun_with_role(chunks):
        for choice in chunk["choices"]:
            if choice["finish_reason"] is None:
                del choice["finish_reason"]
        yield chunk


def write_xai_error(status: int, message: str) -> bytes:
    """An error of xAI's, as recorded at its other API and quoted in public: the message itself is the `error`."""
    code = _XAI_CODES.get(status, "The service is currently unavailable")
    return json.dumps({"code": code, "error": message}).encode()


_XAI_CODES: Final = {
    400: "Client specified an invalid argument",  # https://github.com/yym68686/uni-api/issues/105
    401: "invalid-argument",  # inferred: a wrong key was recorded with this code, and status 400
    404: "Some requested entity was not found",
    429: "Some resource has been exhausted",
}


def write_ollama(answer: WrittenAnswer) -> bytes:
    """An answer of Ollama's, as recorded in 2026. Raises CannotWrite for what Ollama never says: that it filtered."""
    refuse_refusal(answer, "Ollama's")
    if answer.finish == "content_filter":
        raise CannotWrite("Ollama filters nothing, so it has no finish reason for filtered answers")
    return _body(answer, "reasoning", _usage(answer), system_fingerprint="fp_ollama")


def dress_ollama(chunks: Iterable[dict[str, Any]], usage: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks as Ollama sends them, as recorded in 2026: every delta but the last has a content, which may be "".

    All calls have the index 0: https://github.com/vercel/ai/issues/14277, of Ollama 0.20.
    """
    del usage
    for chunk in _begun_with_role(chunks):
        for choice in chunk["choices"]:
            if choice["finish_reason"] is None:
                choice["delta"] = {"content": "", **choice["delta"]}
            for call in choice["delta"].get("tool_calls", ()):
                call["index"] = 0
        yield chunk


def _begun_with_role(chunks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The chunks with the role next to the first piece, if there is one, and without a usage that is not known yet."""
    bare = [{name: value for name, value in chunk.items() if value is not None} for chunk in chunks]
    first, second = (chunk["choices"][0] for chunk in bare[:2])
    if second["finish_reason"] is None:
        second["delta"]["role"] = first["delta"]["role"]
        del bare[0]
    yield from bare


def write_ollama_error(status: int, message: str) -> bytes:
    """An error of Ollama's: `NewError` in openai/openai.go, and recorded ones."""
    kind = {400: "invalid_request_error", 404: "not_found_error"}.get(status, "api_error")
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}}).encode()


def write_cerebras(answer: WrittenAnswer) -> bytes:
    """An answer of Cerebras's, as recorded in 2026: its reasoning is in `reasoning`, and it tells how long it took."""
    refuse_refusal(answer, "Cerebras's")
    counted = {"reasoning_tokens": answer.thinking_tokens or 0, **_PREDICTED}
    usage = {
        **_usage(answer),
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens or 0},
        "completion_tokens_details": counted,
    }
    times = {"queue_time": 0.006, "prompt_time": 0.003, "completion_time": 0.021, "total_time": 0.055}
    return _body(answer, "reasoning", usage, system_fingerprint="fp_written", time_info=times)


_PREDICTED: Final = {"accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}


def write_cerebras_error(status: int, message: str) -> bytes:
    """An error of Cerebras's, without an object around it: https://github.com/agno-agi/agno/issues/4508."""
    kind, code = _CEREBRAS_CODES.get(status, ("server_error", "internal_server_error"))
    return json.dumps({"message": message, "type": kind, "param": None, "code": code}).encode()


_CEREBRAS_CODES: Final = {  # the first is quoted there, the others are inferred
    400: ("invalid_request_error", "wrong_api_format"),
    401: ("invalid_request_error", "wrong_api_key"),
    404: ("not_found_error", "model_not_found"),
    429: ("too_many_requests_error", "request_quota_exceeded"),
}


def write_perplexity_error(status: int, message: str) -> bytes:
    """An error of Perplexity's, whose code is the status, as recorded in 2026."""
    kind = {400: "invalid_message", 401: "invalid_api_key"}.get(status, "internal_server_error")
    return json.dumps({"error": {"message": message, "type": kind, "code": status}}).encode()


def write_together_error(status: int, message: str) -> bytes:
    """An error of Together's, next to the id of the request, as recorded in 2026."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    code = {401: "invalid_api_key", 404: "model_not_available"}.get(status)
    said = {"message": message, "type": kind, "param": None, "code": code}
    return json.dumps({"id": "written", "error": said}).encode()


def write_fireworks_error(status: int, message: str) -> bytes:
    """An error of Fireworks's: https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Ffireworks@1.0.51.

    The code is that of the status, where it is quoted; a bad request has none (Fireworks's answer behind OpenRouter).
    """
    said = {"object": "error", "type": "invalid_request_error", "message": message}
    code = _FIREWORKS_CODES.get(status)
    return json.dumps({"error": said if code is None else {**said, "code": code}}).encode()


_FIREWORKS_CODES: Final = {
    401: "UNAUTHORIZED",  # this and the next: https://github.com/typeclaw/typeclaw/pull/388
    403: "FORBIDDEN",
    404: "NOT_FOUND",  # https://github.com/warpdotdev/warp/issues/15107
}


def write_huggingface_error(status: int, message: str) -> bytes:
    """An error of Hugging Face's router, which is the message: https://github.com/huggingface/huggingface.js/issues/2225.

    What the provider behind it says is handed on in that provider's own form.
    """
    del status
    return json.dumps({"error": message}).encode()


def _write_flat_error(status: int, message: str) -> bytes:
    kind = "BadRequestError" if status < 500 else "InternalServerError"
    return json.dumps({"object": "error", "message": message, "type": kind, "param": None, "code": status}).encode()


def _write_listed_error(status: int, message: str) -> bytes:
    kind = "INVALID_ARGUMENT" if status < 500 else "UNAVAILABLE"
    return json.dumps([{"error": {"code": status, "message": message, "status": kind}}]).encode()


ERROR_FORMS: Final = (
    ErrorForm(words="its error without an object around it", write=_write_flat_error),
    ErrorForm(words="its error in a list", write=_write_listed_error),
)
"""vLLM's up to 0.9 (https://github.com/vllm-project/vllm/issues/4667), and Google's
(https://github.com/googleapis/google-api-python-client/issues/2570)."""


def _body(answer: WrittenAnswer, thinking_field: str, usage: dict[str, Any], **more: Any) -> bytes:
    """The answer. Of `more`, a refusal belongs to the message."""
    said: dict[str, Any] = {"role": "assistant", "content": answer.content or ""}
    if answer.thinking:
        said[thinking_field] = answer.thinking
    if "refusal" in more:
        said["refusal"] = more.pop("refusal")
    calls = numbered_calls_of(answer)
    said |= {"tool_calls": calls} if calls else {}
    choice = {"index": 0, "message": said, "finish_reason": finish_of(answer)}
    body = {
        "id": "chatcmpl-written",
        "object": "chat.completion",
        "created": WRITTEN_AT,
        "model": "written",
        **more,
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """Its text is shown where an effort is asked for; it has no signature."""
    del model
    return Reasoning(text=True) if payload.get("reasoning_effort") not in (None, "none") else None
