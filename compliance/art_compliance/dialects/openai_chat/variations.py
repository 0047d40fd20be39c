"""Other forms of streams of chat completions: the same deltas, grouped in another way.

Source: the published type of a chunk allows each of them; recorded streams of relatives have the last piece next to
the finish reason, and all of a short answer in one chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

from art_compliance.dialects.framing import change_data, data_frame
from art_compliance.dialects.openai_chat.streams import DONE
from art_compliance.dialects.variations import Events, SeveralAnswers, Variation, in_halves, in_turns, read_data
from art_sdk.json_data import is_array, is_object

Chunk = dict[str, Any]


def regrouped(regroup: Callable[[list[Chunk]], list[Chunk]]) -> Callable[[Events], Events]:
    """Rewrites the chunks that have a choice; comments, usage and the end mark stay where they are."""

    def rewrite(events: Events) -> Events:
        chunks = [data for event in events if (data := read_data(event)) is not None]
        speaking = [chunk for chunk in chunks if chunk.get("choices")]
        others = [chunk for chunk in chunks if not chunk.get("choices")]
        comments = [event for event in events if event.startswith(b":")]
        return (*comments, *map(data_frame, (*regroup(speaking), *others)), DONE)

    return rewrite


def _in_one(chunks: list[Chunk]) -> list[Chunk]:
    return [reduce(_joined, chunks)]


def _last_two(chunks: list[Chunk]) -> list[Chunk]:
    *others, last = chunks
    while others and not others[-1]["choices"][0]["delta"]:
        others.pop()
    return [*others[:-1], _joined(others[-1], last)] if others else chunks


def _text_beside_call(chunks: list[Chunk]) -> list[Chunk]:
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    at = next((at for at, delta in enumerate(deltas) if delta.get("tool_calls")), 0)
    if not at or not deltas[at - 1].get("content"):
        return chunks
    return [*chunks[: at - 1], _joined(chunks[at - 1], chunks[at]), *chunks[at + 1 :]]


def _text_beside_later_piece(chunks: list[Chunk]) -> list[Chunk]:
    """The last piece of the text comes in the chunk with the second piece of a call."""
    calls = [at for at, chunk in enumerate(chunks) if _indexes(chunk)]
    if len(calls) < 2 or _indexes(chunks[calls[0]]) != _indexes(chunks[calls[1]]):
        return chunks
    first, second = calls[:2]
    if not chunks[first - 1]["choices"][0]["delta"].get("content"):
        return chunks
    return [
        *chunks[: first - 1],
        *chunks[first:second],
        _joined(chunks[first - 1], chunks[second]),
        *chunks[second + 1 :],
    ]


def _end_beside_beginning(chunks: list[Chunk]) -> list[Chunk]:
    """The last piece of a call and the first one of the next in one chunk."""
    joined: list[Chunk] = []
    for chunk in chunks:
        before = _indexes(joined[-1]) if joined else []
        is_next = len(before) == 1 and bool(_indexes(chunk)) and _indexes(chunk) != before
        joined[-1:] = [_joined(joined[-1], chunk)] if is_next else [*joined[-1:], chunk]
    return joined


def _indexes(chunk: Chunk) -> list[int]:
    """The indexes of the calls of which the chunk has pieces."""
    return [one["index"] for one in chunk["choices"][0]["delta"].get("tool_calls") or () if "index" in one]


def _text_last(chunks: list[Chunk]) -> list[Chunk]:
    """The pieces of calls first, then those of the text; the first chunk, which has the role, and the last stay."""
    first, *middle, last = chunks
    return [first, *sorted(middle, key=lambda chunk: not chunk["choices"][0]["delta"].get("tool_calls")), last]


def _calls_in_two_entries(chunks: list[Chunk]) -> list[Chunk]:
    """Each entry of a call as two with its index, in one chunk: as served, see openai/openai-python issue 3201."""
    return [_with_entries(chunk) for chunk in chunks]


def _with_entries(chunk: Chunk) -> Chunk:
    (choice,) = chunk["choices"]
    entries = choice["delta"].get("tool_calls")
    if not entries:
        return chunk
    delta = {**choice["delta"], "tool_calls": [half for one in entries for half in _halved(one)]}
    return {**chunk, "choices": [{**choice, "delta": delta}]}


def _halved(entry: dict[str, Any]) -> list[dict[str, Any]]:
    function = entry.get("function", {})
    first, second = in_halves(function.get("arguments", ""))
    if "index" not in entry or not first:
        return [entry]
    rest = {"index": entry["index"], "function": {"arguments": second}}
    return [{**entry, "function": {**function, "arguments": first}}, rest]


def _letters(chunks: list[Chunk]) -> list[Chunk]:
    return [one for chunk in chunks for one in _spelled(chunk)]


def _spelled(chunk: Chunk) -> list[Chunk]:
    (choice,) = chunk["choices"]
    text = choice["delta"].get("content")
    if not isinstance(text, str) or len(text) < 2 or choice["delta"].keys() - {"content", "role"}:
        return [chunk]
    unfinished = {**choice, "finish_reason": None}
    spelled = [{**chunk, "choices": [{**unfinished, "delta": {**choice["delta"], "content": one}}]} for one in text]
    spelled[-1]["choices"][0]["finish_reason"] = choice.get("finish_reason")
    return spelled


def _empty_around(chunks: list[Chunk]) -> list[Chunk]:
    """An empty piece before and after each piece of a text, or of a call that has begun. The first chunk has the role.

    An answer of OpenAI's begins so, and the arguments of a call of vLLM's end so: vercel/ai#3953.
    """
    return [*chunks[:1], *(one for chunk in chunks[1:] for one in _with_empty(chunk))]


def _with_empty(chunk: Chunk) -> list[Chunk]:
    (choice,) = chunk["choices"]
    delta: dict[str, Any] = choice["delta"]
    calls: list[dict[str, Any]] = delta.get("tool_calls") or []
    goes_on = [one["index"] for one in calls if "index" in one and not one.get("function", {}).get("name")]
    if isinstance(delta.get("content"), str) and not calls:
        empty: dict[str, Any] = {"content": ""}
    elif goes_on and len(goes_on) == len(calls):
        empty = {"tool_calls": [{"index": index, "function": {"arguments": ""}} for index in goes_on]}
    else:
        return [chunk]
    nothing = {**chunk, "choices": [{**choice, "finish_reason": None, "delta": empty}]}
    return [nothing, chunk] if choice.get("finish_reason") else [nothing, chunk, nothing]


def _with_roles(chunks: list[Chunk]) -> list[Chunk]:
    return [_with_delta(chunk, {"role": "assistant", **chunk["choices"][0]["delta"]}) for chunk in chunks]


def _nothing_first(chunks: list[Chunk]) -> list[Chunk]:
    """Each field of a delta may be missing, as in that beside a finish reason; a content may be null."""
    first, *others = chunks
    empty: tuple[dict[str, Any], ...] = ({}, {"content": None})
    idle = [_with_delta(first, empty[at % 2]) for at in range(len(others))]
    return [first, *(one for pair in zip(idle, others, strict=True) for one in pair)]


def _with_delta(chunk: Chunk, delta: dict[str, Any]) -> Chunk:
    (choice,) = chunk["choices"]
    return {**chunk, "choices": [{**choice, "delta": delta}]}


def _joined(one: Chunk, other: Chunk) -> Chunk:
    """Two chunks as one. The second one's finish reason and usage count."""
    (first,), (second,) = one["choices"], other["choices"]
    delta = dict(first["delta"])
    for name, value in second["delta"].items():
        delta[name] = _added(name, delta.get(name), value)
    return {**one, **other, "choices": [{**first, **second, "delta": delta}]}


def _added(name: str, one: Any, other: Any) -> Any:
    if other is None or one is None:
        return one if other is None else other
    if name == "tool_calls":
        return _joined_calls([*one, *other])
    if name == "role":
        return one
    if is_array(one) or is_array(other):
        return [*_as_parts(one), *_as_parts(other)]
    return one + other if isinstance(one, str) else other


def _as_parts(value: Any) -> list[Any]:
    return [*value] if is_array(value) else [{"type": "text", "text": value}] if value else []


def _joined_calls(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry per index."""
    found: dict[int, dict[str, Any]] = {}
    for piece in pieces:
        known = found.setdefault(piece["index"], {"index": piece["index"], "function": {"arguments": ""}})
        function = piece.get("function", {})
        arguments = known["function"]["arguments"] + function.get("arguments", "")
        found[piece["index"]] = {
            **known,
            **piece,
            "function": {**known["function"], **function, "arguments": arguments},
        }
    return list(found.values())


def _counted_in_each(events: Events) -> Events:
    """Each chunk counts the tokens so far, as vLLM's do with `continuous_usage_stats`; the last one counts all."""
    chunks = [data for event in events if (data := read_data(event)) is not None]
    usage = next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None)
    if usage is None:
        return events
    total = usage["completion_tokens"]
    counted = [{**chunk, "usage": _so_far(usage, min(at, total))} for at, chunk in enumerate(chunks[:-1])]
    comments = [event for event in events if event.startswith(b":")]
    return (*comments, *map(data_frame, (*counted, {**chunks[-1], "usage": usage})), DONE)


def _counted_apart(events: Events) -> Events:
    """A chunk without choices counts the tokens, after the finish: where OpenAI puts them, and so may a relative."""
    chunks = [data for event in events if (data := read_data(event)) is not None]
    usage = next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None)
    if usage is None:
        return events
    speaking = [{**chunk, "usage": None} for chunk in chunks if chunk.get("choices")]
    comments = [event for event in events if event.startswith(b":")]
    return (*comments, *map(data_frame, (*speaking, {**chunks[-1], "choices": [], "usage": usage})), DONE)


def _so_far(usage: dict[str, Any], completed: int) -> dict[str, Any]:
    plain = {"prompt_tokens": usage["prompt_tokens"], "completion_tokens": completed}
    return {**plain, "total_tokens": usage["prompt_tokens"] + completed}


VARIATIONS: Final = (
    Variation(words="token counts in each chunk", events=_counted_in_each),
    Variation(words="token counts in a chunk of their own", events=_counted_apart),
    Variation(words="the last piece beside the finish reason", events=regrouped(_last_two)),
    Variation(words="text beside a piece of a call", events=regrouped(_text_beside_call)),
    Variation(words="text beside a later piece of a call", events=regrouped(_text_beside_later_piece)),
    Variation(words="the end of a call beside the beginning of the next", events=regrouped(_end_beside_beginning)),
    Variation(words="its text behind its calls", events=regrouped(_text_last)),
    Variation(words="all of it in one chunk", events=regrouped(_in_one)),
    Variation(words="one letter per chunk", events=regrouped(_letters)),
    Variation(words="an empty piece before and after each", events=regrouped(_empty_around)),
    Variation(words="two pieces of a call in one chunk", events=regrouped(_calls_in_two_entries)),
    Variation(words="its role in each delta", events=regrouped(_with_roles)),
    Variation(words="a chunk that says nothing before each", events=regrouped(_nothing_first)),
)
"""A role in each delta is recorded at Databricks, OpenRouter and Azure."""


def _both_choices(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {**first, "choices": [*first["choices"], *_numbered(second)["choices"]]}


def _numbered(chunk: Chunk) -> Chunk:
    return {**chunk, "choices": [{**choice, "index": 1} for choice in chunk["choices"]]}


def _choices_in_turns(first: Events, second: Events) -> Events:
    """Each chunk has one choice, as the published type allows it; the token counts and the end mark come once."""
    speaking, counted = _split(first)
    others, _ = _split(second)
    mixed = in_turns(speaking, map(_numbered, others))
    return (*map(data_frame, (*mixed, *counted)), DONE)


def _split(events: Events) -> tuple[list[Chunk], list[Chunk]]:
    chunks = [data for event in events if (data := read_data(event)) is not None]
    return [one for one in chunks if one.get("choices")], [one for one in chunks if not one.get("choices")]


TWO_CHOICES: Final = SeveralAnswers(fields={"n": 2}, whole=_both_choices, events=_choices_in_turns)
"""Source: `n` and `index` in the published types of requests and chunks."""


def _with_probabilities(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "choices": [{**choice, "logprobs": _PROBABILITIES} for choice in body["choices"]]}


def _chunks_with_probabilities(events: Events) -> Events:
    return tuple(
        change_data(event, lambda chunk: _with_probabilities(chunk) if chunk.get("choices") else chunk)
        for event in events
    )


_PROBABILITIES: Final = {
    "content": [{"token": "This", "logprob": -0.25, "bytes": [84, 104, 105, 115], "top_logprobs": []}],
    "refusal": None,
}

PROBABILITIES: Final = Variation(
    words="the probabilities of its tokens", whole=_with_probabilities, events=_chunks_with_probabilities
)
"""Source: `ChoiceLogprobs` in openai 3.54, for requests with `logprobs`."""


def without_details(body: dict[str, Any]) -> dict[str, Any]:
    """The body, or a chunk with the counts, with null for details of its token counts that count nothing."""
    usage = body.get("usage")
    if not is_object(usage):
        return body
    nulls = dict.fromkeys(("prompt_tokens_details", "completion_tokens_details"))
    counted = {name: count for name, count in usage.items() if not (name in nulls and _counts_nothing(count))}
    return {**body, "usage": {**nulls, **counted}}


def _counts_nothing(details: Any) -> bool:
    return not is_object(details) or not any(details.values())


NULL_DETAILS: Final = Variation(
    words="null for the details of its token counts",
    whole=without_details,
    events=lambda events: tuple(change_data(event, without_details) for event in events),
)
"""Source: `CompletionUsage` in openai 3.54 and in groq 1.7, where both are optional and may be null."""


def _cited(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "choices": [_with_citation(choice, "message") for choice in body["choices"]]}


def _cited_at_its_end(chunks: list[Chunk]) -> list[Chunk]:
    *others, last = chunks
    return [*others, {**last, "choices": [_with_citation(choice, "delta") for choice in last["choices"]]}]


def _with_citation(choice: dict[str, Any], field: str) -> dict[str, Any]:
    return {**choice, field: {**choice[field], "annotations": [_CITATION]}}


_CITATION: Final = {
    "type": "url_citation",
    "url_citation": {"start_index": 0, "end_index": 4, "title": "A page", "url": "https://example.com/page"},
}

CITED: Final = Variation(words="a citation of a page", whole=_cited, events=regrouped(_cited_at_its_end))
"""Source: `Annotation` in openai 3.54; openrouter.ai/docs/features/web-search has the same."""


def _with_verdicts(events: Events) -> Events:
    """After the first piece and after the finish, a chunk with a verdict, whose choice has no delta."""
    chunks = [data for event in events if (data := read_data(event)) is not None]
    speaking = [chunk for chunk in chunks if chunk.get("choices")]
    others = [chunk for chunk in chunks if not chunk.get("choices")]
    return (*map(data_frame, (*speaking[:2], _VERDICT, *speaking[2:], _VERDICT, *others)), DONE)


_VERDICT: Final = {
    "id": "",
    "object": "",
    "created": 0,
    "model": "",
    "choices": [
        {
            "index": 0,
            "finish_reason": None,
            "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}},
            "content_filter_offsets": {"check_offset": 44, "start_offset": 44, "end_offset": 198},
        }
    ],
    "usage": None,
}

FILTERED_LATER: Final = Variation(words="the verdicts of a filter in choices without a delta", events=_with_verdicts)
"""As Azure's asynchronous filter sends them: langchain-ai/langchain#18977, openai/openai-python#1677."""

WITHOUT_END_MARK: Final = Variation(
    words="no [DONE] after the finish", events=lambda events: tuple(one for one in events if one != DONE)
)
"""Servers end so, or did: ikawrakow/ik_llama.cpp issue 467, gpustack/llama-box issue 2, and
huggingface/text-generation-inference issue 1896. At OpenAI's own host the mark always comes.
"""


def _stopped(body: dict[str, Any]) -> dict[str, Any]:
    for choice in body["choices"]:
        if choice["finish_reason"] == "tool_calls":
            choice["finish_reason"] = "stop"
    return body


FORCED_CALL: Final = Variation(
    words="the finish reason stop beside its calls",
    whole=_stopped,
    events=lambda events: tuple(change_data(event, _stopped) for event in events),
)
"""As OpenAI ends an answer whose tool the request chose: recorded. Compatible servers do so for any call
(https://github.com/vercel/ai/issues/12218)."""
