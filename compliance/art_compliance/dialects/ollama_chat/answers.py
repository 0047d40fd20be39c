"""Writes Ollama's answers, with the fields of `ChatResponse` (api/types.go) and of recorded answers."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.base import Models
from art_compliance.dialects.framing import go_json
from art_compliance.dialects.writing import CannotWrite, arguments_of
from art_compliance.scenarios import WrittenAnswer

ESSENTIAL: Final = ("/message", "/message/tool_calls/0/function/name")

BAD_ENDS: Final = ("length", "load", "unload")
"""`length`: the limit was reached. The others answer a request without messages: docs.ollama.com/api/chat."""

_FINISH: Final = {"stop": "stop", "length": "length", "tool_calls": "stop"}

HEAD: Final = {"model": "written", "created_at": "2026-08-13T09:45:30.391699Z"}


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer.

    Raises CannotWrite for what Ollama never says: that it refused or filtered, a signature, what a cache did, and
    arguments that are not an object.
    """
    return go_json(body_of(answer)).encode()


def body_of(answer: WrittenAnswer) -> dict[str, Any]:
    """The answer as JSON data. Raises CannotWrite."""
    if answer.is_refusal or answer.finish == "content_filter":
        raise CannotWrite("Ollama filters nothing, so it has no refusals and no finish reason for filtered answers")
    if answer.signature is not None:
        raise CannotWrite("Ollama signs nothing")
    end = {"done": True, "done_reason": _FINISH[answer.finish]}
    return {**HEAD, "message": _message(answer), **end, **_metrics(answer)}


def _message(answer: WrittenAnswer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.content or ""}
    if answer.thinking:
        message["thinking"] = answer.thinking
    if answer.tool_calls:
        message["tool_calls"] = [_call(answer, at) for at in range(len(answer.tool_calls))]
    return message


def _call(answer: WrittenAnswer, at: int) -> dict[str, Any]:
    """A call. Servers of 2025 give no id: docs.ollama.com/capabilities/tool-calling."""
    call = answer.tool_calls[at]
    called = {"function": {"index": at, "name": call.function.name, "arguments": arguments_of(call)}}
    return called if answer.without_ids else {"id": call.id, **called}


def _metrics(answer: WrittenAnswer) -> dict[str, int]:
    """Durations are nanoseconds. Counts of zero are left out, as in Go's `omitempty`."""
    counts = {"prompt_eval_count": answer.input_tokens, "eval_count": answer.output_tokens}
    times = {"total_duration": 1078043917, "load_duration": 109557375, "prompt_eval_duration": 153401750}
    return {**times, **{name: count for name, count in counts.items() if count}, "eval_duration": 814595750}


def write_error(status: int, message: str) -> bytes:
    """An error answer, as recorded."""
    del status
    return go_json({"error": message}).encode()


def _describe_model(name: str) -> dict[str, Any]:
    """As `ListResponse` of ollama 0.6 reads it."""
    details = {"format": "gguf", "family": "gptoss", "families": ["gptoss"], "parameter_size": "20.9B"}
    return {
        "name": name,
        "model": name,
        "modified_at": "2026-08-13T09:45:30.391699Z",
        "size": 13793441244,
        "digest": "17052f91a42e",
        "details": {"parent_model": "", **details, "quantization_level": "MXFP4"},
    }


def _gather_models(models: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {"models": list(models)}


MODELS: Final = Models(
    names=("gpt-oss:20b", "qwen3:8b"),
    describe=_describe_model,
    gather=_gather_models,
    path="/tags",
    others=("llama3.2:1b", "gemma3:27b", "deepseek-r1:8b", "hf.co/own/model:Q4_K_M"),
)
