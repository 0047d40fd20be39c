"""The cache of prompts: bounded in size and age, one computation for requests that are equal at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from cachetools import TTLCache

V = TypeVar("V")


class PromptCache(Generic[V]):
    """Values by session and key. `timer` gives seconds that only grow.

    A session's values are never given to another one: the session is part of what a value is found by.
    """

    def __init__(self, size: int, ttl_seconds: float, timer: Callable[[], float]) -> None:
        self._kept: TTLCache[tuple[str, str], V] = TTLCache(size, ttl_seconds, timer)
        self._running: dict[tuple[str, str], asyncio.Future[V]] = {}

    async def get(self, session: str, key: str, compute: Callable[[], Awaitable[V]]) -> tuple[V, bool]:
        """The value, and whether it was computed for this call. A failure is not kept.

        If the call that computes is cancelled, one that waits for it computes anew.
        """
        place = session, key
        while True:
            known = self._kept.get(place)
            if known is not None:
                return known, False
            running = self._running.get(place)
            if running is None:
                return await self._compute(place, compute), True
            try:
                return await asyncio.shield(running), False
            except asyncio.CancelledError:
                if not running.cancelled():
                    raise

    async def _compute(self, place: tuple[str, str], compute: Callable[[], Awaitable[V]]) -> V:
        future = asyncio.get_running_loop().create_future()
        self._running[place] = future
        try:
            value = await compute()
        except BaseException as error:
            if isinstance(error, Exception):
                future.set_exception(error)
                future.exception()  # nobody may be waiting for it
            else:
                future.cancel()
            raise
        else:
            self._kept[place] = value
            future.set_result(value)
            return value
        finally:
            del self._running[place]

    def clear(self, session: str | None = None) -> None:
        """Forgets the values of a session, or all."""
        for place in [one for one in self._kept if session in {None, one[0]}]:
            self._kept.pop(place, None)

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return f"PromptCache({len(self._kept)} prompts)"
