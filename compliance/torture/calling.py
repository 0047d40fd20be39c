"""Faults around a call: loops, threads, forks, cancellation, many calls at once, and redirects."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import anyio
import httpx2
from answers import FINISH, TOKEN
from faulty_server import USER, Server, head_of, sends, serving
from rows import Failed, Row

from art_compliance.provider import StrictProvider
from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter, TokenEvent

GOOD = sends(TOKEN + FINISH)
OPTIONS: dict[str, Any] = {"thread_id": "t", "stream": True}


def must(is_so: object, words: str) -> None:
    """Raises Failed unless it is so."""
    if not is_so:
        raise Failed(words)


def must_be_closed(server: Server) -> None:
    """Every connection must be closed, which the server may notice a little later."""
    ends = time.monotonic() + _PATIENCE
    while server.open and time.monotonic() < ends:
        time.sleep(0.02)
    must(server.open == 0, f"{server.open} connections are still open after {_PATIENCE} s")


_PATIENCE = 5.0


def text_of(events: list[Any]) -> str:
    """The text of an answer."""
    return "".join(event.text for event in events if isinstance(event, TokenEvent))


async def ask(adapter: OpenAIAdapter) -> str:
    """The text of an answer."""
    return text_of([event async for event in adapter.call(USER, OPTIONS)])


def ask_sync(adapter: OpenAIAdapter) -> str:
    """As `ask`."""
    return text_of(list(adapter.call_sync(USER, OPTIONS)))


def loops() -> str:
    """One adapter in several event loops, one after the other."""
    with serving(GOOD) as server:
        adapter = OpenAIAdapter(api_key="key", base_url=server.url)
        texts = [asyncio.run(ask(adapter)), asyncio.run(ask(adapter)), anyio.run(ask, adapter, backend="trio")]
        must(texts == ["a"] * 3, f"answers: {texts}")
        must_be_closed(server)
    return "3 answers, no connection left open"


def threads() -> str:
    """Fifty threads make the first calls of one adapter at once."""
    made: list[object] = []
    before = httpx2.Client.__init__

    def counted(self: httpx2.Client, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        before(self, *args, **kwargs)

    httpx2.Client.__init__ = counted  # type: ignore[method-assign]
    threading.stack_size(512 * 1024)
    barrier, texts = threading.Barrier(50), list[str]()
    with (
        StrictProvider("openai-chat") as provider,
        closing(OpenAIAdapter(api_key="key", base_url=provider.base_url)) as adapter,
    ):

        def one() -> None:
            barrier.wait()
            texts.append(ask_sync(adapter))

        working = [threading.Thread(target=one) for _ in range(50)]
        for thread in working:
            thread.start()
        for thread in working:
            thread.join(60)
    must(len(texts) == 50 and all(texts), f"{len(texts)} answers")
    must(len(made) == 1, f"{len(made)} clients were made")
    return "50 answers, 1 client"


def forks() -> str:
    """A forked process goes on with an adapter whose connection is in use in its parent."""
    with serving(GOOD) as server, closing(OpenAIAdapter(api_key="key", base_url=server.url)) as adapter:
        must(ask_sync(adapter) == "a", "the first call failed")
        before = server.connections
        child = os.fork()
        if not child:
            os._exit(0 if ask_sync(adapter) == asyncio.run(ask(adapter)) == "a" else 1)
        must(os.waitpid(child, 0)[1] == 0, "the child's calls failed")
        own = server.connections - before
        must(own == 2, f"the child opened {own} connections of its own for 2 kinds of calls")
        must(ask_sync(adapter) == "a", "the parent's next call failed")
    return "the child opens connections of its own"


def cancel(way: str, after: float) -> str:
    """A call that is cancelled after so many seconds of an endless answer."""

    def drip(connection: Any) -> None:
        connection.sendall(head_of("200 OK", "text/event-stream"))
        while True:
            connection.sendall(TOKEN)
            time.sleep(0.02)

    async def run(url: str) -> None:
        adapter = OpenAIAdapter(api_key="key", base_url=url)
        for _ in range(20):
            with anyio.move_on_after(after) as scope:
                await ask(adapter)
            must(scope.cancelled_caught, "the call was not cancelled")
        await adapter.aclose()

    with serving(drip) as server:
        anyio.run(run, server.url, backend=way)
        must_be_closed(server)
    return "20 calls end at once, no connection left open"


def leave(way: str) -> str:
    """A caller that stops reading after the first event and closes the generator."""

    async def run(url: str) -> None:
        adapter = OpenAIAdapter(api_key="key", base_url=url)
        for _ in range(20):
            events = adapter.call(USER, OPTIONS)
            await anext(events)
            await events.aclose()
        await adapter.aclose()

    with serving(sends(TOKEN * 10_000 + FINISH)) as server:
        if way == "sync":
            with closing(OpenAIAdapter(api_key="key", base_url=server.url)) as adapter:
                for _ in range(20):
                    with closing(adapter.call_sync(USER, OPTIONS)) as events:
                        next(events)
        else:
            anyio.run(run, server.url, backend=way)
        must_be_closed(server)
    return "20 calls closed, no connection left open"


def many(way: str) -> str:
    """Five hundred calls at once."""

    async def run(url: str) -> None:
        adapter = OpenAIAdapter(api_key="key", base_url=url)
        texts: list[str] = []

        async def one() -> None:
            texts.append(await ask(adapter))

        async with anyio.create_task_group() as group:
            for _ in range(500):
                group.start_soon(one)
        await adapter.aclose()
        must(len(texts) == 500 and all(texts), f"{len(texts)} answers")

    with StrictProvider("openai-chat") as provider:
        anyio.run(run, provider.base_url, backend=way)
    return "500 answers"


def redirect(make: Callable[..., Any], header: str, status: int) -> str:
    """A redirect to another host, with a client of the caller's own that follows redirects."""
    with serving(sends(b"{}", kind="application/json")) as other:
        location = f"location: {other.url.replace('127.0.0.1', 'localhost')}/elsewhere"
        with serving(sends(b"", f"{status} X", "text/plain", location)) as first:
            client = httpx2.Client(follow_redirects=True)
            with closing(client), closing(make(api_key="k3y-one", base_url=first.url, http_client=client)) as adapter:
                list(adapter.call_sync(USER, OPTIONS | {"model": "m"}))
    leaked = [request for request in other.requests if b"k3y-one" in request]
    must(not leaked, f"the key went to another host in the header {header}")
    return "the key stays" if not other.requests else "the redirect is followed without the key"


def redirects(make: Callable[..., Any], header: str) -> str:
    """Each status of a redirect."""
    return "; ".join({redirect(make, header, status) for status in (301, 302, 307, 308)})


REDIRECTS = [
    Row("redirects", f"301, 302, 307, 308 to another host, key in {header}", partial(redirects, make, header))
    for make, header in (
        (OpenAIAdapter, "authorization"),
        (AnthropicAdapter, "x-api-key"),
        (GeminiAdapter, "x-goog-api-key"),
    )
]

ROWS = [
    Row("loops, threads, processes", "asyncio.run twice, then trio", loops),
    Row("loops, threads, processes", "first calls from 50 threads", threads),
    Row("loops, threads, processes", "a fork between two calls", forks),
    *(
        Row("cancellation", f"cancelled after {after} s, {way}", partial(cancel, way, after))
        for way in ("asyncio", "trio")
        for after in (0.001, 0.1)
    ),
    *(
        Row("cancellation", f"closed after the first event, {way}", partial(leave, way))
        for way in ("sync", "asyncio", "trio")
    ),
    *(Row("many calls", f"500 calls at once, {way}", partial(many, way), 30) for way in ("asyncio", "trio")),
    *REDIRECTS,
]
