"""What a generation did: its stages in order with their times, its fallbacks, warnings and sizes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


class Trace:
    """Collects them. `timer` gives seconds that only grow; `total_ms` is when optional parts begin to be dropped."""

    def __init__(self, timer: Callable[[], float], total_ms: int) -> None:
        self._timer = timer
        self._total = total_ms / 1000
        self._began = timer()
        self.stages: list[dict[str, Any]] = []
        self.fallbacks: list[str] = []
        self.warnings: list[str] = []
        self.sizes: dict[str, int] = {}
        self.redactions = 0

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Notes a stage, where it begins, and how long it takes."""
        entry: dict[str, Any] = {"name": name, "ms": 0.0}
        self.stages.append(entry)
        began = self._timer()
        try:
            yield
        finally:
            entry["ms"] = round((self._timer() - began) * 1000, 3)

    @property
    def is_late(self) -> bool:
        """Whether the time for all is over: what is optional is dropped from now on."""
        return self._timer() - self._began > self._total

    def fall_back(self, what: str) -> None:
        """Notes a fallback, once."""
        if what not in self.fallbacks:
            self.fallbacks.append(what)

    def skip_if_late(self) -> bool:
        """Whether an optional part must be dropped now, which is noted."""
        if self.is_late:
            self.fall_back("simplified_prompt")
        return self.is_late

    @property
    def total_ms(self) -> float:
        """Milliseconds so far."""
        return round((self._timer() - self._began) * 1000, 3)
