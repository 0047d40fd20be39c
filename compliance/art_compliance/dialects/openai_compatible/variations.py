"""Other forms of streams of servers that nobody knows: what the pieces of a call have next to their arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from art_compliance.dialects.framing import change_data, data_frame
from art_compliance.dialects.openai_chat.entries import (
    Entry,
    entries_of,
    put_entries,
    whole_call,
    with_entries,
)
from art_compliance.dialects.openai_chat.streams import DONE
from art_compliance.dialects.openai_chat.variations import FORCED_CALL, PROBABILITIES, Chunk, regrouped
from art_compliance.dialects.openai_compatible.fields import FIELDS
from art_compliance.dialects.openai_compatible.numbering import NUMBERS
from art_compliance.dialects.variations import Events, Variation, read_data


def _later_pieces(change: Callable[[Entry, Entry], Entry]) -> Callable[[Events], Events]:
    """Rewrites each piece of a call but the first, which is given to `change`, too."""

    def rewrite(events: Events) -> Events:
        begun: dict[int, Entry] = {}

        def change_entry(entry: Entry) -> Entry:
            first = begun.setdefault(entry["index"], entry)
            return entry if first is entry else change(first, entry)

        def change_chunk(chunk: Any) -> Any:
            for choice in chunk.get("choices") or ():
                if choice["delta"].get("tool_calls"):
                    choice["delta"]["tool_calls"] = list(map(change_entry, choice["delta"]["tool_calls"]))
            return chunk

        return tuple(change_data(event, change_chunk) for event in events)

    return rewrite


def _named_again(first: Entry, entry: Entry) -> Entry:
    return {**entry, "function": {**entry["function"], "name": first["function"]["name"]}}


def _with_empty_id(_: Entry, entry: Entry) -> Entry:
    return {**entry, "id": "", "function": {**entry["function"], "name": ""}}


def _with_empty_others(chunks: list[Chunk]) -> list[Chunk]:
    """Each piece of a call has an empty object for the kind of call that it is not."""
    return [with_entries(chunk, lambda entry: {**entry, "custom": {}}) for chunk in chunks]


def _empty_text_between(chunks: list[Chunk]) -> list[Chunk]:
    """An empty text after each piece of a call."""
    return [one for chunk in chunks for one in ((chunk, _empty_text(chunk)) if entries_of(chunk) else (chunk,))]


def _empty_text(chunk: Chunk) -> Chunk:
    (choice,) = chunk["choices"]
    return {**chunk, "choices": [{**choice, "finish_reason": None, "delta": {"content": ""}}]}


def _counted_twice(events: Events) -> Events:
    """The chunk with the finish counts the tokens before it, and one without choices, after it, all of them."""
    chunks = [data for event in events if (data := read_data(event)) is not None]
    usage = next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None)
    if usage is None:
        return events
    speaking: list[Entry] = [{**chunk, "usage": None} for chunk in chunks if chunk.get("choices")]
    *others, finish = speaking
    taken, given = usage["prompt_tokens"], usage["completion_tokens"] - 1
    so_far = {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}
    first = {**finish, "usage": so_far}
    last: Entry = {**finish, "choices": [], "usage": usage}
    comments = [event for event in events if event.startswith(b":")]
    return (*comments, *map(data_frame, (*others, first, last)), DONE)


def _begun_without_arguments(chunks: list[Chunk]) -> list[Chunk]:
    """The first piece of a call names it, and has no arguments yet."""
    return [with_entries(chunk, _without_empty_arguments) for chunk in chunks]


def _without_empty_arguments(entry: Entry) -> Entry:
    function = {name: value for name, value in entry.get("function", {}).items() if (name, value) != ("arguments", "")}
    return {**entry, "function": function} if entry.get("id") else entry


def _without_braces(body: dict[str, Any]) -> dict[str, Any]:
    """A call whose arguments are an empty object has an empty text for them."""
    for choice in body["choices"]:
        for call in choice["message"].get("tool_calls") or ():
            if call["function"]["arguments"] == "{}":
                call["function"]["arguments"] = ""
    return body


def _streamed_without_braces(chunks: list[Chunk]) -> list[Chunk]:
    texts: dict[int, str] = {}
    for entry in (entry for chunk in chunks for entry in entries_of(chunk)):
        texts[entry["index"]] = texts.get(entry["index"], "") + entry["function"].get("arguments", "")
    empty = {index for index, text in texts.items() if text == "{}"}
    return [
        with_entries(chunk, lambda entry: _emptied(entry) if entry["index"] in empty else entry) for chunk in chunks
    ]


def _emptied(entry: Entry) -> Entry:
    return {**entry, "function": {**entry["function"], "arguments": ""}}


def _objects(body: dict[str, Any]) -> dict[str, Any]:
    message = body["choices"][0]["message"]
    calls = [_with_object(call) for call in message.get("tool_calls") or ()]
    changed = {**message, "tool_calls": calls} if calls else message
    return {**body, "choices": [{**body["choices"][0], "message": changed}]}


def _streamed_objects(chunks: list[Chunk]) -> list[Chunk]:
    """Each call whole, where its first piece was."""
    pieces = [entry for chunk in chunks for entry in entries_of(chunk)]
    return [one for chunk in chunks for one in _with_objects(chunk, pieces)]


def _with_objects(chunk: Chunk, pieces: list[Entry]) -> list[Chunk]:
    entries = entries_of(chunk)
    calls = [_with_object(whole_call(entry, pieces)) for entry in entries if entry.get("id")]
    return [put_entries(chunk, calls)] if calls or not entries else []


def _with_object(entry: Entry) -> Entry:
    return {**entry, "function": {**entry["function"], "arguments": json.loads(entry["function"]["arguments"])}}


def _at_one_index(chunks: list[Chunk]) -> list[Chunk]:
    """Each call whole, in a chunk of its own, where its first piece was; all of them have the index 0."""
    pieces = [entry for chunk in chunks for entry in entries_of(chunk)]
    return [one for chunk in chunks for one in _with_whole_calls(chunk, pieces)]


def _with_whole_calls(chunk: Chunk, pieces: list[Entry]) -> list[Chunk]:
    entries = entries_of(chunk)
    if not entries:
        return [chunk]
    calls = [{**whole_call(entry, pieces), "index": 0} for entry in entries if entry.get("id")]
    return [put_entries(chunk, [call]) for call in calls]


VARIATIONS: Final = (
    PROBABILITIES,
    FORCED_CALL,
    Variation(words="a call's name in each of its pieces", events=_later_pieces(_named_again)),
    Variation(words="an empty id and name in each later piece of a call", events=_later_pieces(_with_empty_id)),
    Variation(words="the same index for each of its calls", events=regrouped(_at_one_index)),
    Variation(words="no arguments in the first piece of a call", events=regrouped(_begun_without_arguments)),
    Variation(
        words="an empty object beside the function of each piece of a call", events=regrouped(_with_empty_others)
    ),
    Variation(words="an empty text after each piece of a call", events=regrouped(_empty_text_between)),
    Variation(words="token counts beside the finish, and all of them in a later chunk", events=_counted_twice),
    Variation(
        words="an empty text for a call's empty arguments",
        whole=_without_braces,
        events=regrouped(_streamed_without_braces),
        empties=True,
    ),
    Variation(
        words="an object for a call's arguments", whole=_objects, events=regrouped(_streamed_objects), may_fail=True
    ),
    *FIELDS,
    *NUMBERS,
)
"""From the third on: as NVIDIA serves MiniMax (https://github.com/NousResearch/hermes-agent/issues/8259), as Alibaba
serves Qwen (https://github.com/symfony/ai/pull/2220), as Ollama does (https://github.com/ollama/ollama/issues/15457),
as vLLM does (https://github.com/ogx-ai/ogx/pull/5462), as gateways do
(https://github.com/earendil-works/pi/issues/8504 and https://github.com/agentgateway/agentgateway/issues/2147), as vLLM
does for its counts (https://github.com/can1357/oh-my-pi/issues/5022), as llama-server does
(https://github.com/QwenLM/qwen-code/pull/6250), and as it did (https://github.com/ggml-org/llama.cpp/issues/20198).
"""
