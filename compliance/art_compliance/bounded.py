"""Runs what an adapter does within a time limit, whatever it does: raise, exit, or never come back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Final, TypeVar

T = TypeVar("T")

LIMIT: Final = 30.0
"""Seconds that one translation or one call may take. Both take milliseconds where nothing is wrong."""


class Stopped(Exception):
    """The adapter did not come back, or wanted to end the program."""


def run_bounded(work: Callable[[], T], seconds: float | None = None) -> T:
    """The work's value. Raises what it raises, and Stopped where it exits or the time is up.

    It runs on a thread of its own, which is left behind where it never ends.
    """
    future: Future[T] = Future()
    Thread(target=_settle, args=(future, work), name="adapter", daemon=True).start()
    return await_bounded(future, seconds)


def await_bounded(future: Future[T], seconds: float | None = None) -> T:
    """As `run_bounded`, for work that is under way."""
    limit = LIMIT if seconds is None else seconds
    try:
        return future.result(limit)
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
