"""Adapters that read whole answers well, but not answers that are streamed, cut off or late."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, Final

import msgspec

from art_compliance.miniatures.base import Events, as_data, changed_events, miniature, retell
from art_compliance.subject.events import Answered

EventData = dict[str, Any]
"""An event as JSON data."""


def change_streams(adapter: Any, change: Callable[[Events], Events]) -> None:
    """The adapter gives other events of a stream than it read."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        given = own(prompt, options)
        return changed_events(given, change) if as_data(options).get("stream") else given

    adapter.call = call


def refeed(adapter: Any, change: Callable[[bytes], bytes]) -> None:
    """The adapter reads other bytes of a stream than came."""
    own = adapter.stream_reader

    def stream_reader(head: Any, info: Any) -> Any:
        reader = own(head, info)
        feed: Callable[[bytes], Any] = reader.feed

        def changed(chunk: bytes) -> Any:
            return feed(change(chunk))

        reader.feed = changed
        return reader

    adapter.stream_reader = stream_reader


def _failed(message: str) -> Events:
    error = {"code": "LLM_PROVIDER_ERROR", "message": message}
    return [{"type": "ERROR", "error": error}, {"type": "END", "message": None, "finish": "error"}]


def _each(change: Callable[[EventData], EventData]) -> Callable[[Events], Events]:
    return lambda events: [change(event) for event in events]


def _of_kind(kind: str, **fields: Any) -> Callable[[Events], Events]:
    """Events of a kind get other fields."""
    return _each(lambda event: {**event, **fields} if event["type"] == kind else event)


@miniature("stream.answer-is-read")
def cannot_stream(adapter: Any) -> None:
    """A streamed answer becomes an error, although streaming is declared."""
    change_streams(adapter, lambda _: _failed("no JSON"))


@miniature("stream.events-keep-their-order")
def forgets_metadata_when_streaming(adapter: Any) -> None:
    """A stream's METADATA never comes."""
    change_streams(adapter, lambda events: [event for event in events if event["type"] != "METADATA"])


@miniature("stream.events-carry-their-ids")
def gives_every_event_a_trace(adapter: Any) -> None:
    """Each event of a stream has a trace id of its own."""
    change_streams(adapter, lambda events: [{**event, "trace_id": f"{at}"} for at, event in enumerate(events)])


@miniature("stream.text-is-whole", "stream.says-what-the-whole-answer-says")
def loses_the_last_fragment(adapter: Any) -> None:
    """The last piece of a streamed text is lost."""
    change_streams(adapter, _without_last_token)


@miniature("stream.calls-are-whole")
def joins_parallel_calls(adapter: Any) -> None:
    """The arguments of parallel calls in a stream all go to the last call."""
    change_streams(adapter, _with_joined_arguments)


@miniature("stream.thinking-stands-apart")
def streams_thinking_as_text(adapter: Any) -> None:
    """A stream's reasoning comes as tokens of the answer's type."""
    change_streams(adapter, _of_kind("TOKEN", token_type="LLM_RESPONSE"))  # noqa: S106 - a type of event


@miniature("stream.finish-is-told")
def stops_every_stream(adapter: Any) -> None:
    """Every stream ends with `stop`."""
    change_streams(adapter, _of_kind("END", finish="stop"))


@miniature("stream.usage-is-told")
def counts_no_streamed_tokens(adapter: Any) -> None:
    """A stream's token counts are left out."""
    change_streams(adapter, _of_kind("METADATA", metadata={"stop_reason": "stop"}))


@miniature("stream.message-is-standard")
def ends_a_stream_with_a_delta(adapter: Any) -> None:
    """END's message of a stream is the provider's delta, with its index."""
    change_streams(adapter, _each(lambda event: _with_message(event, {"index": 0})))


@miniature("stream.cuts-change-nothing", "properties.chunks-change-nothing")
def decodes_each_chunk_by_itself(adapter: Any) -> None:
    """A character that the network cuts in two becomes two other characters."""
    refeed(adapter, lambda chunk: chunk.decode(errors="replace").encode())


@miniature("stream.cut-short-is-told", "properties.cut-streams-are-told")
def takes_a_cut_for_the_end(adapter: Any) -> None:
    """A stream that is cut off ends as a good answer, with what arrived."""
    change_streams(adapter, _without_error)


@miniature("stream.error-event-is-told")
def hides_errors_in_streams(adapter: Any) -> None:
    """The provider's words in an error event are lost."""
    change_streams(adapter, _of_kind("ERROR", error={"code": "LLM_PROVIDER_ERROR", "message": "it broke"}))


@miniature("stream.tokens-come-as-they-are-sent")
def reads_a_stream_to_its_end_first(adapter: Any) -> None:
    """No event comes before the stream has ended."""
    change_streams(adapter, list)


@miniature("stream.closing-ends-the-call")
def keeps_reading_when_it_is_closed(adapter: Any) -> None:
    """Closing the events leaves the connection open."""
    own, kept = adapter.call, list[Any]()

    def call(prompt: Any, options: Any) -> Any:
        kept.append(own(prompt, options))
        return _passed_on(kept[-1])

    adapter.call = call


async def _passed_on(given: Any) -> Any:
    async for event in given:
        yield event


@miniature("stream.cancelling-ends-the-call")
def swallows_cancellation(adapter: Any) -> None:
    """A cancelled call ends as if the provider had failed."""
    retell(adapter, _never_cancelled)


async def _never_cancelled(given: Any) -> Any:
    try:
        async for event in given:
            yield event
    except asyncio.CancelledError:
        for event in _failed("cancelled"):
            yield event


@miniature("faults.are-told-as-errors")
def lets_the_networks_errors_through(adapter: Any) -> None:
    """Failures raise exceptions out of the events."""
    retell(adapter, _raising)


async def _raising(given: Any) -> Any:
    failure: EventData | None = None
    async for event in given:  # to its end: a generator that is left half-way closes its connection when it likes
        failure = failure or Answered.of([event]).error
        if failure is None:
            yield event
    if failure is not None:
        raise ConnectionError(failure.get("message"))


@miniature("faults.benign-ones-change-nothing")
def knows_one_line_end(adapter: Any) -> None:
    """Only streams whose lines end with a single line feed are read."""
    refeed(adapter, lambda chunk: chunk.replace(b"\r", b""))


@miniature("faults.end-in-time")
def waits_for_ever(adapter: Any) -> None:
    """Time limits are ignored."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        limits = {"timeouts": None}
        known = msgspec.structs.replace(options, **limits) if isinstance(options, msgspec.Struct) else options | limits
        return own(prompt, known)

    adapter.call = call


@miniature("faults.leave-nothing-behind")
def forgets_its_sockets(adapter: Any) -> None:
    """Each call leaves a socket open."""
    own, close_own, forgotten = adapter.call, adapter.aclose, list[socket.socket]()

    def call(prompt: Any, options: Any) -> Any:
        forgotten.extend(socket.socketpair())
        return own(prompt, options)

    async def aclose() -> None:
        await close_own()
        for one in forgotten:
            one.close()

    adapter.call, adapter.aclose = call, aclose


_log: Final = logging.getLogger(__name__)


@miniature("faults.show-no-key")
def logs_its_headers(adapter: Any) -> None:
    """Each request is logged with all its headers."""
    own = adapter.request

    def request(payload: Any, options: Any) -> Any:
        made = own(payload, options)
        _log.debug("sending %s", dict(made.headers))
        return made

    adapter.request = request


@miniature("load.calls-at-once-do-not-mix")
def keeps_the_call_on_itself(adapter: Any) -> None:
    """The events of every call have the ids of the last call."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        adapter.last = as_data(options)
        return _stamped(own(prompt, options), adapter)

    adapter.call = call


async def _stamped(given: Any, adapter: Any) -> Any:
    async for event in given:
        for data in Answered.of([event]).events:
            yield {**data, "thread_id": adapter.last["thread_id"]}


@miniature("load.memory-stays-flat")
def keeps_a_history(adapter: Any) -> None:
    """The adapter keeps every event of every call."""
    history = list[Any]()
    retell(adapter, lambda given: _kept(given, history))


async def _kept(given: Any, history: list[Any]) -> Any:
    async for event in given:
        history.append(event)
        yield event


def _with_message(event: EventData, more: EventData) -> EventData:
    message = event.get("message")
    return {**event, "message": {**message, **more}} if event["type"] == "END" and message else event


def _without_last_token(events: Events) -> Events:
    last = max((at for at, event in enumerate(events) if event["type"] == "TOKEN"), default=-1)
    left = [event for at, event in enumerate(events) if at != last]
    text = "".join(event["text"] for event in left if event["type"] == "TOKEN")
    return [_with_message(event, {"content": text}) for event in left]


def _with_joined_arguments(events: Events) -> Events:
    calls = [event["call"] for event in events if event["type"] == "TOOL_CALL"]
    joined = "".join(call["function"]["arguments"] for call in calls)

    def mixed(call: EventData) -> EventData:
        arguments = joined if call == calls[-1] else ""
        return {**call, "function": {**call["function"], "arguments": arguments}}

    changed = [{**event, "call": mixed(event["call"])} if event["type"] == "TOOL_CALL" else event for event in events]
    return [_with_message(event, {"tool_calls": list(map(mixed, calls))}) for event in changed]


def _without_error(events: Events) -> Events:
    if not any(event["type"] == "ERROR" for event in events):
        return events
    metadata = {**events[-1], "type": "METADATA", "metadata": {"stop_reason": "stop"}}
    end = {**events[-1], "finish": "stop", "message": events[-1]["message"] or {"role": "assistant", "content": ""}}
    return [*(event for event in events[:-1] if event["type"] != "ERROR"), metadata, end]
