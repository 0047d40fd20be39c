"""What comes of a library's answer: its pieces (texts, calls, metadata), and the events of a call."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Final
from uuid import uuid4

from chat_form import refuse

from art_sdk import PromptTranslationFailed
from art_sdk.adapters.failures import read_retry_after

FINISHES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "STOP"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "tool_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"), "content_filter"),
    **dict.fromkeys(("SPII", "RECITATION", "IMAGE_SAFETY"), "content_filter"),
}


class Loose(dict[str, Any]):
    """JSON data whose keys are attributes, as the types of chat completions have them."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    @staticmethod
    def of(value: Any) -> Any:
        """The data of a library that has no types."""
        return json.loads(json.dumps(value), object_hook=Loose)


async def read_chat(answer: Any, *, is_streamed: bool, has_refusals: bool = True) -> AsyncGenerator[Any]:
    """The pieces of an answer in the types of chat completions, or of a stream of their chunks.

    `has_refusals`: what is in `refusal` is the model's text, and not the library's own words about it.
    """

    def text_of(said: Any) -> str:
        return said.content or (has_refusals and getattr(said, "refusal", None)) or ""

    if is_streamed:
        usage, reason, calls = None, None, dict[int, list[str]]()
        async for chunk in answer:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                reason = choice.finish_reason or reason
                yield text_of(choice.delta)
                for part in choice.delta.tool_calls or ():
                    call = calls.setdefault(part.index, ["", "", ""])
                    said = part.function and (part.id, part.function.name, part.function.arguments)
                    calls[part.index] = [f"{old}{new or ''}" for old, new in zip(call, said or call, strict=True)]
        found = list(calls.values())
    else:
        message, reason, usage = answer.choices[0].message, answer.choices[0].finish_reason, answer.usage
        yield text_of(message)
        found = [[call.id, call.function.name, call.function.arguments] for call in message.tool_calls or ()]
    cached, thinking = getattr(usage, "prompt_tokens_details", None), getattr(usage, "completion_tokens_details", None)
    counted = (usage and usage.prompt_tokens, usage and usage.completion_tokens)
    details = (cached and cached.cached_tokens, thinking and thinking.reasoning_tokens)
    for piece in the_end(found, reason, *counted, *details):
        yield piece


def the_end(
    calls: Iterable[Iterable[Any]],
    said: Any,
    input_tokens: Any = None,
    output_tokens: Any = None,
    cached: Any = None,
    thinking: Any = None,
) -> list[dict[str, Any]]:
    """The last pieces of an answer: its calls (id, name, and arguments as text or object), then metadata.

    A provider always gives a finish reason: an answer without it was cut off.
    """
    if not isinstance(said, str):
        raise TypeError("the answer has no finish reason")
    found = [_call_piece(*call) for call in calls]
    reason = "tool_calls" if found and FINISHES.get(said) == "stop" else FINISHES.get(said, "other")
    counts = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    return [*found, {**counts, "cached_tokens": cached, "thinking_tokens": thinking, "stop_reason": reason}]


def _call_piece(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


async def write_events(
    pieces: AsyncGenerator[Any], options: Mapping[str, Any], refusals: tuple[type, ...], key: str
) -> AsyncIterator[Any]:
    """The events of a call. A text is a TOKEN, a dict with an `id` a TOOL_CALL, any other dict the metadata at the end.

    An error of exactly one of the types `refusals` is the library's refusal; every other error is an ERROR event.
    """
    context = options.get("call_context")
    kind = f"{context}_LLM_RESPONSE" if context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS") else "LLM_RESPONSE"
    books = {"thread_id": options["thread_id"], "session_id": options.get("session_id")}
    books["trace_id"] = options.get("trace_id") or str(uuid4())
    text, calls, counted, failure = "", list[dict[str, Any]](), dict[str, Any](), None
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, str):
                    text += piece
                    if piece:
                        yield {"type": "TOKEN", "text": piece, "token_type": kind, **books}
                elif "id" in piece:
                    calls.append(piece)
                    yield {"type": "TOOL_CALL", "call": piece, **books}
                else:
                    counted = piece
    except PromptTranslationFailed:
        raise
    except Exception as error:  # noqa: BLE001 - a library lets any error of its clients through
        if type(error) in refusals:
            raise refuse(str(error).replace(key, "***")) from None
        failure = error
    message: dict[str, Any] = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
    if failure is None:
        yield {"type": "METADATA", "metadata": counted, **books}
        yield {"type": "END", "message": message, "finish": counted["stop_reason"], **books}
        return
    yield {"type": "ERROR", "error": describe(failure, key), **books}
    yield {"type": "END", "message": message if text or calls else None, "finish": "error", **books}


def describe(failure: Any, key: str) -> dict[str, Any]:
    """The error of an ERROR event, with the HTTP status where the library's exception has one."""
    words, causes = f"{type(failure).__name__}: {failure}".replace(key, "***"), [failure]
    while causes[-1].__cause__:
        causes.append(causes[-1].__cause__)
    known = [getattr(cause, name, None) for cause in causes for name in ("status_code", "code")]
    status = next((one for one in known if isinstance(one, int)), None)
    answers = [answer for cause in causes if (answer := getattr(cause, "response", None)) is not None]
    headers = getattr(answers[0], "headers", {}) if answers else {}
    error = {"code": "LLM_PROVIDER_ERROR", "message": words, "provider_message": words, "status": status}
    retryable = status in {408, 409, 429} or (status or 500) >= 500
    return {**error, "retry_after": read_retry_after(headers), "is_retryable": retryable}
