"""Calls that are read as applications read them: each event in another task or thread, or with a pause in between."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any, Final

from art_compliance.subject.deadlines import await_bounded, start_anew, stopping
from art_compliance.subject.events import Answered, ReaderCancelled, event_data
from art_compliance.subject.host.collecting import Reading, collect, events_of

_END: Final = object()


def collect_on_threads(result: Any, seconds: float) -> Answered:
    """Every event of an iterable, each read on another thread, as a web server does with a synchronous response."""
    reading, events, over = Reading(None), events_of(result), Event()
    try:
        while (event := await_bounded(start_anew(partial(next, events, _END), over), seconds)) is not _END:
            reading.add(event)
    finally:
        over.set()
    return reading.answered


@stopping
async def drain_in_tasks(result: Any) -> Answered:
    """As `collect_on_threads`, for what is asynchronous: each event in a task of its own, as `wait_for` has it."""
    if inspect.isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        return collect(result)
    reading, events = Reading(None), aiter(result)
    while (event := await asyncio.ensure_future(_next(events))) is not _END:
        reading.add(event)
    return reading.answered


async def _next(events: AsyncIterator[Any]) -> Any:
    return await anext(events, _END)


def collect_slowly(result: Any, pause: float) -> Answered:
    """Every event of an iterable, with a pause of so many seconds after the first token."""
    return collect_around(result, partial(time.sleep, pause))


@stopping
async def drain_slowly(result: Any, pause: float) -> Answered:
    """As `collect_slowly`, for what is asynchronous. Raises ReaderCancelled."""
    if inspect.isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        return collect_slowly(result, pause)
    reading, slow = Reading(None), _first_token()
    async for event in result:
        reading.add(event)
        if slow(event):
            await _pause(result, pause)
    return reading.answered


async def _pause(result: Any, seconds: float) -> None:
    began = time.monotonic()
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        if time.monotonic() - began >= seconds:  # the suite itself gives the call up
            raise
        with suppress(Exception, asyncio.CancelledError):
            await result.aclose()
        raise ReaderCancelled("it cancelled what its reader awaited between two events") from None


def collect_around(result: Any, meanwhile: Callable[[], None]) -> Answered:
    """Every event of an iterable; after the first token, its reader does something else."""
    reading, pauses = Reading(None), _first_token()
    for event in events_of(result):
        reading.add(event)
        if pauses(event):
            meanwhile()
    return reading.answered


@stopping
async def drain_around(result: Any, meanwhile: Callable[[], None]) -> Answered:
    """As `collect_around`, for what is asynchronous: the other thing is done on a thread, while the loop runs."""
    if inspect.isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        return collect_around(result, meanwhile)
    reading, pauses = Reading(None), _first_token()
    async for event in result:
        reading.add(event)
        if pauses(event):
            await asyncio.to_thread(meanwhile)
    return reading.answered


def _first_token() -> Callable[[Any], bool]:
    """Whether an event is the first one with a token; it is asked once for each event."""
    seen = False

    def is_first(event: Any) -> bool:
        nonlocal seen
        before, seen = seen, seen or event_data(event).get("type") == "TOKEN"
        return seen and not before

    return is_first
