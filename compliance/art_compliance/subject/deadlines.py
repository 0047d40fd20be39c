"""Runs an adapter's code with a time limit, whatever it does: raise, exit, or hang."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import wraps
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Final, ParamSpec, TypeVar

import anyio

T = TypeVar("T")
P = ParamSpec("P")
Task = Callable[[], None]

Runner = Callable[[Callable[[], Any], float], Any]
"""Makes an adapter, runs a translation, or begins a call, for at most so many seconds."""

LIMIT: Final = 30.0
"""Seconds that one translation or one call may take. Both usually take milliseconds."""


class Stopped(Exception):
    """The adapter hangs, or tried to exit the program."""


class TimedOut(Stopped):
    """The adapter did not return in time."""


class OutOfTime(BaseException):
    """The time of the whole run is up. Like Ctrl-C, it ends whatever the suite is doing, so it is no Exception."""


class _Worker:
    """A thread that runs one task after another. It is idle when a task ends; a thread that hangs is abandoned."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        Thread(target=self._work, name="adapter", daemon=True).start()

    def give(self, task: Task | None) -> None:
        """Runs the task; None ends the thread."""
        self._tasks.put(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            _idle.append(self)


_idle: deque[_Worker] = deque()
"""Workers that wait for a task: starting a thread costs more than most translations.

The last one that became idle works next. Otherwise each call would meet a thread that is new to it, and what a
debugger or coverage keeps per thread would look like a leak of the adapter.
"""


def end_idle() -> None:
    """Ends the threads that wait for a task: none of them outlives the adapters."""
    with suppress(IndexError):
        while True:
            _idle.pop().give(None)


def start_bounded(work: Callable[[], T]) -> Future[T]:
    """Starts the work on its own thread."""
    future: Future[T] = Future()
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.give(lambda: _settle(future, work))
    return future


def start_anew(work: Callable[[], T], until: Event) -> Future[T]:
    """As `start_bounded`, on a thread that has run nothing before, and stays until the event: its number is its own."""
    future: Future[T] = Future()

    def stay() -> None:
        _settle(future, work)
        until.wait(LIMIT)

    Thread(target=stay, name="adapter", daemon=True).start()
    return future


def run_bounded(work: Callable[[], T], seconds: float | None = None) -> T:
    """The work's value. Raises what the work raises, Stopped if it tries to exit, and TimedOut if it takes too long."""
    return await_bounded(start_bounded(work), seconds)


def run_here(work: Callable[[], T], _: float | None = None) -> T:
    """As `run_bounded` on this thread, without a limit: for a process that is ended from outside."""
    try:
        return work()
    except Exception:
        raise
    except BaseException as error:
        raise _explain_exit(error) from error


def await_bounded(future: Future[T], seconds: float | None = None, began: float | None = None) -> T:
    """As `run_bounded`, for work that has started: the seconds count from now, or from `began` (monotonic)."""
    limit = LIMIT if seconds is None else seconds
    spent = 0.0 if began is None else time.monotonic() - began
    try:
        return future.result(max(0.0, limit - spent))
    except TimeoutError as error:
        if future.done():
            raise
        future.cancel()
        raise TimedOut(f"it did not return within {limit:g} s") from error


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    future.set_running_or_notify_cancel()  # it cannot be cancelled any more; a late result is ignored
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 - the waiting thread raises it
        future.set_exception(error)
    except BaseException as error:  # noqa: BLE001 - SystemExit would silently end this thread
        future.set_exception(_explain_exit(error))


def stopping(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Has a coroutine function raise Stopped for what would end the event loop. A cancellation stays one."""

    @wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await work(*args, **kwargs)
        except (Exception, GeneratorExit, anyio.get_cancelled_exc_class()):
            raise
        except BaseException as error:
            raise _explain_exit(error) from error

    return run


def _explain_exit(error: BaseException) -> Stopped:
    exits = isinstance(error, (SystemExit, KeyboardInterrupt))
    what = "it tried to exit the program" if exits else "it raised something that is not an Exception"
    return Stopped(f"{what}: {type(error).__name__}: {error}")
