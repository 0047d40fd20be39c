"""The memory in this process, and the memory that keeps nothing."""

from __future__ import annotations

from collections import OrderedDict, deque
from itertools import islice

from art_sdk.contributors.configuration import Count


class InMemory:
    """Keeps the newest `max_entries` texts of each thread, and the `max_threads` threads that were used last.

    It lasts as long as the object. One event loop uses it at a time.
    """

    def __init__(self, *, max_entries: Count = 1_000, max_threads: Count = 10_000) -> None:
        self._max_entries = max_entries
        self._max_threads = max_threads
        self._threads: OrderedDict[str | None, deque[str]] = OrderedDict()

    async def add(self, thread_id: str | None, text: str) -> None:
        """Keeps a text as the newest of its thread."""
        self._threads.setdefault(thread_id, deque(maxlen=self._max_entries)).append(text)
        self._threads.move_to_end(thread_id)
        if len(self._threads) > self._max_threads:
            self._threads.popitem(last=False)

    async def newest(self, thread_id: str | None, limit: int) -> list[str]:
        """The newest texts of a thread, oldest first."""
        if thread_id not in self._threads:
            return []
        self._threads.move_to_end(thread_id)
        return [*islice(reversed(self._threads[thread_id]), limit)][::-1]

    async def forget(self, thread_id: str | None) -> None:
        """Forgets everything of a thread."""
        self._threads.pop(thread_id, None)

    async def aclose(self) -> None:
        """Does nothing: there is no connection."""

    def __repr__(self) -> str:
        return f"InMemory({len(self._threads):,} threads)"


class NoMemory:
    """Keeps nothing."""

    async def add(self, thread_id: str | None, text: str) -> None:
        """Does nothing."""

    async def newest(self, thread_id: str | None, limit: int) -> list[str]:
        """Nothing."""
        del thread_id, limit
        return []

    async def forget(self, thread_id: str | None) -> None:
        """Does nothing."""

    async def aclose(self) -> None:
        """Does nothing."""

    def __repr__(self) -> str:
        return "NoMemory()"
