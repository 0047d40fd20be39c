"""Writes streams of chat completions: what an unstreamed answer says, in chunks. Relatives differ by a `ChatStyle`.

Source: streams of OpenAI, DeepSeek, Groq, Mistral and OpenRouter recorded in 2026.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from msgspec import Struct

from art_compliance.dialects.framing import change_data, data_frame, pieces
from art_compliance.dialects.writing import WriteStream
from art_compliance.scenarios import WrittenAnswer
from art_sdk.json_data import is_array, is_object

DONE: Final = b"data: [DONE]\n\n"
"""The end mark."""

UNKNOWN_EVENT: Final = data_frame(
    {"id": "", "object": "chat.completion.chunk", "created": 0, "model": "", "choices": [], "prompt_filter_results": []}
)
"""A chunk without a choice and with an unknown field, as Azure opens streams (openai/openai-agents-js issue 92)."""


class ChatStyle(Struct, frozen=True, kw_only=True):
    """How a relative's chunks differ from OpenAI's."""

    first: tuple[str, ...] = ()
    """Fields of the first delta besides role and content; each is null."""
    texts: tuple[str, ...] = ("content",)
    """Fields of the message that come in pieces, in this order."""
    details: str | None = None
    """The field of reasoning items that come along with the pieces of the first of `texts`."""
    whole_calls: bool = False
    """Whether calls come whole, all of them in one chunk."""
    splits_calls: bool = False
    """Whether each whole call has its own chunk."""
    usage_at_finish: bool = False
    """Whether the last chunk has the usage even if the request does not ask for it."""
    has_usage_always: bool = False
    """Whether every chunk has a usage, null where there is none yet."""
    says_finish_twice: bool = False
    """Whether the finish reason comes once more, next to the usage."""
    repeats_role: bool = False
    """Whether every delta has the role and a content, so that none comes before the first piece."""
    ends_with_content: bool = False
    """Whether the finish reason comes with the last piece."""
    last: Mapping[str, Any] = {}
    """The delta next to the finish reason, if it has none of its own."""
    padding: str | None = None
    """A field of meaningless text, which hides how long the pieces are."""
    comments: tuple[bytes, ...] = ()
    """Comments before the first chunk."""
    dress: Callable[[Iterable[dict[str, Any]], dict[str, Any]], Iterator[dict[str, Any]]] | None = None
    """Adds the provider's own fields to the chunks of an answer with this usage."""


OPENAI: Final = ChatStyle(first=("refusal",), texts=("content", "refusal"), padding="obfuscation")


def chat_stream(write: Callable[[WrittenAnswer], bytes], style: ChatStyle) -> WriteStream:
    """A writer of streams that say what `write` says, in this style."""

    def write_stream(answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
        body = json.loads(write(answer))
        wants_usage = payload is None or _stream_option(payload, "include_usage") is True
        usage = body.pop("usage")
        chunks = _chunks(body, usage, style, wants_usage=wants_usage)
        if style.dress:
            chunks = style.dress(chunks, usage)
        if style.padding and _stream_option(payload, "include_obfuscation") is not False:
            chunks = _padded(chunks, style.padding)
        return (*style.comments, *(data_frame(chunk) for chunk in chunks), DONE)

    return write_stream


def error_event(write: Callable[[int, str], bytes]) -> Callable[[int, str], bytes]:
    """A writer of errors in a stream: the body as an event. That no `[DONE]` follows is inferred."""
    return lambda status, message: data_frame(json.loads(write(status, message)))


def interleave_calls(events: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The same calls with alternating pieces. All begin in one chunk, each with the first piece of its arguments.

    Only `index` says then which call a piece belongs to. Providers were recorded to begin calls this way; alternating
    pieces are inferred from `ChoiceDeltaToolCall.index`, by which the official client joins them.
    """
    of_calls = [event for event in events if b'"tool_calls":[' in event]
    by_index: dict[int, list[dict[str, Any]]] = {}
    for event in of_calls:
        (call,) = _delta_of(event)["tool_calls"]
        by_index.setdefault(call["index"], []).append(call)
    for head, first, *_ in by_index.values():
        head["function"]["arguments"] = first["function"]["arguments"]
    begun = [[head for head, *_ in by_index.values()]]
    turns = zip_longest(*(rest for _, _, *rest in by_index.values()))
    chunks = [*begun, *([one] for turn in turns for one in turn if one is not None)]
    mixed = [_with_calls(of_calls[0], calls) for calls in chunks]
    at = events.index(of_calls[0])
    return (*events[:at], *mixed, *events[at + len(of_calls) :])


def _delta_of(event: bytes) -> dict[str, Any]:
    chunk = json.loads(event.removeprefix(b"data: "))
    delta: dict[str, Any] = chunk["choices"][0]["delta"]
    return delta


def _with_calls(event: bytes, calls: list[dict[str, Any]]) -> bytes:
    def put(chunk: Any) -> Any:
        (choice,) = chunk["choices"]
        return {**chunk, "choices": [{**choice, "delta": {"tool_calls": calls}}]}

    return change_data(event, put)


def _stream_option(payload: object, name: str) -> object:
    options = payload.get("stream_options") if is_object(payload) else None
    return options.get(name) if is_object(options) else None


_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def _padded(chunks: Iterator[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    for number, chunk in enumerate(chunks, 1):
        yield {**chunk, name: _LETTERS[: number * 7 % len(_LETTERS)]}


def _chunks(
    body: dict[str, Any], usage: dict[str, Any], style: ChatStyle, *, wants_usage: bool
) -> Iterator[dict[str, Any]]:
    (choice,) = body.pop("choices")
    message, finish = choice.pop("message"), choice.pop("finish_reason")
    head = {**body, "object": "chat.completion.chunk"}
    own_chunk = wants_usage and not style.usage_at_finish
    unused = {"usage": None} if own_chunk or style.has_usage_always else {}
    deltas = list(_deltas(message, style))
    last = deltas.pop() if style.ends_with_content else dict(style.last)
    unfinished = choice | dict.fromkeys([name for name in choice if name.endswith("finish_reason")])
    for delta in deltas:
        yield {**head, "choices": [{**unfinished, "delta": delta, "finish_reason": None}], **unused}
    end: dict[str, Any] = {**head, "choices": [{**choice, "delta": last, "finish_reason": finish}]}
    if style.says_finish_twice:
        yield end
    yield {**end, **({"usage": usage} if style.usage_at_finish else unused)}
    if own_chunk:
        yield {**head, "choices": [], "usage": usage}


def _deltas(message: dict[str, Any], style: ChatStyle) -> Iterator[dict[str, Any]]:
    if not style.repeats_role:
        content = None if message.get("content") is None else ""
        yield {"role": message["role"], "content": content, **dict.fromkeys(style.first)}
        yield from _pieces(message, style)
        return
    for delta in _pieces(message, style):
        yield {"content": None if "tool_calls" in delta else "", "role": message["role"], **delta}


def _pieces(message: dict[str, Any], style: ChatStyle) -> Iterator[dict[str, Any]]:
    for number, name in enumerate(style.texts):
        items = message.get(style.details) if style.details and number == 0 else None
        if items and style.details:
            yield from _detailed(name, items, style.details)
        else:
            yield from ({name: piece} for piece in _text_pieces(message.get(name)))
    yield from _call_deltas(message.get("tool_calls") or (), style)


def _text_pieces(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        yield from pieces(value)
    elif is_array(value):
        yield from _part_pieces(value)


def _part_pieces(parts: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]] | str]:
    """A list of parts, as Mistral streams its reasoning: the text begins in the list, and goes on as text."""
    *thoughts, last = parts
    begun, *rest = pieces(last["text"]) if last["type"] == "text" else ("",)
    lists = [[piece] for thought in (thoughts if begun else parts) for piece in _thought_pieces(thought)]
    if begun:
        lists[-1].append({**last, "text": begun})
    yield from lists
    yield from rest


def _thought_pieces(thought: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for text in thought["thinking"]:
        yield from ({**thought, "thinking": [{**text, "text": piece}]} for piece in pieces(text["text"]))


def _detailed(name: str, items: list[dict[str, Any]], details: str) -> Iterator[dict[str, Any]]:
    """Reasoning with its items: the text in pieces, then the rest of an item (a signature)."""
    for item in items:
        bare = {key: value for key, value in item.items() if key in {"type", "index", "format"}}
        for piece in pieces(item.get("text") or ""):
            yield {name: piece, details: [{**bare, "text": piece}]}
        rest = {key: value for key, value in item.items() if key != "text"}
        if rest != bare:
            yield {details: [rest]} if "text" in item else {name: None, details: [rest]}


def _call_deltas(calls: Any, style: ChatStyle) -> Iterator[dict[str, Any]]:
    numbered: list[dict[str, Any]] = [{"index": index, **call} for index, call in enumerate(calls)]
    if style.whole_calls:
        chunks = [[call] for call in numbered] if style.splits_calls else [numbered]
        yield from ({"tool_calls": calls} for calls in chunks if calls)
        return
    for call in numbered:
        function = call["function"]
        yield {"tool_calls": [{**call, "function": {**function, "arguments": ""}}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]}
