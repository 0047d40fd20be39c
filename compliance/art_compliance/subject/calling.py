"""Uses an adapter's `call`: reads it to the end, or closes or cancels it half-way, whatever kind of function it is.

A call may return its events asynchronously or not, directly or behind an await. Asynchronous calls run in the portal's
event loop, all others on threads of their own, so that no call can block the suite.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, Literal

import anyio
import anyio.from_thread

from art_compliance.subject.deadlines import (
    LIMIT,
    Stopped,
    TimedOut,
    await_bounded,
    run_bounded,
    start_bounded,
    stopping,
)
from art_compliance.subject.events import Answered, event_data
from art_compliance.subject.factories import with_article

BREATH: Final = 0.03
"""Seconds after its first token by which an adapter waits for the next bytes."""


PATIENCE: Final = 300.0
"""Seconds that a call which was given up may go on blocking the event loop before the next one."""

MOST_EVENTS: Final = 500_000
"""An adapter that gives more events than this in one call never ends: it may give the longest text letter by letter."""


Cancelled = Literal["cancelled", "ended before", "went on"]
"""What came of a call that was to be cancelled."""


class CannotDo(Exception):
    """The adapter's call is of a kind that cannot be used in this way."""


class NoEvents(Exception):
    """The adapter's call returned something else than events."""


def read_in_own_loop(adapter: Any, prompt: Any, options: Any) -> Answered:
    """Every event of a call, read on this thread; if it is asynchronous, in an event loop that ends with it."""
    try:
        result = adapter.call(prompt, options)
    except RuntimeError as error:
        if "event loop" not in str(error):
            raise
        return asyncio.run(_drain(_await(_call_in_loop(adapter.call, prompt, options))))
    return asyncio.run(_drain(result)) if _is_async(result) else _collect(result)


def close_in_own_loop(adapter: Any) -> None:
    """Closes the adapter if it has an asynchronous `aclose`."""
    aclose = getattr(adapter, "aclose", None)
    if inspect.iscoroutinefunction(aclose):
        asyncio.run(aclose())


class Caller:
    """Uses the `call` of one adapter. Every method raises what the call raises, and Stopped if it hangs or exits."""

    def __init__(
        self,
        adapter: Any,
        portal: anyio.from_thread.BlockingPortal,
        limit: float = LIMIT,
        run: Callable[[Callable[[], Any], float], Any] = run_bounded,
    ) -> None:
        """`run` begins a call, for at most so many seconds."""
        self._adapter = adapter
        self._limit = limit
        self._portal = portal
        self._run = run
        self._blocked: Future[None] | None = None
        """Done as soon as the event loop goes on after a call that was given up, which was `_since` (monotonic)."""
        self._since = 0.0

    def read(self, prompt: Any, options: Any, *, seconds: float | None = None, method: str = "call") -> Answered:
        """Every event of the call, with the seconds after which it arrived."""
        self._await_loop()
        try:
            return await_bounded(self._start(prompt, options, method), seconds or self._limit)
        except TimedOut as error:
            free = partial(self._portal.call, _do_nothing)  # on another thread: the portal itself waits for its loop
            self._blocked, self._since = start_bounded(free), time.monotonic()
            raise TimedOut(f"{error}{getattr(self._adapter, 'last_words', '')}") from error

    def _await_loop(self) -> None:
        """Waits for a call that was given up, but works on: in its event loop, the next one would be late, too.

        Raises Stopped if the event loop stays blocked.
        """
        if self._blocked is None:
            return
        try:
            await_bounded(self._blocked, PATIENCE, self._since)
        except TimedOut:
            raise Stopped(
                "it did not begin: an earlier call, which was given up, still blocks the event loop"
            ) from None
        self._blocked = None

    def keep(self, prompt: Any, options: Any) -> list[tuple[Any, dict[str, Any]]]:
        """Every event of the call as the adapter gave it, each with its data at that time."""
        result = self._begin(prompt, options, "call")
        if _is_async(result):
            keeping: Future[list[tuple[Any, dict[str, Any]]]] = self._portal.start_task_soon(_keep_async, result)
            return await_bounded(keeping, self._limit)
        return run_bounded(lambda: [(event, event_data(event)) for event in result], self._limit)

    def read_together(
        self, calls: Iterable[tuple[Any, Any]], *, seconds: float | None = None
    ) -> list[Answered | Exception]:
        """As `read`, for concurrent calls that share the `seconds`: each one's events, or what it raised."""
        began = time.monotonic()
        started = [start_bounded(partial(self._read_here, prompt, options, seconds)) for prompt, options in calls]
        return [_outcome(one, seconds, began) for one in started]

    def _read_here(self, prompt: Any, options: Any, seconds: float | None) -> Answered:
        """Reads on this thread: a call may do all its work before it returns anything."""
        result = self._begin(prompt, options, "call")
        if _is_async(result):
            reading: Future[Answered] = self._portal.start_task_soon(_drain, result)
            return await_bounded(reading, seconds)
        return _collect(result)

    def read_in_running_loop(self, prompt: Any, options: Any, method: str) -> Answered:
        """As `read`, for a synchronous method, in the thread of an event loop that runs and waits for it."""
        self._await_loop()
        call: Callable[..., Any] = getattr(self._adapter, method)
        reading: Future[Answered] = self._portal.start_task_soon(_collect_in_loop, call, prompt, options)
        return await_bounded(reading, self._limit)

    def ask(self, prompt: Any, options: Any, method: str) -> Any:
        """What another method than `call` returns, awaited if necessary."""
        result = self._begin(prompt, options, method)
        if not inspect.isawaitable(result):
            return result
        return await_bounded(self._portal.start_task_soon(_await, result), self._limit)

    def close_early(self, prompt: Any, options: Any, *, method: str = "call") -> float:
        """Closes the call after its first token, and returns how many seconds that took. Raises CannotDo."""
        result = self._begin(prompt, options, method)
        if not _is_async(result):
            return run_bounded(lambda: _close_early(result), self._limit)
        closing: Future[float] = self._portal.start_task_soon(_close_early_async, result)
        return await_bounded(closing, self._limit)

    def cancel_early(self, prompt: Any, options: Any, *, after_token: bool) -> Cancelled:
        """Cancels the call while it waits for its second token, or for its first. Returns what came of it.

        The one is a scope that is cancelled, and cancels its task until that ends. The other is `Task.cancel`, which
        cancels once. Raises CannotDo.
        """
        result = self._begin(prompt, options, "call")
        if not _is_async(result):
            raise CannotDo("the call is not asynchronous")
        cancel = _cancel_scope if after_token else _cancel_task
        cancelling: Future[Cancelled] = self._portal.start_task_soon(cancel, result)
        return await_bounded(cancelling, self._limit)

    def count_tasks(self) -> int:
        """The number of tasks in the event loop of asynchronous calls."""
        return self._portal.call(lambda: len(anyio.get_running_tasks()))

    def _start(self, prompt: Any, options: Any, method: str) -> Future[Answered]:
        began = time.perf_counter()
        result = self._begin(prompt, options, method)
        if _is_async(result):
            return self._portal.start_task_soon(_drain, result, began)
        return start_bounded(lambda: _collect(result, began))

    def _begin(self, prompt: Any, options: Any, method: str) -> Any:
        """Starts the call. It may need a running event loop, even if it is a plain function."""
        call: Callable[..., Any] = getattr(self._adapter, method)
        try:
            return self._run(lambda: call(prompt, options), self._limit)
        except RuntimeError as error:
            if "event loop" not in str(error):
                raise
            return await_bounded(self._portal.start_task_soon(_call_in_loop, call, prompt, options), self._limit)


def _outcome(started: Future[Answered], seconds: float | None, began: float) -> Answered | Exception:
    try:
        return await_bounded(started, seconds, began)
    except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
        return error


async def _do_nothing() -> None:
    """Ends as soon as its event loop is free."""


@stopping
async def _await(result: Any) -> Any:
    return await result


@stopping
async def _call_in_loop(call: Callable[..., Any], prompt: Any, options: Any) -> Any:
    """For a plain function that needs a running event loop."""
    return call(prompt, options)


def _is_async(result: Any) -> bool:
    return inspect.isawaitable(result) or hasattr(result, "__aiter__")


class _Reading:
    """The events of a call as they come, with the seconds after which each came. Raises TimedOut for too many.

    `began` is when the call began, if not now: it may do all its work before it returns anything.
    """

    def __init__(self, began: float | None) -> None:
        self._began = time.perf_counter() if began is None else began
        self._events: list[dict[str, Any]] = []
        self._at: list[float] = []

    def add(self, event: Any) -> None:
        self._events.append(event_data(event))
        self._at.append(time.perf_counter() - self._began)
        if len(self._at) > MOST_EVENTS:
            raise TimedOut(f"its call did not end within {MOST_EVENTS:,} events")

    @property
    def answered(self) -> Answered:
        return Answered(tuple(self._events), tuple(self._at))


def _collect(result: Any, began: float | None = None) -> Answered:
    if result is None or issubclass(type(result), (str, bytes, Mapping)):
        kind = "nothing (None)" if result is None else with_article(result)
        raise NoEvents(f"it returned {kind}; it must yield events, or return an iterable of them")
    reading = _Reading(began)
    for event in result:
        reading.add(event)
    return reading.answered


@stopping
async def _collect_in_loop(call: Callable[..., Any], prompt: Any, options: Any) -> Answered:
    return _collect(call(prompt, options))


@stopping
async def _drain(result: Any, began: float | None = None) -> Answered:
    if inspect.isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        return _collect(result, began)
    reading = _Reading(began)
    async for event in result:
        reading.add(event)
    return reading.answered


@stopping
async def _keep_async(result: Any) -> list[tuple[Any, dict[str, Any]]]:
    if inspect.isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        return [(event, event_data(event)) for event in result]
    return [(event, event_data(event)) async for event in result]


def _is_token(event: Any) -> bool:
    return event_data(event).get("type") == "TOKEN"


def _close_early(result: Any) -> float:
    close = getattr(result, "close", None)
    if close is None:
        raise CannotDo(_NOT_CLOSABLE)
    for event in result:
        if _is_token(event):
            break
    began = time.perf_counter()
    close()
    return time.perf_counter() - began


@stopping
async def _close_early_async(result: Any) -> float:
    if inspect.isawaitable(result):
        result = await result
    close = getattr(result, "aclose", None)
    if close is None:
        raise CannotDo(_NOT_CLOSABLE)
    async for event in result:
        if _is_token(event):
            break
    began = time.perf_counter()
    await close()
    return time.perf_counter() - began


_NOT_CLOSABLE: Final = "the events cannot be closed: call does not return a generator"


@stopping
async def _cancel_scope(result: Any) -> Cancelled:
    has_token = anyio.Event()
    came: Cancelled = "cancelled"

    async def read() -> None:
        nonlocal came
        await _read_all(result, has_token.set)
        came = "went on" if group.cancel_scope.cancel_called else "ended before"

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        with anyio.move_on_after(1):
            await has_token.wait()
        await anyio.sleep(BREATH)
        group.cancel_scope.cancel()
    return came


@stopping
async def _cancel_task(result: Any) -> Cancelled:
    task = asyncio.ensure_future(_read_all(result, _ignore))
    if await _ends(task, BREATH):
        task.result()  # raises what the call raised
        return "ended before"
    task.cancel()
    if await _ends(task, _OBEYS):
        if task.cancelled():
            return "cancelled"
        task.result()  # likewise
        return "went on"
    while not await _ends(task, BREATH):  # the suite goes on without it
        task.cancel()
    return "went on"


_OBEYS: Final = 2.0
"""Seconds in which a task that was cancelled may end on a busy machine; most end at once."""


async def _ends(task: asyncio.Future[None], seconds: float) -> bool:
    return bool((await asyncio.wait({task}, timeout=seconds))[0])


async def _read_all(result: Any, on_token: Callable[[], None]) -> None:
    if inspect.isawaitable(result):
        result = await result
    async for event in result:
        if _is_token(event):
            on_token()


def _ignore() -> None:
    """Nobody waits for the token."""
