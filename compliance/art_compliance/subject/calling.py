"""How an adapter's `call` is used: read to its end, closed or cancelled half-way, whatever it is made of.

A call may give its events asynchronously or not, at once or behind an await. Asynchronous ones run in the portal's
event loop, all others on threads of their own, so that none of them can stop the suite.
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
"""Seconds in which an adapter that has told its first token comes to wait for the next bytes."""


class CannotDo(Exception):
    """The adapter's call is of a make that cannot be used so."""


class Caller:
    """Uses the `call` of one adapter. Every method raises what the call raises, and Stopped where it does not end."""

    def __init__(self, adapter: Any, portal: anyio.from_thread.BlockingPortal) -> None:
        self._adapter = adapter
        self._portal = portal

    def read(self, prompt: Any, options: Any, *, seconds: float | None = None, method: str = "call") -> Answered:
        """Every event of the call, with the seconds after which each came."""
        return await_bounded(self._start(prompt, options, method), seconds)

    def read_together(
        self, asked: Iterable[tuple[Any, Any]], *, seconds: float | None = None
    ) -> list[Answered | Exception]:
        """As `read`, for calls that are all under way at once, in the same `seconds`: its events, or what it raised."""
        began = time.monotonic()
        started = [start_bounded(partial(self._read_here, prompt, options, seconds)) for prompt, options in asked]
        return [_outcome(one, seconds, began) for one in started]

    def _read_here(self, prompt: Any, options: Any, seconds: float | None) -> Answered:
        """On this thread: a call may do all its work before it gives anything."""
        given = self._begin(prompt, options, "call")
        if _is_async(given):
            reading: Future[Answered] = self._portal.start_task_soon(_drain, given)
            return await_bounded(reading, seconds)
        return _collect(given)

    def ask(self, prompt: Any, options: Any, method: str) -> Any:
        """What another method than `call` gives, awaited where it must be."""
        given = self._begin(prompt, options, method)
        if not inspect.isawaitable(given):
            return given
        return await_bounded(self._portal.start_task_soon(_await, given))

    def close_early(self, prompt: Any, options: Any) -> float:
        """Closes the call after its first token, and gives the seconds that closing took. Raises CannotDo."""
        given = self._begin(prompt, options, "call")
        if not _is_async(given):
            return run_bounded(lambda: _close_early(given))
        closing: Future[float] = self._portal.start_task_soon(_close_early_async, given)
        return await_bounded(closing)

    def cancel_early(self, prompt: Any, options: Any, *, after_token: bool = True) -> bool:
        """Cancels the call while it waits for more than its first token, or for that: whether it ended so.

        Raises CannotDo.
        """
        given = self._begin(prompt, options, "call")
        if not _is_async(given):
            message = "the call is not asynchronous"
            raise CannotDo(message)
        cancelling: Future[bool] = self._portal.start_task_soon(_cancel_early, given, after_token)
        return await_bounded(cancelling)

    def count_tasks(self) -> int:
        """How many tasks there are in the event loop of asynchronous calls."""
        return self._portal.call(lambda: len(anyio.get_running_tasks()))

    def _start(self, prompt: Any, options: Any, method: str) -> Future[Answered]:
        given = self._begin(prompt, options, method)
        if _is_async(given):
            return self._portal.start_task_soon(_drain, given)
        return start_bounded(lambda: _collect(given))

    def _begin(self, prompt: Any, options: Any, method: str) -> Any:
        """What the call gives: it may want a running loop for that."""
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
    except Exception as error:  # noqa: BLE001 - as above
        return error


async def _await(given: Any) -> Any:
    return await given


async def _call_in_loop(call: Callable[..., Any], prompt: Any, options: Any) -> Any:
    """For a plain function that wants a running loop."""
    return call(prompt, options)


def _is_async(given: Any) -> bool:
    return inspect.isawaitable(given) or hasattr(given, "__aiter__")


def _collect(given: Any) -> Answered:
    began = time.perf_counter()
    told = [(event_data(event), time.perf_counter() - began) for event in given]
    return _answered(told)


async def _drain(given: Any) -> Answered:
    began = time.perf_counter()
    try:
        if inspect.isawaitable(given):
            given = await given
        if not hasattr(given, "__aiter__"):
            return _collect(given)
        return _answered([(event_data(event), time.perf_counter() - began) async for event in given])
    except (SystemExit, KeyboardInterrupt) as error:  # it would end the event loop, and the suite with it
        message = f"it wanted to end the program: {describe_error(error)}"
        raise Stopped(message) from error


def _answered(told: list[tuple[dict[str, Any], float]]) -> Answered:
    return Answered(tuple(event for event, _ in told), tuple(at for _, at in told))


def _is_token(event: Any) -> bool:
    return event_data(event).get("type") == "TOKEN"


def _close_early(given: Any) -> float:
    close = getattr(given, "close", None)
    if close is None:
        raise CannotDo(_NOT_CLOSABLE)
    for event in given:
        if _is_token(event):
            break
    began = time.perf_counter()
    close()
    return time.perf_counter() - began


async def _close_early_async(given: Any) -> float:
    if inspect.isawaitable(given):
        given = await given
    close = getattr(given, "aclose", None)
    if close is None:
        raise CannotDo(_NOT_CLOSABLE)
    async for event in given:
        if _is_token(event):
            break
    began = time.perf_counter()
    await close()
    return time.perf_counter() - began


_NOT_CLOSABLE: Final = "the events cannot be closed: they are no generator"


async def _cancel_early(given: Any, after_token: bool) -> bool:  # noqa: FBT001 - the portal takes no keywords
    has_token, ended = anyio.Event(), False

    async def read() -> None:
        nonlocal given, ended
        if inspect.isawaitable(given):
            given = await given
        async for event in given:
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
