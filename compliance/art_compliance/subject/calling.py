"""Uses an adapter's `call`: reads it to the end, or closes or cancels it half-way, whatever kind of function it is.

A call may return its events asynchronously or not, directly or behind an await. Asynchronous calls run in the portal's
event loop, all others on threads of their own, so that no call can block the suite.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

import anyio
import anyio.from_thread

from art_compliance.subject.deadlines import Stopped, await_bounded, run_bounded, start_bounded
from art_compliance.subject.events import Answered, event_data
from art_compliance.subject.factories import describe_error

BREATH: Final = 0.03
"""Seconds after its first token by which an adapter waits for the next bytes."""


class CannotDo(Exception):
    """The adapter's call is of a kind that cannot be used in this way."""


class Caller:
    """Uses the `call` of one adapter. Every method raises what the call raises, and Stopped if it hangs or exits."""

    def __init__(self, adapter: Any, portal: anyio.from_thread.BlockingPortal) -> None:
        self._adapter = adapter
        self._portal = portal

    def read(self, prompt: Any, options: Any, *, seconds: float | None = None, method: str = "call") -> Answered:
        """Every event of the call, with the seconds after which it arrived."""
        return await_bounded(self._start(prompt, options, method), seconds)

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

    def ask(self, prompt: Any, options: Any, method: str) -> Any:
        """What another method than `call` returns, awaited if necessary."""
        result = self._begin(prompt, options, method)
        if not inspect.isawaitable(result):
            return result
        return await_bounded(self._portal.start_task_soon(_await, result))

    def close_early(self, prompt: Any, options: Any) -> float:
        """Closes the call after its first token, and returns how many seconds that took. Raises CannotDo."""
        result = self._begin(prompt, options, "call")
        if not _is_async(result):
            return run_bounded(lambda: _close_early(result))
        closing: Future[float] = self._portal.start_task_soon(_close_early_async, result)
        return await_bounded(closing)

    def cancel_early(self, prompt: Any, options: Any, *, after_token: bool = True) -> bool:
        """Cancels the call while it waits for its second token, or for its first. Returns whether that ended it.

        Raises CannotDo.
        """
        result = self._begin(prompt, options, "call")
        if not _is_async(result):
            raise CannotDo("the call is not asynchronous")
        cancelling: Future[bool] = self._portal.start_task_soon(_cancel_early, result, after_token)
        return await_bounded(cancelling)

    def count_tasks(self) -> int:
        """The number of tasks in the event loop of asynchronous calls."""
        return self._portal.call(lambda: len(anyio.get_running_tasks()))

    def _start(self, prompt: Any, options: Any, method: str) -> Future[Answered]:
        result = self._begin(prompt, options, method)
        if _is_async(result):
            return self._portal.start_task_soon(_drain, result)
        return start_bounded(lambda: _collect(result))

    def _begin(self, prompt: Any, options: Any, method: str) -> Any:
        """Starts the call. It may need a running event loop, even if it is a plain function."""
        call: Callable[..., Any] = getattr(self._adapter, method)
        try:
            return run_bounded(lambda: call(prompt, options))
        except RuntimeError as error:
            if "event loop" not in str(error):
                raise
            return await_bounded(self._portal.start_task_soon(_call_in_loop, call, prompt, options))


def _outcome(started: Future[Answered], seconds: float | None, began: float) -> Answered | Exception:
    try:
        return await_bounded(started, seconds, began)
    except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
        return error


async def _await(result: Any) -> Any:
    return await result


async def _call_in_loop(call: Callable[..., Any], prompt: Any, options: Any) -> Any:
    """For a plain function that needs a running event loop."""
    return call(prompt, options)


def _is_async(result: Any) -> bool:
    return inspect.isawaitable(result) or hasattr(result, "__aiter__")


def _collect(result: Any) -> Answered:
    began = time.perf_counter()
    return _answered([(event_data(event), time.perf_counter() - began) for event in result])


async def _drain(result: Any) -> Answered:
    began = time.perf_counter()
    try:
        if inspect.isawaitable(result):
            result = await result
        if not hasattr(result, "__aiter__"):
            return _collect(result)
        return _answered([(event_data(event), time.perf_counter() - began) async for event in result])
    except (SystemExit, KeyboardInterrupt) as error:  # it would end the event loop and the suite
        raise Stopped(f"it tried to exit the program: {describe_error(error)}") from error


def _answered(timed: list[tuple[dict[str, Any], float]]) -> Answered:
    return Answered(tuple(event for event, _ in timed), tuple(at for _, at in timed))


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


async def _cancel_early(result: Any, after_token: bool) -> bool:  # noqa: FBT001 - the portal takes no keywords
    has_token, ended = anyio.Event(), False

    async def read() -> None:
        nonlocal result, ended
        if inspect.isawaitable(result):
            result = await result
        async for event in result:
            if _is_token(event):
                has_token.set()
        ended = True

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        if after_token:
            with anyio.move_on_after(1):
                await has_token.wait()
        await anyio.sleep(BREATH)
        group.cancel_scope.cancel()
    return not ended
