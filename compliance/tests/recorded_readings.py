"""Recorded answers and streams, as our adapters read them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from art_sdk import (
    BaseAdapter,
    CallInfo,
    EndEvent,
    ErrorEvent,
    MetadataEvent,
    ResponseHead,
    StreamEvent,
)
from art_sdk.stream import follow
from recorded_traffic import (
    READERS,
    READERS_OF_STREAMS,
    Recorded,
    accepted,
    listed_refusals,
    open_reader,
    recorded_files,
)

INFO = CallInfo(thread_id="t", trace_id="r", model="m", clock=lambda: 1.0)


def kind_of(reader: type[BaseAdapter]) -> dict[str, str]:
    """The headers of a stream that the reader reads."""
    return {"content-type": reader.stream_type}


def recorded_errors() -> list[Recorded]:
    """The errors among the files, and those of the list, which has more."""
    return [one for one in recorded_files() if one.status >= 400 and one.data is not None] + list(listed_refusals())


def whole_answers(shapes: Iterable[str] = READERS) -> list[Recorded]:
    """The unstreamed good answers of the shapes, of every provider that speaks them."""
    return [one for one in accepted() if one.shape in shapes and one.data is not None and not one.has_numbers_for_enums]


def recorded_streams() -> list[Recorded]:
    """Every recorded stream whose request was taken; some end with an error."""
    good = [one for one in recorded_files() if one.status == 200 and one.shape in READERS_OF_STREAMS]
    return [one for one in good if one.data is None]


def has_error(one: Recorded) -> bool:
    """Whether the stream has an error after its status 200."""
    return any(isinstance(data, dict) and "error" in data for data in map(data_of, one.frames))


def read_answer(
    reader: type[BaseAdapter], body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> list[StreamEvent]:
    """The events of an unstreamed answer."""
    adapter = open_reader(reader)
    return list(adapter.read_response(ResponseHead(status, headers or {}), body, INFO))


def read_stream(reader: type[BaseAdapter], chunks: list[bytes]) -> list[StreamEvent]:
    """The events of a stream whose bytes come in these chunks."""
    events = open_reader(reader).stream_reader(ResponseHead(200, kind_of(reader)), INFO)
    return [*(event for chunk in chunks for event in events.feed(chunk)), *events.close()]


def shown(events: list[StreamEvent]) -> list[Any]:
    """The events in a form that can be compared: errors by message and details."""
    return [(event.error.message, event.error.details) if isinstance(event, ErrorEvent) else event for event in events]


def ending(events: list[StreamEvent]) -> EndEvent:
    """The end of events in good order: a good answer, or an error that says so."""
    state: Any = "answering"
    for event in events:
        state = follow(state, event)
    end = events[-1]
    assert state == "ended"
    assert isinstance(end, EndEvent)
    if any(isinstance(event, ErrorEvent) for event in events):
        assert end.finish == "error"
    else:
        assert isinstance(events[-2], MetadataEvent)
        assert end.finish != "error"
    return end


def data_of(frame: bytes) -> Any:
    """The frame's JSON, or None."""
    if frame.startswith(b"{"):
        return value_of(frame.decode())
    for line in frame.splitlines():
        if line.startswith(b"data:"):
            return value_of(line.removeprefix(b"data:").decode())
    return None


def value_of(text: str) -> Any:
    """A call's arguments as a JSON value, or as text where they are not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


Steps = tuple[str | int, ...]


def places(value: Any, at: Steps = ()) -> Iterator[Steps]:
    """Every place below the root."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield (*at, step)
        yield from places(inner, (*at, step))


def without(data: Any, path: Steps) -> Any:
    """A copy of the data without the value at the path."""
    whole = copy.deepcopy(data)
    parent_of(whole, path).pop(path[-1])
    return whole


def parent_of(data: Any, path: Steps) -> Any:
    """The object or list that has the value at the path."""
    for step in path[:-1]:
        data = data[step]
    return data


def thoughts_of(item: Any) -> list[Any]:
    """The readable parts of a reasoning item of the official client's."""
    return [*item.summary, *(item.content or ())]


def sum_of(*counts: int | None) -> int | None:
    """The sum, or None where nothing was counted."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
