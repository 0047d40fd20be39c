"""Judges the order of a stream's events: types describe each event, but not what may follow it.

A dialect's `StreamOrder` is a table of states, and a function for what a table cannot express.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct

from art_compliance.dialects.aws_events import is_messages, read_messages
from art_sdk.json_data import is_object

PASSED: Final = ""
"""The kind of an event that may come at any time and changes nothing: a ping, or an unknown event."""


class Event(NamedTuple):
    """An event: its name where it has one, and its data; `body` is the data as an object, else empty.

    A line of JSON is an event without a name.
    """

    name: str | None
    data: str
    body: dict[str, Any]


class StreamOrder(Struct, frozen=True, kw_only=True):
    """What may follow what.

    `kind` classifies an event. `table` gives the next state by state and kind; kinds that it lacks may not come. A
    stream begins in `start` and may end in one of `ends`. `look` sees all events and yields what else is wrong.
    """

    kind: Callable[[Event], str]
    table: Mapping[str, Mapping[str, str]]
    start: str
    ends: frozenset[str]
    look: Callable[[tuple[Event, ...]], Iterator[str]]

    def judge(self, stream: bytes) -> list[str]:
        """What is wrong with the order of a stream; empty where it is good. Events count from 1."""
        try:
            events = tuple(read_events(stream))
        except ValueError as error:
            return [f"this is not an event stream: {error}"]
        return [*self._wrong_order(events), *self.look(events)]

    def _wrong_order(self, events: tuple[Event, ...]) -> Iterator[str]:
        state = self.start
        for number, event in enumerate(events, 1):
            kind = self.kind(event)
            if kind == PASSED:
                continue
            after = self.table.get(state, {}).get(kind)
            if after is None:
                yield f"event {number}: {kind} is not allowed in the state {state!r}"
                return
            state = after
        if state not in self.ends:
            yield f"the stream ends in the state {state!r}"


def read_events(stream: bytes) -> Iterator[Event]:
    """The events of a complete stream: server-sent ones, lines of JSON, or Amazon's messages.

    Raises ValueError for bytes that are not UTF-8, and for messages that are broken.
    """
    if is_messages(stream):
        for message in read_messages(stream):
            data = message.payload.decode()
            yield Event(message.name, data, _object(data))
        return
    text = stream.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith("{"):
        yield from (Event(None, line, _object(line)) for line in text.split("\n") if line.strip())
        return
    for block in text.split("\n\n"):
        fields = [line.partition(":") for line in block.split("\n") if line and not line.startswith(":")]
        names = [value.strip() for field, _, value in fields if field == "event"]
        lines = [value.removeprefix(" ") for field, _, value in fields if field == "data"]
        if lines:  # by the WHATWG's standard, there is no event without data
            yield _server_sent(names, "\n".join(lines))


def _server_sent(names: list[str], data: str) -> Event:
    return Event(names[-1] if names else None, data, _object(data))


def _object(data: str) -> dict[str, Any]:
    try:
        body: Any = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return body if is_object(body) else {}


def is_json_object(text: str) -> bool:
    """Whether the joined pieces of arguments are a JSON object."""
    try:
        return is_object(json.loads(text))
    except (ValueError, RecursionError):
        return False
