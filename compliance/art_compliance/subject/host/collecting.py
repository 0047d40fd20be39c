"""The events of a call, read to their end: as a plain iterable, behind an await, or as an asynchronous generator."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from art_compliance.subject.deadlines import TimedOut, stopping
from art_compliance.subject.events import Answered, NoEvents, event_data
from art_compliance.subject.factories import with_article

MOST_EVENTS: Final = 500_000
"""An adapter that gives more events than this in one call never ends: it may give the longest text letter by letter."""


def is_async(result: Any) -> bool:
    """Whether what a call returned must be awaited, or iterated asynchronously."""
    return inspect.isawaitable(result) or hasattr(result, "__aiter__")


class Reading:
    """The events of a call as they come, with the seconds after which each came. Raises TimedOut for too many.

    `began` is when the call began, if not now: it may do all its work before it returns anything.
    """

    def __init__(self, began: float | None) -> None:
        self._began = time.perf_counter() if began is None else began
        self._events: list[dict[str, Any]] = []
        self._at: list[float] = []

    def add(self, event: Any) -> None:
        """Takes the next event."""
        self._events.append(event_data(event))
        self._at.append(time.perf_counter() - self._began)
        if len(self._at) > MOST_EVENTS:
            raise TimedOut(f"its call did not end within {MOST_EVENTS:,} events")

    @property
    def answered(self) -> Answered:
        """All events so far."""
        return Answered(tuple(self._events), tuple(self._at))


def collect(result: Any, began: float | None = None) -> Answered:
    """Every event of an iterable. Raises NoEvents for anything else that calls return by mistake."""
    reading = Reading(began)
    for event in events_of(result):
        reading.add(event)
    return reading.answered


def events_of(result: Any) -> Iterator[Any]:
    """The events that a synchronous call returned. Raises NoEvents for None, a text and a mapping."""
    if result is None or issubclass(type(result), (str, bytes, Mapping)):
        kind = "nothing (None)" if result is None else with_article(result)
        raise NoEvents(f"it returned {kind}; it must yield events, or return an iterable of them")
    return iter(result)


def answered_whole(folded: Any) -> Answered:
    """The whole answer that a method returned, as events."""
    thinking = getattr(folded, "thinking", None)
    tokens = [] if thinking is None else [{"type": "TOKEN", "text": thinking, "token_type": "LLM_THINKING"}]
    metadata = {"type": "METADATA", "metadata": folded.metadata}
    end = {"type": "END", "message": folded.message, "finish": folded.finish}
    return Answered.of([*tokens, metadata, end])


def is_folded(method: str) -> bool:
    """Whether a method returns a whole answer in place of events."""
    return method.startswith("complete")


def collect_from(result: Any, method: str) -> Answered:
    """What a synchronous method gave: its events, or its whole answer."""
    return answered_whole(result) if is_folded(method) else collect(result)


@stopping
async def drain_from(result: Any, method: str) -> Answered:
    """As `collect_from`, for an asynchronous method."""
    return answered_whole(await result) if is_folded(method) else await drain(result)


def begin_and_time(call: Callable[..., Any], prompt: Any, options: Any, method: str) -> Any:
    """The processor time of a synchronous call on this thread, 0.0 if that failed; what any other call returns."""
    began = time.thread_time()
    result = call(prompt, options)
    if is_async(result):
        return result
    return _seconds_since(began, collect_from(result, method))


@stopping
async def time_async(result: Any, method: str) -> float:
    """The processor time to read what an asynchronous call returned, on this thread; 0.0 if that failed."""
    began = time.thread_time()
    return _seconds_since(began, await drain_from(result, method))


def _seconds_since(began: float, reply: Answered) -> float:
    return 0.0 if reply.error else time.thread_time() - began


@stopping
async def collect_in_loop(call: Callable[..., Any], prompt: Any, options: Any, method: str) -> Answered:
    """As `collect_from`, for a synchronous call that is made in the thread of a running event loop."""
    return collect_from(call(prompt, options), method)


@stopping
async def drain(result: Any, began: float | None = None) -> Answered:
    """As `collect`, for what is asynchronous, behind an await or not."""
    if inspect.isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        return collect(result, began)
    reading = Reading(began)
    async for event in result:
        reading.add(event)
    return reading.answered


@stopping
async def keep_async(result: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Every event as the adapter gave it, each with its data at that time."""
    if inspect.isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        return [(event, event_data(event)) for event in result]
    return [(event, event_data(event)) async for event in result]


@stopping
async def await_result(result: Any) -> Any:
    """What an awaitable of any kind returns."""
    return await result


@stopping
async def call_in_loop(call: Callable[..., Any], prompt: Any, options: Any) -> Any:
    """For a plain function that needs a running event loop."""
    return call(prompt, options)
