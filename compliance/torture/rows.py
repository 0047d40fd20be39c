"""What a row of the table is, and how a fault fails to hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Failed(Exception):
    """The fault did harm: the message says which."""


class Ended(NamedTuple):
    """How a fault ended: in words, and the CPU seconds and peak megabytes of another process, where that was hit."""

    words: str
    seconds: float | None = None
    megabytes: float | None = None


class Row(NamedTuple):
    """One fault. `work` does it in its own process, and says how it ended, or raises Failed.

    `seconds` (of CPU) and `megabytes` (resident, at the peak) are what it may take, all imports included.
    """

    kind: str
    fault: str
    work: Callable[[], str | Ended]
    seconds: float = 10.0
    megabytes: float = 400.0

    @property
    def name(self) -> str:
        """A name for the row, of which there is only one."""
        return f"{self.kind}: {self.fault}"
