"""Times at which something must happen, watched by one thread for all calls of a process."""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache
from math import inf
from typing import Final, Protocol

_IDLE: Final = 5.0
"""Seconds for which the thread waits for the next call: starting one costs as much as translating a prompt."""


class Alarm(Protocol):
    """What is done when the time has come. It must be hashable, and must not set or clear alarms itself."""

    def ring(self) -> None:
        """Is called on the thread, and must be quick."""
        ...


class Alarms:
    """Alarms with their times, on the clock of `time.monotonic`.

    The thread sleeps until the first of them, and ends when there was none for `idle` seconds.
    """

    def __init__(self, idle: float = _IDLE) -> None:
        self._idle = idle
        self._changed = threading.Condition()  # a call in a signal handler or in `__del__` may come in between
        self._times: dict[Alarm, float] = {}
        self._wakes = inf
        self._is_running = False
        self._was_used = False

    def set(self, alarm: Alarm, at: float) -> None:
        """Rings at this time, and no longer at the one that was set before."""
        with self._changed:
            if not self._is_running:
                threading.Thread(target=self._run, name="art_sdk time limits", daemon=True).start()
                self._is_running, self._wakes = True, inf
            self._times[alarm] = at
            self._was_used = True
            if at < self._wakes:
                self._changed.notify()

    def clear(self, alarm: Alarm) -> None:
        """Does not ring any more: when this returns, it has rung or never will."""
        with self._changed:
            self._times.pop(alarm, None)

    def _run(self) -> None:
        with self._changed:
            while self._times or self._was_used:
                self._was_used = False
                now = time.monotonic()
                for alarm in [alarm for alarm, at in list(self._times.items()) if at <= now]:
                    del self._times[alarm]
                    alarm.ring()
                self._wakes = min([*self._times.values(), now + self._idle])
                self._changed.wait(self._wakes - now)
            self._is_running = False


def alarms() -> Alarms:
    """Those of this process: a forked one has no thread of its parent's."""
    return _alarms_of(os.getpid())


@lru_cache(maxsize=1)
def _alarms_of(_process: int) -> Alarms:
    return Alarms()
