"""Other forms of Anthropic's streams: where pings and counts are, and what a block may lack."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.variations import Events, Variation, read_data

Data = dict[str, Any]


def read_events(events: Events) -> list[Data]:
    """The data of the events."""
    return [data for event in events if (data := read_data(event)) is not None]


def framed(events: list[Data]) -> Events:
    """The events with this data."""
    return tuple(data_frame(data, event=data["type"]) for data in events)


def is_piece(data: Data, kind: str) -> bool:
    """Whether an event adds a piece of this kind to a block."""
    return bool(data["type"] == "content_block_delta" and data["delta"]["type"] == kind)


def _pinged(events: Events) -> Events:
    """A ping after each event but the first and the last; none where it usually is."""
    first, *others = [data for data in read_events(events) if data["type"] != "ping"]
    return framed([first, *(one for data in others[:-1] for one in (data, {"type": "ping"})), others[-1]])


def _counted_late(events: Events) -> Events:
    """The end counts more tokens of the prompt than the beginning: those of searches come on top."""

    def change(data: Data) -> Data:
        if data["type"] != "message_start":
            return data
        message = data["message"]
        taken = message["usage"]["input_tokens"]
        return {**data, "message": {**message, "usage": {**message["usage"], "input_tokens": taken // 2}}}

    return framed([change(data) for data in read_events(events)])


def _counted_once(events: Events) -> Events:
    """The end has null for all counts but that of the answer: the first event has said them."""

    def change(data: Data) -> Data:
        if data["type"] != "message_delta":
            return data
        return {**data, "usage": {**dict.fromkeys(data["usage"]), "output_tokens": data["usage"]["output_tokens"]}}

    return framed([change(data) for data in read_events(events)])


def _without_cache(usage: Data) -> Data:
    """Counts of what is not used may be null, as their types say."""
    return {name: None if "cache" in name else count for name, count in usage.items()}


def _uncached(body: Data) -> Data:
    return {**body, "usage": _without_cache(body["usage"])}


def _streamed_uncached(events: Events) -> Events:
    changed: list[Data] = []
    for data in read_events(events):
        if data["type"] == "message_start":
            changed.append({**data, "message": _uncached(data["message"])})
        else:
            changed.append(_uncached(data) if data["type"] == "message_delta" else data)
    return framed(changed)


def _ended_in_two(events: Events) -> Events:
    """An event before the last but one changes the message, too: why it ended is not known yet."""
    changed: list[Data] = []
    for data in read_events(events):
        if data["type"] == "message_delta":
            unknown = dict.fromkeys(data["delta"])
            changed.append({**data, "delta": unknown, "usage": {**data["usage"], "output_tokens": 1}})
        changed.append(data)
    return framed(changed)


def _empty_text(body: Data) -> Data:
    return {**body, "content": [{"type": "text", "text": ""}, *body["content"]]}


def _without_empty_input(events: Events) -> Events:
    """A call without arguments has no pieces."""
    data = read_events(events)
    texts: dict[int, str] = {}
    for one in data:
        if is_piece(one, "input_json_delta"):
            texts[one["index"]] = texts.get(one["index"], "") + one["delta"]["partial_json"]
    return framed([one for one in data if not (is_piece(one, "input_json_delta") and texts[one["index"]] == "{}")])


STREAM_FORMS: Final = (
    Variation(words="a ping after each event but the first", events=_pinged),
    Variation(words="more tokens of its prompt at the end than at the beginning", events=_counted_late),
    Variation(words="null at its end for the counts of its first event", events=_counted_once, counts=True),
    Variation(words="null for the tokens of caches", whole=_uncached, events=_streamed_uncached),
    Variation(words="two events that change the message", events=_ended_in_two),
    Variation(words="an empty text before it", whole=_empty_text),
    Variation(words="no pieces of a call's empty input", events=_without_empty_input),
)
"""Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming, which allows pings anywhere and one or more
events that change the message, counts cumulatively, and shows a search whose results are counted at the end; the
types of `Usage` and `MessageDeltaUsage`; and for the last two
https://github.com/anthropics/anthropic-sdk-python/issues/461 and https://github.com/microsoft/autogen/pull/6979.
"""
