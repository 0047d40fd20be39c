"""What every wrapper of a library needs: the options it was given, messages in the form of chat completions, events.

The wrappers are written as a user of the library would write them: from its documentation, by its public names. They
translate nothing themselves; they refuse what the library has no parameter for.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from art_sdk import PromptTranslationFailed

FINISHES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "STOP"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "tool_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"), "content_filter"),
    **dict.fromkeys(("SPII", "RECITATION", "IMAGE_SAFETY"), "content_filter"),
}
_NOT_SENT: Final = {"thread_id", "trace_id", "session_id", "user_id", "call_context", "late_system", "stream"}


def refuse(why: str) -> PromptTranslationFailed:
    """The error for a prompt or an option that the library has no parameter for."""
    return PromptTranslationFailed(why)


def read_options(options: Mapping[str, Any], names: Mapping[str, str], dialect: str) -> dict[str, Any]:
    """The options that are sent, by the library's names. Raises PromptTranslationFailed for any other."""
    given = {name: value for name, value in options.items() if value not in (None, [], {}) and name not in _NOT_SENT}
    if not given.pop("provider", {}).get(dialect) and given.keys() <= names.keys():
        return {names[name]: value for name, value in given.items()}
    raise refuse(f"these options are not supported: {', '.join(sorted(given.keys() - names.keys())) or 'provider'}")


def check_messages(prompt: list[dict[str, Any]], dialect: str) -> None:
    """Reasoning that was kept for the next turn, and requests of tools without a content, are not supported."""
    for message in prompt:
        if dialect in (message.get("extensions") or {}) or (
            message["role"] == "tool_request" and not message["content"]
        ):
            raise refuse(f"this {message['role']} message is not supported")


def chat_messages(prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages in the form of chat completions, which many libraries take; tool requests join their turn."""
    messages: list[dict[str, Any]] = []
    for message in prompt:
        chat = _chat_message(message)
        if message["role"] == "tool_request" and messages and messages[-1]["role"] == "assistant":
            messages[-1] |= {"tool_calls": [*messages[-1].get("tool_calls", ()), *chat["tool_calls"]]}
        else:
            messages.append(chat)
    if any(one["role"] == "assistant" and one["content"] is None and not one.get("tool_calls") for one in messages):
        raise refuse("an assistant message has neither a text nor a call")
    return messages


def _chat_message(message: dict[str, Any]) -> dict[str, Any]:
    match message:
        case {"role": "tool_request", "content": request}:
            function = {"name": request["name"], "arguments": request["arguments"]}
            if not isinstance(function["arguments"], str):
                function["arguments"] = json.dumps(function["arguments"])
            calls = [{"id": request["id"], "type": "function", "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        case {"role": "tool" | "tool_result"}:
            return {**message, "role": "tool"}
        case {"role": "user", "content": list(parts)}:
            return {**message, "content": [_chat_part(part) for part in parts]}
    return {name: value for name, value in message.items() if name != "extensions" and value != []}


def _chat_part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return part
    url = part.get("url") or f"data:{part['mime_type']};base64,{part['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


def read_arguments(text: str) -> dict[str, Any] | None:
    """Arguments as the object that libraries take in place of their text, or None if they are not an object.

    Raises PromptTranslationFailed if the object would not say the same as the text.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise refuse("a key of the arguments is repeated")
        return dict(pairs)

    def finite(number: str) -> float:
        if math.isinf(float(number)):
            raise refuse("a number of the arguments is too large")
        return float(number)

    def constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        value = json.loads(text.strip() or "{}", object_pairs_hook=unique, parse_float=finite, parse_constant=constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool in the form of chat completions."""
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


async def write_events(
    pieces: AsyncGenerator[Any], options: Mapping[str, Any], refusals: tuple[type, ...], key: str
) -> AsyncIterator[Any]:
    """The events of a call. A text is a TOKEN, a dict with an `id` a TOOL_CALL, any other dict the metadata at the end.

    An error of exactly one of the types `refusals` is the library's refusal; every other error is an ERROR event.
    """
    context = options.get("call_context")
    kind = f"{context}_LLM_RESPONSE" if context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS") else "LLM_RESPONSE"
    books = {"thread_id": options["thread_id"], "session_id": options.get("session_id")}
    books["trace_id"] = options.get("trace_id") or "trace"
    text, calls, metadata, failure = "", [], {}, None
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
                    metadata = piece
    except Exception as error:  # noqa: BLE001 - a library lets any error of its clients through
        if type(error) in refusals:
            raise refuse(str(error).replace(key, "***")) from None
        failure = error
    message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
    if failure is None:
        yield {"type": "METADATA", "metadata": metadata, **books}
        yield {"type": "END", "message": message, "finish": metadata["stop_reason"], **books}
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
    wait = headers.get("retry-after") or ""
    retryable = status in {408, 409, 429} or (status or 500) >= 500
    return {**error, "retry_after": float(wait) if wait.isdigit() else None, "is_retryable": retryable}


def finish_of(reason: Any, *, calls: bool) -> str:
    """The finish reason. A provider always gives one: an answer without it was cut off."""
    if not isinstance(reason, str):
        raise TypeError("the answer has no finish reason")
    return "tool_calls" if calls and FINISHES.get(reason) == "stop" else FINISHES.get(reason, "other")


def call_event(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A call in the form of the events; `arguments` may be text or an object."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
