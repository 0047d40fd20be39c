"""Uses an adapter's `call`: reads it to the end, or closes or cancels it midway, whatever kind of function it is.

A call may return its events asynchronously or not, directly or behind an await. Asynchronous calls run in the portal's
event loop, all others on threads of their own, so that no call can block the suite.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import anyio.from_thread

from art_compliance.subject.deadlines import (
    LIMIT,
    Stopped,
    TimedOut,
    await_bounded,
    run_bounded,
    start_bounded,
)
from art_compliance.subject.events import Answered, event_data
from art_compliance.subject.host.collecting import (
    answered_whole,
    await_result,
    begin_and_time,
    call_in_loop,
    collect,
    collect_from,
    collect_in_loop,
    drain,
    drain_from,
    is_async,
    is_folded,
    keep_async,
    time_async,
)
from art_compliance.subject.host.interrupting import (
    Cancelled,
    CannotDo,
    cancel_scope_early,
    cancel_task_early,
    close_early,
    close_early_async,
)
from art_compliance.subject.host.stepping import (
    collect_around,
    collect_on_threads,
    collect_slowly,
    drain_around,
    drain_in_tasks,
    drain_slowly,
)

T = TypeVar("T")

PATIENCE: Final = 300.0
"""Seconds that a call which was given up may go on blocking the event loop before the next one."""


def read_in_own_loop(adapter: Any, prompt: Any, options: Any, method: str = "call") -> Answered:
    """Every event of a call, read on this thread; if it is asynchronous, in an event loop that ends with it."""
    result = _begin_outside(getattr(adapter, method), prompt, options)
    return asyncio.run(drain_from(result, method)) if is_async(result) else collect_from(result, method)


def read_together_in_own_loop(
    adapter: Any, calls: Iterable[tuple[Any, Any]], method: str
) -> list[Answered | Exception]:
    """As `read_in_own_loop`, for concurrent calls in one loop. Raises CannotDo if they are not asynchronous."""
    begun = [_begin_outside(getattr(adapter, method), *call) for call in calls]
    if not all(map(is_async, begun)):
        raise CannotDo("the calls are not asynchronous")

    async def read(result: Any) -> Answered | Exception:
        try:
            return await drain_from(result, method)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return error

    async def read_all() -> list[Answered | Exception]:
        return await asyncio.gather(*map(read, begun))

    return asyncio.run(read_all())


def _begin_outside(call: Callable[..., Any], prompt: Any, options: Any) -> Any:
    """What a call returns outside any event loop; if it needs one, an awaitable of what it returns there."""
    try:
        return call(prompt, options)
    except RuntimeError as error:
        if "event loop" not in str(error):
            raise
        return await_result(call_in_loop(call, prompt, options))


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
        self._loop = portal.call(_running_loop)
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
            words = getattr(self._adapter, "last_words", "")
            raise TimedOut(str(error).removesuffix(words) + words) from error

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

    def keep(self, prompt: Any, options: Any, method: str) -> list[tuple[Any, dict[str, Any]]]:
        """Every event of the call as the adapter gave it, each with its data at that time; none of a whole answer."""
        if is_folded(method):
            self.ask(prompt, options, method)
            return []
        result = self._begin(prompt, options, method)
        if is_async(result):
            keeping: Future[list[tuple[Any, dict[str, Any]]]] = self._in_loop(keep_async, result)
            return await_bounded(keeping, self._limit)
        return run_bounded(lambda: [(event, event_data(event)) for event in result], self._limit)

    def read_together(
        self, calls: Iterable[tuple[Any, Any, str]], *, seconds: float | None = None
    ) -> list[Answered | Exception]:
        """As `read`, for concurrent calls that share the `seconds`: each one's events, or what it raised."""
        return _read_each(partial(self._read_here, seconds), calls, seconds)

    def _read_here(self, seconds: float | None, prompt: Any, options: Any, method: str) -> Answered:
        """Reads on this thread: a call may do all its work before it returns anything."""
        result = self._begin(prompt, options, method)
        if is_async(result):
            reading: Future[Answered] = self._in_loop(drain_from, result, method)
            return await_bounded(reading, seconds)
        return collect_from(result, method)

    def read_by_steps(self, prompt: Any, options: Any, method: str) -> Answered:
        """As `read`, with each event in another task, or on another thread."""
        result = self._begin(prompt, options, method)
        if not is_async(result):
            return collect_on_threads(result, self._limit)
        reading: Future[Answered] = self._in_loop(drain_in_tasks, result)
        return await_bounded(reading, self._limit)

    def read_slowly(
        self, calls: Iterable[tuple[Any, Any, str]], *, pause: float, seconds: float
    ) -> list[Answered | Exception]:
        """As `read_together`, by readers who pause for so many seconds after the first token."""
        return _read_each(partial(self._read_slowly_here, pause, seconds), calls, seconds)

    def _read_slowly_here(self, pause: float, seconds: float, prompt: Any, options: Any, method: str) -> Answered:
        result = self._begin(prompt, options, method)
        if not is_async(result):
            return collect_slowly(result, pause)
        reading: Future[Answered] = self._in_loop(drain_slowly, result, pause)
        return await_bounded(reading, seconds)

    def read_around(self, prompt: Any, options: Any, method: str, meanwhile: Callable[[], None]) -> Answered:
        """As `read`; after the first token, its reader does something else before it goes on."""
        result = self._begin(prompt, options, method)
        if not is_async(result):
            return run_bounded(partial(collect_around, result, meanwhile), self._limit)
        reading: Future[Answered] = self._in_loop(drain_around, result, meanwhile)
        return await_bounded(reading, self._limit)

    def read_in_running_loop(self, prompt: Any, options: Any, method: str) -> Answered:
        """As `read`, for a synchronous method, in the thread of an event loop that runs and waits for it."""
        self._await_loop()
        call: Callable[..., Any] = getattr(self._adapter, method)
        reading: Future[Answered] = self._in_loop(collect_in_loop, call, prompt, options, method)
        return await_bounded(reading, self._limit)

    def ask(self, prompt: Any, options: Any, method: str) -> Any:
        """What another method than `call` returns, awaited if necessary."""
        result = self._begin(prompt, options, method)
        if not inspect.isawaitable(result):
            return result
        return await_bounded(self._in_loop(await_result, result), self._limit)

    def use(self, prompt: Any, options: Any, method: str) -> Answered:
        """What any method gives: its events, or its whole answer."""
        if is_folded(method):
            return answered_whole(self.ask(prompt, options, method))
        return self.read(prompt, options, method=method)

    def cost(self, prompt: Any, options: Any, method: str) -> float:
        """The seconds of processor time that a call takes on the thread that reads it."""
        call: Callable[..., Any] = getattr(self._adapter, method)
        begun = run_bounded(partial(begin_and_time, call, prompt, options, method), self._limit)
        if isinstance(begun, float):
            return begun
        timing: Future[float] = self._in_loop(time_async, begun, method)
        return await_bounded(timing, self._limit)

    def close_early(self, prompt: Any, options: Any, *, method: str = "call") -> float:
        """Closes the call after its first token, and returns how many seconds that took. Raises CannotDo."""
        result = self._begin(prompt, options, method)
        if not is_async(result):
            return run_bounded(lambda: close_early(result), self._limit)
        closing: Future[float] = self._in_loop(close_early_async, result)
        return await_bounded(closing, self._limit)

    def cancel_early(self, prompt: Any, options: Any, method: str, *, after_token: bool) -> Cancelled:
        """Cancels the call while it waits for its second token, or for its first. Returns what came of it.

        The one is a scope that is cancelled, and cancels its task until that ends. The other is `Task.cancel`, which
        cancels once. Raises CannotDo.
        """
        return await_bounded(self._cancelling(prompt, options, method, after_token=after_token), self._limit)

    def cancel_after(self, prompt: Any, options: Any, seconds: float) -> Cancelled:
        """As `cancel_early`, so many seconds after `call` began."""
        result = self._begin_async(prompt, options, "call")
        return await_bounded(self._in_loop(cancel_task_early, result, seconds), self._limit)

    def cancel_together(self, calls: Iterable[tuple[Any, Any, str]], *, after_token: bool) -> list[Cancelled]:
        """As `cancel_early`, for concurrent calls."""
        begun = [self._cancelling(*call, after_token=after_token) for call in calls]
        return [await_bounded(one, self._limit) for one in begun]

    def _cancelling(self, prompt: Any, options: Any, method: str, *, after_token: bool) -> Future[Cancelled]:
        result = self._begin_async(prompt, options, method)
        return self._in_loop(cancel_scope_early if after_token else cancel_task_early, result)

    def _begin_async(self, prompt: Any, options: Any, method: str) -> Any:
        result = self._begin(prompt, options, method)
        if not is_async(result):
            raise CannotDo("the call is not asynchronous")
        return result

    def count_tasks(self) -> int:
        """The number of tasks in the event loop of asynchronous calls."""
        return self._portal.call(lambda: len(anyio.get_running_tasks()))

    def _start(self, prompt: Any, options: Any, method: str) -> Future[Answered]:
        began = time.perf_counter()
        result = self._begin(prompt, options, method)
        if is_async(result):
            return self._in_loop(drain, result, began)
        return start_bounded(lambda: collect(result, began))

    def _in_loop(self, work: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> Future[T]:
        """Starts the work in the event loop. The portal's own way waits for the loop twice, on another thread."""
        return asyncio.run_coroutine_threadsafe(work(*args), self._loop)

    def _begin(self, prompt: Any, options: Any, method: str) -> Any:
        """Starts the call. It may need a running event loop, even if it is a plain function."""
        call: Callable[..., Any] = getattr(self._adapter, method)
        try:
            return self._run(lambda: call(prompt, options), self._limit)
        except RuntimeError as error:
            if "event loop" not in str(error):
                raise
            return await_bounded(self._in_loop(call_in_loop, call, prompt, options), self._limit)


def _read_each(
    read: Callable[..., Answered], calls: Iterable[tuple[Any, Any, str]], seconds: float | None
) -> list[Answered | Exception]:
    """What the function gives for each call, all at the same time, or what it raised."""
    began = time.monotonic()
    started = [start_bounded(partial(read, *call)) for call in calls]
    return [_outcome(one, seconds, began) for one in started]


def _outcome(started: Future[Answered], seconds: float | None, began: float) -> Answered | Exception:
    try:
        return await_bounded(started, seconds, began)
    except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
        return error


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def _do_nothing() -> None:
    """Ends as soon as its event loop is free."""
