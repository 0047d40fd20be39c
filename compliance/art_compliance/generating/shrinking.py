"""Shrinks a failing request as data, by leaving out whatever it can lose and still fail.

Hypothesis would shrink the choices that made the request, a dozen of them for one call with its result. Measured on
the families' own prompts, it drew 70 to 500 requests in 0.5 to 8 seconds and mostly stopped at three or four messages;
leaving out whole messages, calls with their results, turns, tools, options and pieces of text takes at most 60
tries and leaves one to three. A law has two seconds, and one try may be a whole dialogue.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any, Final, TypeVar

from art_compliance.generating.call_ids import ids_called
from art_sdk.json_data import is_object

if TYPE_CHECKING:
    from art_compliance.generating.requests import Request

Prompt = list[dict[str, Any]]
T = TypeVar("T")


def shrink(request: Request, fails: Callable[[Request], bool], *, seconds: float, alone: bool) -> Request:
    """The smallest request found within `seconds` that still fails.

    `alone`: a call may be dropped without its result and a result without its call, for conversations that are
    broken anyway.
    """
    until = time.monotonic() + seconds
    smallest = request
    while (smaller := _first_failing(smallest, fails, until, alone=alone)) is not None:
        smallest = smaller
    return smallest


def _first_failing(request: Request, fails: Callable[[Request], bool], until: float, *, alone: bool) -> Request | None:
    """The first smaller request that fails, or None where none does before the time is up."""
    in_time = takewhile(lambda _: time.monotonic() < until, _smaller(request, alone=alone))
    return next((smaller for smaller in in_time if fails(smaller)), None)


def _smaller(request: Request, *, alone: bool) -> Iterator[Request]:
    """Requests that each lack one thing more, the large things first."""
    prompt = request.prompt
    for shorter in chain(_without_messages(prompt, alone=alone), _without_calls(prompt)):
        if shorter:
            yield request._replace(prompt=shorter)
    yield from _with_fewer_turns(request)
    yield from _with_less_options(request)
    for simpler in chain(_without_fields(prompt), _with_short_texts(prompt), _with_smaller_arguments(prompt)):
        yield request._replace(prompt=simpler)


def _without_messages(prompt: Prompt, *, alone: bool) -> Iterator[Prompt]:
    for at, message in enumerate(prompt):
        belongs = message["role"] not in ("system", "user") and (ids_called(message) or "tool_call_id" in message)
        if alone or not belongs:
            yield _dropped(prompt, at)


def _without_calls(prompt: Prompt) -> Iterator[Prompt]:
    for call_id in dict.fromkeys(call_id for message in prompt for call_id in ids_called(message)):
        yield [kept for message in prompt if (kept := _without_call(message, call_id)) is not None]


def _without_call(message: dict[str, Any], call_id: str) -> dict[str, Any] | None:
    """The message without the call or its result; None if nothing remains."""
    if message.get("tool_call_id") == call_id or (message["role"] == "tool_request" and call_id in ids_called(message)):
        return None
    if call_id not in ids_called(message):
        return message
    kept = [call for call in message["tool_calls"] if call["id"] != call_id]
    if kept:
        return {**message, "tool_calls": kept}
    bare = {name: value for name, value in message.items() if name != "tool_calls"}
    return bare if bare["content"] is not None else None


def _with_fewer_turns(request: Request) -> Iterator[Request]:
    turns = list(request.turns)
    for at, turn in enumerate(turns):
        if len(turns) > 1:
            yield request._replace(turns=_dropped(turns, at))
        for simpler in _simpler_turns(turn):
            yield request._replace(turns=_replaced(turns, at, simpler))


def _simpler_turns(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The turn with a smaller answer, or with a plain value for one of its other fields."""
    answer = turn["answer"]
    for bare in (_without(answer, "thinking", "signature", "thinking_tokens"), *_answers_with_fewer_calls(answer)):
        if bare != answer:
            yield {**turn, "answer": bare}
    for shorter in _shorter(answer.get("content") or ""):
        yield {**turn, "answer": {**answer, "content": shorter}}
    for name, plain in (("user", "a"), ("results", [{"content": "a"}]), ("is_streamed", False), ("is_reversed", False)):
        if turn.get(name, plain) != plain:
            yield {**turn, name: plain}
    yield from _turns_with_short_words(turn)


def _turns_with_short_words(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for shorter in _shorter(turn.get("user", "")):
        yield {**turn, "user": shorter}
    results = turn.get("results", [])
    for at, result in enumerate(results):
        for shorter in _shorter(result["content"]):
            yield {**turn, "results": _replaced(results, at, {**result, "content": shorter})}


def _answers_with_fewer_calls(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    calls = answer.get("tool_calls", [])
    for at, call in enumerate(calls):
        kept = _dropped(calls, at)
        if kept:
            yield {**answer, "tool_calls": kept}
        elif answer.get("content"):
            yield {**_without(answer, "tool_calls"), "finish": "stop"}
        for function in _smaller_functions(call["function"]):
            yield {**answer, "tool_calls": _replaced(calls, at, {**call, "function": function})}
    if answer.get("content") and calls:
        yield {**answer, "content": None}


def _with_less_options(request: Request) -> Iterator[Request]:
    options, called = request.options, set(_tools_called(request))
    for name in sorted(options.keys() - {"thread_id", "tools"}):
        yield request._replace(options=_without(options, name))
    tools = options.get("tools", ())
    for at, tool in enumerate(tools):
        if tool["name"] not in called and tool["name"] != options.get("tool_choice"):
            yield request._replace(options={**options, "tools": _dropped(tools, at)})
        for plain in _PLAIN_FIELDS:
            if tool != {**tool, **plain}:
                yield request._replace(options={**options, "tools": _replaced(tools, at, {**tool, **plain})})


def _dropped(items: Sequence[T], at: int) -> list[T]:
    return [*items[:at], *items[at + 1 :]]


def _replaced(items: Sequence[T], at: int, item: T) -> list[T]:
    return [*items[:at], item, *items[at + 1 :]]


_ANYTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
_PLAIN_FIELDS: Final[tuple[dict[str, Any], ...]] = ({"description": "a"}, {"inputSchema": _ANYTHING})
_OPTIONAL: Final = ("name", "extensions", "status")


def _without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}


def _without_fields(prompt: Prompt) -> Iterator[Prompt]:
    for at, message in enumerate(prompt):
        for name in _OPTIONAL:
            if name in message:
                yield _replaced(prompt, at, _without(message, name))


def _with_short_texts(prompt: Prompt) -> Iterator[Prompt]:
    for at, message in enumerate(prompt):
        content = message["content"]
        for shorter in _shorter(content) if isinstance(content, str) else ():
            yield _replaced(prompt, at, {**message, "content": shorter})


def _shorter(text: str) -> Iterator[str]:
    """A letter, then the text without one of its halves, quarters and so on down to single characters.

    Visible text is never made blank: blank text often fails for a separate reason.
    """
    if len(text) < 2:
        return
    yield "a"
    size, is_blank = len(text) // 2, not text.strip()
    while size:
        pieces = (text[:at] + text[at + size :] for at in range(0, len(text), size))
        yield from (piece for piece in pieces if is_blank or piece.strip())
        size //= 2


def _with_smaller_arguments(prompt: Prompt) -> Iterator[Prompt]:
    for at, message in enumerate(prompt):
        for simpler in _with_smaller_calls(message):
            yield _replaced(prompt, at, simpler)


def _with_smaller_calls(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if message["role"] == "tool_request" and message["content"]:
        for function in _smaller_functions(message["content"]):
            yield {**message, "content": function}
    calls = message.get("tool_calls", [])
    for at, call in enumerate(calls):
        for function in _smaller_functions(call["function"]):
            yield {**message, "tool_calls": _replaced(calls, at, {**call, "function": function})}


def _smaller_functions(function: dict[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        arguments: Any = json.loads(function["arguments"] or "{}")
    except ValueError:
        return
    if not is_object(arguments) or not arguments:
        return
    yield {**function, "arguments": "{}"}
    for name in arguments:
        yield {**function, "arguments": json.dumps(_without(arguments, name))}
        if arguments[name] not in ("a", 0, None) and len(arguments) == 1:
            yield {**function, "arguments": json.dumps({name: "a"})}


def _tools_called(request: Request) -> Iterator[str]:
    for message in request.prompt:
        if message["role"] == "tool_request" and message["content"]:
            yield message["content"]["name"]
        yield from (call["function"]["name"] for call in message.get("tool_calls", ()))
    for turn in request.turns:
        yield from (call["function"]["name"] for call in turn["answer"].get("tool_calls", ()))
