"""What comes of a library's answer: its pieces (texts, then the end), and the events of a call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, cast
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


TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "thinking_tokens")
CHAT_COUNTS: Final = (
    "prompt_tokens",
    "completion_tokens",
    "prompt_tokens_details.cached_tokens",
    "completion_tokens_details.reasoning_tokens",
)
_OVER: Final = object()  # what follows the last piece


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
    yield end_of(found, reason, usage)


async def listen(run: Callable[[Any], Coroutine[Any, Any, Any]]) -> AsyncGenerator[Any]:
    """What `run` tells the coroutine function that it is called with, and last what it returns."""
    pieces = asyncio.Queue[Any]()

    async def work() -> None:
        try:
            await pieces.put(await run(pieces.put))
        finally:
            await pieces.put(_OVER)

    task = asyncio.create_task(work())
    try:
        while (piece := await pieces.get()) is not _OVER:
            yield piece
        await task
    finally:
        task.cancel()


@dataclass(frozen=True)
class End:
    """What an answer came to: its calls, and its metadata."""

    calls: list[dict[str, Any]]
    metadata: dict[str, Any]


def end_of(calls: Iterable[Iterable[Any]], said: Any, used: Any, counts: Iterable[str] = CHAT_COUNTS) -> End:
    """The last piece of an answer: its calls (id, name, and arguments as text or object), why it ended, its tokens.

    `counts` is where `used` has them, in the order of `TOKENS`. A provider always gives a finish reason: an answer
    without it was cut off.
    """
    if not isinstance(said, str):
        raise TypeError("the answer has no finish reason")
    found = [_call_of(*call) for call in calls]
    reason = FINISHES.get(said, "other")
    if (reason == "stop" and found) or (reason == "tool_calls" and not found):  # the standard goes by the calls
        reason = "tool_calls" if found else "other"
    counted = dict.fromkeys(TOKENS) | {name: _find(used, path) for name, path in zip(TOKENS, counts, strict=False)}
    return End(found, {**counted, "stop_reason": reason})


def _find(data: Any, path: str) -> Any:
    """What stands at a path of attributes or keys, or None."""
    for name in path.split("."):
        data = cast("dict[str, Any]", data).get(name) if isinstance(data, dict) else getattr(data, name, None)
    return data


def _call_of(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


async def write_events(
    pieces: AsyncGenerator[Any], options: Mapping[str, Any], refusals: tuple[type, ...], key: str
) -> AsyncIterator[Any]:
    """The events of a call. A text is a TOKEN; the last piece is its `End`, of TOOL_CALLs and metadata.

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
                else:
                    counted = piece.metadata
                    for call in piece.calls:
                        calls.append(call)
                        yield {"type": "TOOL_CALL", "call": call, **books}
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
