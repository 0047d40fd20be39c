"""How late a busy machine wakes a program that sleeps: a call that was no later than that kept its time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Final, Self

_STEP: Final = 0.02


class Lateness:
    """Measures inside a `with` how late a thread of this process wakes up. `seconds` is the longest delay so far."""

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self.seconds = 0.0
        self._sleep = sleep
        self._over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.is_set():
            began = time.monotonic()
            self._sleep(_STEP)
            self.seconds = max(self.seconds, time.monotonic() - began - _STEP)
