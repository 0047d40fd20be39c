"""The memory on a Redis server, through Redis's own client (extra `redis`).

The client is the synchronous one, in worker threads: its connections belong to no event loop, so that one memory
serves asyncio and trio, one loop after the other, and forked processes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, TypeVar
from uuid import uuid4

import anyio.to_thread
from msgspec import Meta

from art_sdk.contributors.configuration import Count
from art_sdk.contributors.memory.provider import MemoryUnavailable
from art_sdk.errors import InvalidConfig

_T = TypeVar("_T")

_RETRIES: Final = 2
"""A server that restarts, or has closed an idle connection, is asked again: after up to 0.1 s, then 0.2 s."""

_NO_THREAD: Final = "none"
_THREAD: Final = "thread:"


class RedisMemory:
    """Keeps the newest `max_entries` texts of each thread as a list on a Redis server.

    Keys begin with `key_prefix`. A thread is forgotten `expires_after` seconds after its last text, or never.
    An answer may take `time_limit` seconds. Neither the repr nor an error shows the connection string.

    Raises InvalidConfig for a connection string that the client does not accept, and if the client is not installed.
    """

    def __init__(
        self,
        connection_string: str,
        *,
        key_prefix: str = "art:memory:",
        max_entries: Count = 1_000,
        expires_after: Count | None = None,
        time_limit: Annotated[float, Meta(gt=0, le=3_600)] = 2.0,
    ) -> None:
        self._key_prefix = key_prefix
        self._max_entries = max_entries
        self._expires_after = expires_after
        opened = _open(connection_string, time_limit)
        if isinstance(opened, str):
            del connection_string  # which a traceback with local variables would show
            raise InvalidConfig(opened)
        self._redis: Any = opened.client

    async def add(self, thread_id: str | None, text: str) -> None:
        """Keeps a text as the newest of its thread.

        Its id makes it one entry, also if the client sends it again because the answer was lost.
        """
        await self._run(partial(self._add, self._key(thread_id), json.dumps([uuid4().hex, text])))

    def _add(self, key: str, entry: str) -> None:
        with self._redis.pipeline(transaction=True) as steps:
            steps.rpush(key, entry)
            steps.ltrim(key, -self._max_entries, -1)
            if self._expires_after is not None:
                steps.expire(key, self._expires_after)
            steps.execute()

    async def newest(self, thread_id: str | None, limit: int) -> list[str]:
        """The newest texts of a thread, oldest first. Raises MemoryUnavailable for foreign entries, too."""
        found: list[str] = await self._run(lambda: self._redis.lrange(self._key(thread_id), -limit, -1))
        return [*_texts(found)]

    async def forget(self, thread_id: str | None) -> None:
        """Forgets everything of a thread."""
        await self._run(lambda: self._redis.delete(self._key(thread_id)))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._run(self._redis.close)

    def _key(self, thread_id: str | None) -> str:
        name = _NO_THREAD if thread_id is None else f"{_THREAD}{thread_id}"
        return f"{self._key_prefix}{name}"

    async def _run(self, command: Callable[[], _T]) -> _T:
        """What the command gives. A caller that is cancelled does not wait for the server."""
        done = await anyio.to_thread.run_sync(partial(_attempt, command), abandon_on_cancel=True)
        if isinstance(done, _Failed):
            raise MemoryUnavailable(f"the memory provider 'redis' failed ({done.kind})")
        return done

    def __repr__(self) -> str:
        return f"RedisMemory(key_prefix={self._key_prefix!r})"


class _Failed:
    """What a command raised: its type only, as text and traceback may have the address or the password."""

    def __init__(self, error: Exception) -> None:
        self.kind = type(error).__name__


def _attempt(command: Callable[[], _T]) -> _T | _Failed:
    try:
        return command()
    except Exception as error:  # noqa: BLE001 - the client lets those of sockets and of text through, too
        return _Failed(error)


class _Opened(NamedTuple):
    client: Any  # whose types are incomplete


def _open(connection_string: str, time_limit: float) -> _Opened | str:
    """The client, or why there is none."""
    try:
        from redis import Redis  # noqa: PLC0415 - an extra, needed only for this provider
        from redis.backoff import ExponentialBackoff  # noqa: PLC0415 - as above
        from redis.retry import Retry  # noqa: PLC0415 - as above
    except ImportError:
        return "the memory provider 'redis' needs Redis's client: pip install 'art-adapter-sdk[redis]'"
    try:
        client_class: Any = Redis
        client = client_class.from_url(
            str(connection_string),
            decode_responses=True,
            socket_timeout=time_limit,
            socket_connect_timeout=time_limit,
            retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), _RETRIES),
        )
    except Exception as error:  # noqa: BLE001 - whatever the client raises for a URL, which it quotes
        return f"the memory provider 'redis' cannot read its connectionString ({type(error).__name__})"
    return _Opened(client)


def _texts(entries: Iterable[str]) -> Iterable[str]:
    """The texts, each once: the client sends an entry again if the answer to the first was lost."""
    seen: set[str] = set()
    for entry in entries:
        try:
            id_, text = json.loads(entry)
        except (TypeError, ValueError):
            raise MemoryUnavailable("the memory provider 'redis' has an entry that it did not write") from None
        if id_ not in seen:
            seen.add(id_)
            yield text
