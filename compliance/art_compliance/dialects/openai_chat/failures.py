"""Other forms in which a chat completion fails after its status 200, each of them at some services only."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.openai_chat.answers import write_error
from art_compliance.dialects.openai_chat.streams import DONE
from art_compliance.dialects.variations import Events, FailureForm, read_data

_HEAD: Final = {"id": "chatcmpl-written", "object": "chat.completion.chunk", "created": 0, "model": "written"}

Rewrite = Callable[[dict[str, Any], int, str], dict[str, Any]]


def _after(fail: Rewrite) -> Callable[[Events, int, str], Events]:
    """What follows some events: a chunk with the head of those before, made one that failed."""

    def write(begun: Events, status: int, message: str) -> Events:
        chunks = [data for event in begun if (data := read_data(event)) is not None]
        head = {name: chunks[-1][name] for name in _HEAD if name in chunks[-1]} if chunks else _HEAD
        choice = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        return (data_frame(fail({**head, "choices": [choice]}, status, message)),)

    return write


def _error(status: int, message: str) -> dict[str, Any]:
    """An error of OpenRouter's: `ChatStreamChunkError` in openrouter 1.3."""
    return {"code": status, "message": message}


def _beside_choices(body: dict[str, Any], status: int, message: str) -> dict[str, Any]:
    choices = [{**choice, "finish_reason": "error"} for choice in body["choices"]]
    return {**body, "error": _error(status, message), "choices": choices}


def _in_choices(body: dict[str, Any], status: int, message: str) -> dict[str, Any]:
    failed = {"finish_reason": "error", "error": _error(status, message)}
    return {**body, "choices": [{**choice, **failed} for choice in body["choices"]]}


BESIDE_CHOICES: Final = FailureForm(
    words="an error beside its choices", whole=_beside_choices, events=_after(_beside_choices)
)
"""OpenRouter's in the middle of a stream: openrouter.ai/docs/api/reference/streaming#handling-errors-during-streaming.

That a whole answer says it so, too, is inferred.
"""

IN_CHOICE: Final = FailureForm(words="an error in its choice", whole=_in_choices, events=_after(_in_choices))
"""OpenRouter's of a model that failed: `error` of a choice, in openrouter.ai/docs/api-reference/overview."""


def _then_done(begun: Events, status: int, message: str) -> Events:
    del begun
    return data_frame(json.loads(write_error(status, message))), DONE


ERROR_THEN_DONE: Final = FailureForm(words="an error before its end mark", events=_then_done)
"""vLLM's: `create_streaming_error_response` of its serving_engine.py, after which its streams end as all do."""


def _as_text(begun: Events, status: int, message: str) -> Events:
    del begun, status
    return (data_frame({"error": message}),)


ERROR_AS_TEXT: Final = FailureForm(words="an error that is a text", events=_as_text, says_words=False)
"""Hugging Face's (huggingface/huggingface.js#2225), and Ollama's. OpenAI's own client drops the text."""


def _as_event(begun: Events, status: int, message: str) -> Events:
    del begun
    return (data_frame(json.loads(write_error(status, message)), event="error"),)


ERROR_EVENT: Final = FailureForm(words="an error in an event of that type", events=_as_event)
"""As recorded at Groq."""


def _groq(body: dict[str, Any], status: int, message: str) -> dict[str, Any]:
    del status
    return {**body, "x_groq": {"id": "req_written", "error": message}}


STOPPED_EARLY: Final = FailureForm(words="an error in x_groq", events=_after(_groq), says_words=False)
"""`XGroq.error` in groq 1.7: "why a stream was stopped early". Its own client passes over it."""
