"""Adapters whose `call` is right, and whose other methods are not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

import msgspec

from art_compliance.miniatures.base import as_data, miniature
from art_sdk import CallOptions
from art_sdk.json_data import is_array, is_object
from art_sdk.stream import ToolCallEvent


def resync(adapter: Any, through: Callable[[Any], Iterable[Any]]) -> None:
    """`call_sync` gives what this makes of its events."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Iterable[Any]:
        return through(own(prompt, options))

    adapter.call_sync = call_sync


@miniature("response.call-sync-marks-its-events", around=("openai",))
def forgets_the_session_without_a_loop(adapter: Any) -> None:
    """The events of `call_sync` have no session_id."""
    resync(adapter, lambda events: (msgspec.structs.replace(event, session_id=None) for event in events))


@miniature("stream.call-methods-stream-alike", around=("openai", "anthropic"))
def collects_first_without_a_loop(adapter: Any) -> None:
    """`call_sync` gives its events when the stream has ended."""
    resync(adapter, lambda events: iter(list(events)))


@miniature("stream.call-methods-stream-alike", around=("openai", "gemini"))
def streams_text_alone_without_a_loop(adapter: Any) -> None:
    """The events of a streamed `call_sync` have no TOOL_CALL."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Iterator[Any]:
        is_lost = as_data(options).get("stream")
        return (event for event in own(prompt, options) if not (is_lost and isinstance(event, ToolCallEvent)))

    adapter.call_sync = call_sync


@miniature("stream.call-methods-stream-alike", around=("openai",))
def stays_connected_without_a_loop(adapter: Any) -> None:
    """Closing the events of `call_sync` leaves the connection open."""
    kept: list[Any] = []

    def through(events: Any) -> Iterator[Any]:
        kept.append(events)
        yield from _each(events)

    resync(adapter, through)


def _each(events: Any) -> Iterator[Any]:
    """The events; closing this closes nothing else."""
    for event in events:  # noqa: UP028 - "yield from" would close the events
        yield event


@miniature("response.call-methods-fail-alike", around=("openai",))
def waits_for_ever_without_a_loop(adapter: Any) -> None:
    """`call_sync` ignores the time limits of the call."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Any:
        return own(prompt, {name: value for name, value in as_data(options).items() if name != "timeouts"})

    adapter.call_sync = call_sync


@miniature("response.call-methods-fail-alike", around=("bedrock", "openai"))
def groups_its_errors_within_a_time_limit(adapter: Any) -> None:
    """`complete` raises a group with the error in it if the call has a limit of its whole time."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        limits: dict[str, Any] = as_data(options).get("timeouts") or {}
        try:
            return await own(prompt, options)
        except Exception as error:
            if limits.get("whole_call") is None:
                raise
            raise ExceptionGroup("the call failed", [error]) from None

    adapter.complete = complete


@miniature("response.call-methods-send-the-same", around=("gemini", "openai"))
def takes_equal_parts_for_circles(adapter: Any) -> None:
    """An object that is in two places of the options is sent once, and empty after that."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        return own(prompt, _met_once(options, set()))

    adapter.call = call


def _met_once(value: Any, met: set[int]) -> Any:
    if is_array(value):
        return [_met_once(one, met) for one in value]
    if not is_object(value):
        return value
    if id(value) in met:
        return {}
    met.add(id(value))
    return {name: _met_once(one, met) for name, one in value.items()}


@miniature("response.call-methods-agree", around=("anthropic",))
def folds_without_reasoning(adapter: Any) -> None:
    """What `complete` returns has no reasoning."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        return msgspec.structs.replace(await own(prompt, options), thinking="")

    adapter.complete = complete


@miniature("load.every-loop-and-thread-works", around=("openai",))
def runs_a_loop_in_the_callers_thread(adapter: Any) -> None:
    """`call_sync` runs an event loop, which it cannot where one runs already."""

    async def collect(prompt: Any, options: Any) -> list[Any]:
        return [event async for event in adapter.call(prompt, options)]

    def call_sync(prompt: Any, options: Any) -> Iterator[Any]:
        with closing(collect(prompt, options)) as collecting:
            return iter(asyncio.run(collecting))

    adapter.call_sync = call_sync


@miniature("response.call-methods-send-the-same", around=("openai", "anthropic", "gemini"))
def reads_options_of_dicts_alone(adapter: Any) -> None:
    """Options that are typed values lose all but the thread and whether to stream."""
    own = adapter.prepare

    def prepare(prompt: Any, options: Any) -> Any:
        is_typed = isinstance(options, CallOptions)
        return own(prompt, {"thread_id": options.thread_id, "stream": options.stream} if is_typed else options)

    adapter.prepare = prepare


@miniature("response.call-methods-send-the-same", around=("openai", "anthropic", "gemini"))
def completes_texts_alone(adapter: Any) -> None:
    """`complete` sends the texts of a message without its images."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        return await own([_without_images(message) for message in as_data(prompt)], options)

    adapter.complete = complete


def _without_images(message: dict[str, Any]) -> dict[str, Any]:
    content: Any = message.get("content")
    if not is_array(content):
        return message
    return {**message, "content": [part for part in content if part["type"] == "text"]}
