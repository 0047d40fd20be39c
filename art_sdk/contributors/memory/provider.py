"""MemoryProvider: where the memory of threads is kept. Strategies choose what goes into a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class MemoryUnavailable(ConnectionError):
    """The memory cannot be reached or read. The message names the provider and the kind of failure, and nothing else.

    In particular it does not have the address, which is part of the connection string.
    """


class MemoryProvider(Protocol):
    """Keeps texts by thread. A thread without an id is one of its own.

    A text is kept when `add` has returned; if `add` raises, it may be kept or not. Each method raises
    MemoryUnavailable if the memory cannot be reached.
    """

    async def add(self, thread_id: str | None, text: str) -> None:
        """Keeps a text as the newest of its thread."""
        ...

    async def newest(self, thread_id: str | None, limit: int) -> Sequence[str]:
        """The newest texts of a thread, at most `limit`, oldest first."""
        ...

    async def forget(self, thread_id: str | None) -> None:
        """Forgets everything of a thread."""
        ...

    async def aclose(self) -> None:
        """Closes connections."""
        ...
