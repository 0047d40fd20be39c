"""Runs what an adapter does within a time limit, whatever it does: raise, exit, or never come back."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Final, TypeVar

T = TypeVar("T")
Task = Callable[[], None]

LIMIT: Final = 30.0
"""Seconds that one translation or one call may take. Both take milliseconds where nothing is wrong."""


class Stopped(Exception):
    """The adapter did not come back, or wanted to end the program."""


class _Worker:
    """A thread that does one task after another. It is idle again when a task ends; one that hangs is left behind."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        Thread(target=self._work, name="adapter", daemon=True).start()

    def give(self, task: Task) -> None:
        self._tasks.put(task)

    def _work(self) -> None:
        while True:
            self._tasks.get()()
            _idle.append(self)


_idle: deque[_Worker] = deque()
"""Workers that wait for a task: starting a thread costs more than most translations.

Who worked last works next: else calls one after the other would each meet a thread that never worked for one
of their kind, and what a debugger or a measure of coverage keeps a thread would look like a leak of the adapter.
"""


def start_bounded(work: Callable[[], T]) -> Future[T]:
    """The work, under way on a thread of its own."""
    future: Future[T] = Future()
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.give(lambda: _settle(future, work))
    return future


def run_bounded(work: Callable[[], T], seconds: float | None = None) -> T:
    """The work's value. Raises what it raises, and Stopped where it exits or the time is up."""
    return await_bounded(start_bounded(work), seconds)


def await_bounded(future: Future[T], seconds: float | None = None, began: float | None = None) -> T:
    """As `run_bounded`, for work that is under way: the seconds count from now, or since it `began` (monotonic)."""
    limit = LIMIT if seconds is None else seconds
    spent = 0.0 if began is None else time.monotonic() - began
    try:
        return future.result(max(0.0, limit - spent))
    except TimeoutError as error:
        if future.done():
            raise
        future.cancel()
        message = f"it did not come back within {limit:g} s"
        raise Stopped(message) from error


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    future.set_running_or_notify_cancel()  # from here on it is not cancelled: what comes too late is settled in vain
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 - handed on to whoever waits
        future.set_exception(error)
    except BaseException as error:  # noqa: BLE001 - SystemExit would end this thread alone, without a word
        future.set_exception(Stopped(f"it wanted to end the program: {type(error).__name__}: {error}"))
