"""The httpx2 clients behind a transport. A connection belongs to one event loop and one process.

httpx2 is imported when the first request is sent, not before.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    import ssl
    from weakref import WeakKeyDictionary

    import httpx2


class Clients:
    """One client for synchronous calls and one per event loop, made when they are first needed.

    The client of an event loop is closed with the loop. A forked process gets clients of its own.
    A client that the caller gives is used for its own kind of call and is never closed here.
    """

    def __init__(self, given: httpx2.Client | httpx2.AsyncClient | None = None) -> None:
        self._given = given
        self._own = _OwnClients()
        self._of_parents: list[_OwnClients] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same clients: connections are shared, not copied."""
        return self

    def sync(self) -> httpx2.Client:
        """The client for synchronous calls."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        return self._given if isinstance(self._given, httpx2.Client) else self._of_this_process().sync()

    async def of_this_loop(self) -> httpx2.AsyncClient:
        """The client for calls on the running event loop."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        if isinstance(self._given, httpx2.AsyncClient):
            return self._given
        return await self._of_this_process().of_this_loop()

    def close(self) -> None:
        """Closes the connections of synchronous calls."""
        self._of_this_process().close()

    async def aclose(self) -> None:
        """Closes all connections."""
        self.close()
        await self._of_this_process().aclose()

    def _of_this_process(self) -> _OwnClients:
        if self._own.process != os.getpid():
            self._of_parents.append(self._own)  # neither used nor closed: the parent goes on with these connections
            self._own = _OwnClients()
        return self._own


def _settings() -> dict[str, Any]:
    """Those of every client.

    The limits are as the clients of OpenAI and Anthropic set them: answers take minutes, and httpx2's 100 connections
    are few.
    """
    import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

    certificates = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
    return {"limits": limits, "verify": _ssl_context(*certificates)}


@lru_cache(maxsize=4)
def _ssl_context(*_certificates: str | None) -> ssl.SSLContext:
    """One for all clients: reading the system's certificates takes 20 ms. httpx2 finds them by these variables."""
    import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

    return httpx2.create_ssl_context()


class _LoopClient(NamedTuple):
    client: httpx2.AsyncClient
    until_closed: AsyncGenerator[None]


class _OwnClients:
    """The clients of one process."""

    def __init__(self) -> None:
        from threading import Lock  # noqa: PLC0415 - kept out of `import art_sdk`
        from weakref import WeakKeyDictionary  # noqa: PLC0415 - as above

        self.process = os.getpid()
        self._lock = Lock()
        self._sync: httpx2.Client | None = None
        self._of_loops: WeakKeyDictionary[Any, _LoopClient] = WeakKeyDictionary()

    def sync(self) -> httpx2.Client:
        with self._lock:
            if self._sync is None:
                import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

                self._sync = httpx2.Client(**_settings())
            return self._sync

    async def of_this_loop(self) -> httpx2.AsyncClient:
        loop = _running_loop()
        with self._lock:
            known = self._of_loops.get(loop)
        return known.client if known is not None else await self._open(loop)

    async def _open(self, loop: Any) -> httpx2.AsyncClient:
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        client = httpx2.AsyncClient(**_settings())
        until_closed = self._close_at_the_end(client, loop)
        with self._lock:
            for closed in [one for one in self._of_loops if _is_closed(one)]:
                del self._of_loops[closed]
            self._of_loops[loop] = _LoopClient(client, until_closed)
        await anext(until_closed)
        return client

    async def _close_at_the_end(self, client: httpx2.AsyncClient, loop: Any) -> AsyncGenerator[None]:
        """Closes the client when it is closed itself, which event loops do to their generators before they end.

        The client knows its loop, so that neither is freed while it is kept here.
        """
        try:
            yield
        finally:
            with self._lock:
                self._of_loops.pop(loop, None)
            await client.aclose()

    def close(self) -> None:
        with self._lock:
            client, self._sync = self._sync, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        with self._lock:
            known = dict(self._of_loops)
            self._of_loops.clear()
        here = _running_loop()
        for loop, opened in known.items():
            if loop is here:
                await opened.until_closed.aclose()
            elif hasattr(loop, "is_running") and loop.is_running():  # an asyncio loop of another thread
                loop.call_soon_threadsafe(loop.create_task, _finish(opened.until_closed))


async def _finish(generator: AsyncGenerator[None]) -> None:
    await generator.aclose()


def _is_closed(loop: Any) -> bool:
    """Whether it is an asyncio loop that was closed without an end to its generators, as `loop.close()` does."""
    return hasattr(loop, "is_closed") and loop.is_closed()


def _running_loop() -> Any:
    from anyio.lowlevel import current_token  # noqa: PLC0415 - kept out of `import art_sdk`

    return current_token().native_token
