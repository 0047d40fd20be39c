"""A loopback HTTP/1.1 server that records requests: anyio for the sockets, h11 for the protocol.

It runs in a thread of its own, so that a blocking adapter cannot stop it, on any free port.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self

import anyio
import anyio.abc
import anyio.from_thread
import h11
from msgspec import Struct


class Request(Struct, frozen=True):
    """A request as it arrived. `target` is path and query; header names are lower-case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Response(Struct, frozen=True):
    """What goes back; `headers` are further ones."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[Request], Response]


class LoopbackServer:
    """`with LoopbackServer(handler) as server:` answers at `server.url` and keeps what came in `seen()`."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._lock = threading.Lock()
        self._seen: list[Request] = []
        self._stack = ExitStack()
        self.url = ""

    def __enter__(self) -> Self:
        portal = self._stack.enter_context(anyio.from_thread.start_blocking_portal())
        ended, port = portal.start_task(self._serve)
        self._stack.callback(ended.cancel)
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def seen(self, since: int = 0) -> list[Request]:
        """The requests so far, oldest first, but for the first `since`."""
        with self._lock:
            return self._seen[since:]

    @property
    def count(self) -> int:
        """How many requests there were so far."""
        with self._lock:
            return len(self._seen)

    async def _serve(self, *, task_status: anyio.abc.TaskStatus[int]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener:
            task_status.started(listener.extra(anyio.abc.SocketAttribute.local_port))
            await listener.serve(self._connection)

    async def _connection(self, stream: anyio.abc.SocketStream) -> None:
        connection = h11.Connection(h11.SERVER)
        async with stream:
            try:
                while (request := await _receive(stream, connection)) is not None:
                    with self._lock:
                        self._seen.append(request)
                    await _answer(stream, connection, self._handler(request))
                    if connection.our_state is h11.MUST_CLOSE:
                        return
                    connection.start_next_cycle()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, h11.RemoteProtocolError):
                return  # the client went away, or does not speak HTTP


async def _receive(stream: anyio.abc.SocketStream, connection: h11.Connection) -> Request | None:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event: Any = connection.next_event()
        match event:
            case h11.Request():
                head = event
            case h11.Data():
                body += event.data
            case h11.EndOfMessage() if head is not None:
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
                return Request(head.method.decode(), head.target.decode(), headers, bytes(body))
            case h11.ConnectionClosed():
                return None
            case _:
                try:
                    connection.receive_data(await stream.receive())
                except anyio.EndOfStream:
                    connection.receive_data(b"")


async def _answer(stream: anyio.abc.SocketStream, connection: h11.Connection, response: Response) -> None:
    headers = [("content-type", response.content_type), ("content-length", str(len(response.body)))]
    headers += response.headers
    pieces = [
        connection.send(h11.Response(status_code=response.status, headers=headers)),
        connection.send(h11.Data(data=response.body)),
        connection.send(h11.EndOfMessage()),
    ]
    await stream.send(b"".join(piece or b"" for piece in pieces))
