"""One adapter in several event loops, threads and processes."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import ssl
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import anyio
import certifi
import httpx2
import pytest

from art_sdk import OpenAIAdapter, Timeouts, TokenEvent
from art_sdk.http.clients import Clients
from art_sdk.http.time_limits import CallClock
from conftest import ScriptServer
from networked import FINISH, IGNORES_GENERATORS_OF_HTTPX2, USER, Serve, adapter_to, options, says

pytestmark = IGNORES_GENERATORS_OF_HTTPX2


def say(connection: socket.socket, text: str) -> None:
    """Answers with a whole stream of one token."""
    body = says(text) + FINISH
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)


class Counting:
    """A server's script: every request is answered with the number of its connection."""

    def __init__(self) -> None:
        self.connections: dict[socket.socket, int] = {}

    def __call__(self, connection: socket.socket, stop: threading.Event) -> None:
        number = self.connections.setdefault(connection, len(self.connections))
        say(connection, f"{number}")


class Crowd:
    """A server's script: nobody gets an answer before `size` requests have come."""

    def __init__(self, size: int) -> None:
        self._all_came = threading.Barrier(size)

    def __call__(self, connection: socket.socket, stop: threading.Event) -> None:
        self._all_came.wait(60)
        say(connection, "all are here")


@pytest.fixture
def server() -> Iterator[ScriptServer]:
    started = ScriptServer(Counting())
    yield started
    started.close()


async def number_of(adapter: OpenAIAdapter) -> str:
    return "".join([event.text async for event in adapter.call(USER, options()) if isinstance(event, TokenEvent)])


def number_of_sync(adapter: OpenAIAdapter) -> str:
    return "".join(event.text for event in adapter.call_sync(USER, options()) if isinstance(event, TokenEvent))


def test_an_adapter_lives_through_several_event_loops_and_leaves_no_connection_open(server: ScriptServer) -> None:
    adapter = adapter_to(server.url)

    async def twice() -> list[str]:
        return [await number_of(adapter), await number_of(adapter)]

    numbers = [anyio.run(twice, backend=backend) for backend in ("asyncio", "asyncio", "trio", "trio", "asyncio")]
    assert numbers == [["0", "0"], ["1", "1"], ["2", "2"], ["3", "3"], ["4", "4"]]
    gc.collect()  # connections left open would warn


def test_a_loop_that_ends_closes_its_connections(server: ScriptServer) -> None:
    adapter = adapter_to(server.url)
    asyncio.run(number_of(adapter))
    assert server.gone.wait(2)


def test_an_adapter_keeps_nothing_of_loops_that_ended(server: ScriptServer) -> None:
    """Each synchronous request of a web application may have a loop of its own."""
    adapter = adapter_to(server.url)
    ended = weakref.WeakSet[asyncio.AbstractEventLoop]()

    async def call() -> None:
        ended.add(asyncio.get_running_loop())
        await number_of(adapter)

    for _ in range(3):
        asyncio.run(call())
    gc.collect()
    assert len(ended) == 0


def test_a_loop_that_was_closed_without_an_end_to_its_generators_is_kept_until_the_next() -> None:
    adapter = adapter_to("http://127.0.0.1:9")  # where nobody answers, so that no connection is left open
    kept = weakref.WeakSet[asyncio.AbstractEventLoop]()
    for _ in range(3):
        loop = asyncio.new_event_loop()
        kept.add(loop)
        loop.run_until_complete(number_of(adapter))
        loop.close()
    del loop
    gc.collect()
    assert len(kept) == 1


def test_closing_an_adapter_closes_the_connections_of_other_loops_too(server: ScriptServer) -> None:
    adapter = adapter_to(server.url)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(number_of(adapter), loop).result(5)
    assert not server.gone.is_set()
    asyncio.run(adapter.aclose())
    assert server.gone.wait(2)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    loop.close()


def test_first_calls_from_many_threads_share_one_client(server: ScriptServer, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[httpx2.Client] = []
    make = httpx2.Client.__init__

    def counted(self: httpx2.Client, *args: object, **more: object) -> None:
        made.append(self)
        make(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(httpx2.Client, "__init__", counted)
    with closing(adapter_to(server.url)) as adapter, ThreadPoolExecutor(50) as pool:
        assert len(list(pool.map(lambda _: number_of_sync(adapter), range(50)))) == 50
    assert len(made) == 1


def test_a_call_does_not_wait_until_many_others_have_ended(serve: Serve) -> None:
    adapter = adapter_to(serve(Crowd(150)).url, timeouts={"connect": 60.0, "first_byte": 60.0})

    async def crowd() -> list[str]:
        try:
            return await asyncio.gather(*(number_of(adapter) for _ in range(150)))
        finally:
            await adapter.aclose()

    assert asyncio.run(crowd()) == ["all are here"] * 150


def test_a_wait_for_a_connection_is_bounded_by_first_byte_not_by_connect() -> None:
    assert CallClock(Timeouts(connect=1.0, first_byte=30.0)).to_start().as_dict() == {
        "connect": 1.0,
        "pool": 30.0,
        "read": 30.0,
        "write": 30.0,
    }


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_uses_connections_of_its_own(server: ScriptServer) -> None:
    with closing(adapter_to(server.url)) as adapter:
        assert number_of_sync(adapter) == "0"
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            os.write(writes, f"{number_of_sync(adapter)} {asyncio.run(number_of(adapter))}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(reads, 100) == b"1 2"
        assert number_of_sync(adapter) == "0"
        os.close(reads)
        os.close(writes)


def test_clients_share_the_certificates_of_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    make = httpx2.create_ssl_context

    def create() -> ssl.SSLContext:
        read.append(os.environ["SSL_CERT_FILE"])
        return make()

    monkeypatch.setattr(httpx2, "create_ssl_context", create)
    one, two = (str(tmp_path / name) for name in ("one.pem", "two.pem"))
    for path in (one, one, two, one):
        Path(path).write_bytes(Path(certifi.where()).read_bytes())
        monkeypatch.setenv("SSL_CERT_FILE", path)
        clients = Clients()
        clients.sync()
        clients.close()
    assert read == [one, two]
