"""Makes a failing request smaller still, as data: Hypothesis cannot take the first of several calls away.

It shrinks the choices that a prompt was made by, a few neighbours at a time; a call with its result is
made by a dozen. Here whole messages, calls with their results, tools and options are left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from art_compliance.strategies import Request

Prompt = list[dict[str, Any]]


def reduce(request: Request, fails: Callable[[Request], bool], *, seconds: float, alone: bool) -> Request:
    """The request without all that can be left out of it while it fails, as far as the time goes.

    `alone`: a message may go without what belongs to it, as in a conversation that is broken anyway.
    """
    until = time.monotonic() + seconds
    least, is_smaller = request, True
    while is_smaller and time.monotonic() < until:
        smaller = (one for one in _smaller(least, alone=alone) if fails(one))
        found = next(smaller, None)
        is_smaller = found is not None
        least = found or least
    return least


def _smaller(request: Request, *, alone: bool) -> Iterator[Request]:
    prompt, options = request
    for told in (*_without_messages(prompt, alone=alone), *_without_calls(prompt), *_with_short_texts(prompt)):
        if told:
            yield request._replace(prompt=told)
    called = set(_tools_called(prompt))
    for name in sorted(options.keys() - {"thread_id", "tools"}):
        yield request._replace(options={key: value for key, value in options.items() if key != name})
    for tool in options.get("tools", ()):
        if tool["name"] not in called and tool["name"] != options.get("tool_choice"):
            others = [one for one in options["tools"] if one is not tool]
            yield request._replace(options={**options, "tools": others})


def _without_messages(prompt: Prompt, *, alone: bool) -> Iterator[Prompt]:
    for at, message in enumerate(prompt):
        belongs = message["role"] not in ("system", "user") and (_ids(message) or "tool_call_id" in message)
        if alone or not belongs:
            yield [*prompt[:at], *prompt[at + 1 :]]


def _without_calls(prompt: Prompt) -> Iterator[Prompt]:
    for call_id in dict.fromkeys(call_id for message in prompt for call_id in _ids(message)):
        yield [told for message in prompt if (told := _without_call(message, call_id)) is not None]


def _without_call(message: dict[str, Any], call_id: str) -> dict[str, Any] | None:
    """The message without a call, or its result; None where nothing remains."""
    if message.get("tool_call_id") == call_id or (message["role"] == "tool_request" and call_id in _ids(message)):
        return None
    if call_id not in _ids(message):
        return message
    kept = [call for call in message["tool_calls"] if call["id"] != call_id]
    if kept:
        return {**message, "tool_calls": kept}
    bare = {name: value for name, value in message.items() if name != "tool_calls"}
    return bare if bare["content"] is not None else None


def _with_short_texts(prompt: Prompt) -> Iterator[Prompt]:
    for at, message in enumerate(prompt):
        content = message["content"]
        if isinstance(content, str) and len(content) > 1:
            half = len(content) // 2
            for shorter in ("a", content[:half], content[half:], content[1:], content[:-1]):
                yield [*prompt[:at], {**message, "content": shorter}, *prompt[at + 1 :]]


def _ids(message: dict[str, Any]) -> list[str]:
    if message["role"] == "tool_request":
        return [message["content"]["id"]] if message["content"] else []
    return [call["id"] for call in message.get("tool_calls", ())]


def _tools_called(prompt: Prompt) -> Iterator[str]:
    for message in prompt:
        if message["role"] == "tool_request" and message["content"]:
            yield message["content"]["name"]
        yield from (call["function"]["name"] for call in message.get("tool_calls", ()))
