"""Adapters that read whole answers well, but not answers that are streamed, cut off or late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.base import Events, as_data, changed_events, failed, miniature, retell
from art_compliance.subject.events import event_data

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


def _without_cached_tokens(event: EventData) -> EventData:
    return {**event, "metadata": {**event["metadata"], "cached_tokens": None}} if "metadata" in event else event


def each_event(change: Callable[[EventData], EventData]) -> Callable[[Events], Events]:
    """Every event is changed."""
    return lambda events: [change(event) for event in events]


def with_error(event: EventData, **facts: Any) -> EventData:
    """An ERROR says other facts; any other event stays as it is."""
    return {**event, "error": {**event["error"], **facts}} if event["type"] == "ERROR" else event


def of_kind(kind: str, **fields: Any) -> Callable[[Events], Events]:
    """Events of a kind get other fields."""
    return each_event(lambda event: {**event, **fields} if event["type"] == kind else event)


@miniature("stream.answer-is-read")
def cannot_stream(adapter: Any) -> None:
    """A streamed answer becomes an error, although streaming is declared."""
    change_streams(adapter, lambda _: failed("no JSON"))


@miniature("stream.events-keep-their-order")
def forgets_metadata_when_streaming(adapter: Any) -> None:
    """A stream's METADATA never comes."""
    change_streams(adapter, lambda events: [event for event in events if event["type"] != "METADATA"])


@miniature("stream.events-carry-their-ids")
def gives_every_event_a_trace(adapter: Any) -> None:
    """Each event of a stream has its own trace id."""
    change_streams(adapter, lambda events: [{**event, "trace_id": f"{at}"} for at, event in enumerate(events)])


@miniature("stream.text-is-whole")
def loses_the_last_fragment(adapter: Any) -> None:
    """The last piece of a streamed text is lost."""
    change_streams(adapter, _without_last_token)


@miniature("stream.calls-are-whole")
def joins_parallel_calls(adapter: Any) -> None:
    """The arguments of parallel calls in a stream all go to the last call."""
    change_streams(adapter, _with_joined_arguments)


@miniature("stream.thinking-is-separate")
def streams_thinking_as_text(adapter: Any) -> None:
    """A stream's reasoning comes as tokens of the answer's type."""
    change_streams(adapter, of_kind("TOKEN", token_type="LLM_RESPONSE"))  # noqa: S106 - a type of event


@miniature("stream.finish-is-reported")
def stops_every_stream(adapter: Any) -> None:
    """Every stream ends with `stop`."""
    change_streams(adapter, of_kind("END", finish="stop"))


@miniature("stream.usage-is-reported")
def counts_no_streamed_tokens(adapter: Any) -> None:
    """A stream's token counts are left out."""
    change_streams(adapter, of_kind("METADATA", metadata={"stop_reason": "stop"}))


@miniature("stream.equals-the-whole-answer")
def counts_cached_tokens_only_unstreamed(adapter: Any) -> None:
    """A stream's METADATA does not say how many tokens came from the cache."""
    change_streams(adapter, each_event(_without_cached_tokens))


@miniature("stream.message-is-standard")
def ends_a_stream_with_a_delta(adapter: Any) -> None:
    """END's message of a stream is the provider's delta, with its index."""
    change_streams(adapter, each_event(lambda event: _with_message(event, {"index": 0})))


@miniature("stream.cuts-change-nothing", "properties.chunks-change-nothing")
def decodes_each_chunk_by_itself(adapter: Any) -> None:
    """A character that the network cuts in two becomes two other characters."""
    refeed(adapter, lambda chunk: chunk.decode(errors="replace").encode())


@miniature("stream.cut-short-is-an-error", "properties.cut-streams-are-errors")
def takes_a_cut_for_the_end(adapter: Any) -> None:
    """A stream that is cut off ends as a good answer, with what arrived."""
    change_streams(adapter, without_error)


@miniature("stream.error-event-is-an-error")
def hides_errors_in_streams(adapter: Any) -> None:
    """The provider's words in an error event are lost."""
    change_streams(adapter, of_kind("ERROR", error={"code": "LLM_PROVIDER_ERROR", "message": "it broke"}))


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
        for event in failed("cancelled"):
            yield event


@miniature("stream.cancelling-ends-the-call", around=("openai", "gemini"))
def completes_what_was_cancelled(adapter: Any) -> None:
    """`complete` waits for a task of its own, which nobody cancels."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        return await asyncio.shield(asyncio.ensure_future(own(prompt, options)))

    adapter.complete = complete


@miniature("stream.cancelling-ends-the-call", around=("openai",))
def asks_again_when_cancelled(adapter: Any) -> None:
    """A call that is cancelled while it waits for its answer takes that for a lost connection, and asks once more."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        for tries in (1, 0):
            try:
                async for event in own(prompt, options):
                    yield event
            except asyncio.CancelledError:
                if not tries:
                    raise
            else:
                return

    adapter.call = call


@miniature("stream.cancelling-ends-the-call", around=("openai",))
def asks_again_after_it_was_cancelled(adapter: Any) -> None:
    """A call that is cancelled while it waits to ask again asks nevertheless, and nobody reads the answer."""
    own = adapter.call
    waiting: set[asyncio.Task[None]] = set()

    async def ask_again(prompt: Any, options: Any) -> None:
        await asyncio.sleep(1.0)
        async for _ in own(prompt, options):
            pass

    async def call(prompt: Any, options: Any) -> Any:
        async for event in own(prompt, options):
            if event_data(event)["type"] == "ERROR":
                waiting.add(asyncio.create_task(ask_again(prompt, options)))
                await asyncio.sleep(3600)
            yield event

    adapter.call = call


@miniature("stream.cancelling-ends-the-call", around=("openai", "anthropic"))
def retries_what_was_cancelled(adapter: Any) -> None:
    """An adapter that is made with retries calls in a task of its own, which nobody cancels."""
    if not adapter._exchange.retries:  # noqa: SLF001 - a miniature spoils what it is made of
        return
    own = adapter.call

    async def read(prompt: Any, options: Any) -> Any:
        return [event async for event in own(prompt, options)]

    async def call(prompt: Any, options: Any) -> Any:
        for event in await asyncio.shield(asyncio.ensure_future(read(prompt, options))):
            yield event

    adapter.call = call


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


def without_error(events: Events) -> Events:
    """The events as if the answer had ended well."""
    if not any(event["type"] == "ERROR" for event in events):
        return events
    metadata = {**events[-1], "type": "METADATA", "metadata": {"stop_reason": "stop"}}
    end = {**events[-1], "finish": "stop", "message": events[-1]["message"] or {"role": "assistant", "content": ""}}
    return [*(event for event in events[:-1] if event["type"] != "ERROR"), metadata, end]


@miniature("stream.other-forms-are-read", around=("openai",))
def reads_no_text_behind_calls(adapter: Any) -> None:
    """Once a call has begun, text of the stream is lost."""
    begun: list[bool] = []

    def change(event: Any) -> Any:
        for choice in event.get("choices") or ():
            delta = choice["delta"]
            if "role" in delta:
                begun.clear()
            if delta.get("tool_calls"):
                begun.append(True)
            elif begun:
                delta.pop("content", None)
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))
