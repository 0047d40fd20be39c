"""A loopback HTTP/1.1 server that records requests and follows scripts, on anyio and h11.

It runs in its own thread, so that a blocking adapter cannot stop it, and on any free port.
"""

from __future__ import annotations

import socket
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, Final, Self

import anyio
import anyio.abc
import anyio.from_thread
import h11
from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.provider.connection import Connection
from art_compliance.provider.script import Drop, Hang, Pause, Reset, Response, Send, Start, Step


class Request(Struct, frozen=True):
    """A request as it arrived. `target` is path and query; header names are lower-case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Handler = Callable[[Request], Response]

_BACKLOG: Final = 512
_BREATH: Final = 0.01


class LoopbackServer:
    """`with LoopbackServer(handler) as server:` answers at `server.url` and keeps the requests in `seen()`.

    Leaving the `with` ends every connection, even one that hangs. Raises HarnessError for a port in use.
    """

    def __init__(self, handler: Handler, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._handler = handler
        self._address = (host, port)
        self._lock = threading.Lock()
        self._seen: list[Request] = []
        self._forgotten = 0
        self._underway = 0
        self._stack = ExitStack()
        self.url = ""

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            listener = opening.enter_context(_listen(*self._address))
            portal = opening.enter_context(anyio.from_thread.start_blocking_portal())
            ended, _ = portal.start_task(self._serve, listener)
            opening.callback(ended.cancel)
            host, port = listener.getsockname()[:2]
            self.url = f"http://{host}:{port}"
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def seen(self, since: int = 0) -> list[Request]:
        """The requests so far, oldest first, without the first `since`."""
        with self._lock:
            return self._seen[max(0, since - self._forgotten) :]

    @property
    def count(self) -> int:
        """How many requests there were so far."""
        with self._lock:
            return self._forgotten + len(self._seen)

    def forget(self) -> None:
        """Drops the requests so far."""
        with self._lock:
            self._forgotten += len(self._seen)
            self._seen.clear()

    @property
    def underway(self) -> int:
        """How many answers are under way now. A client that leaves ends its own."""
        return self._underway

    async def _serve(self, listener: socket.socket, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with anyio.create_task_group() as connections:
            task_status.started()
            while True:
                try:
                    taken, _ = listener.accept()
                except BlockingIOError:
                    await anyio.wait_readable(listener)
                except OSError:  # a client that left before it was accepted, or too many clients
                    await anyio.sleep(_BREATH)
                else:
                    connections.start_soon(self._attend, Connection(taken))

    def _handle(self, request: Request) -> Response:
        """The handler's response. A handler that raises must not stop the server."""
        try:
            return self._handler(request)
        except Exception:  # noqa: BLE001 - whatever it is, the client sees it
            return Response(500, f"the handler raised:\n{traceback.format_exc()}".encode(), "text/plain")

    async def _attend(self, connection: Connection) -> None:
        """Serves one client, request by request, until either side closes."""
        protocol = h11.Connection(h11.SERVER)
        try:
            while (request := await _receive(connection, protocol)) is not None:
                with self._lock:
                    self._seen.append(request)
                self._underway += 1
                try:
                    response = self._handle(request)
                    if request.method == "HEAD":
                        response = _head_alone(response)
                    await _Answering(connection, protocol, response).run()
                finally:
                    self._underway -= 1
                if protocol.our_state is not h11.DONE or protocol.their_state is not h11.DONE:
                    return
                protocol.start_next_cycle()
        except h11.RemoteProtocolError as error:
            await _refuse(connection, protocol, error)
        except (OSError, h11.LocalProtocolError):
            return  # the client left, or a response cannot be sent as written: other clients go on
        finally:
            connection.close()


def _head_alone(response: Response) -> Response:
    """The response to HEAD: the same without its body (RFC 9110, 9.3.2)."""
    return Response(response.status, b"", response.content_type, response.headers)


async def _refuse(connection: Connection, protocol: h11.Connection, error: h11.RemoteProtocolError) -> None:
    """Answers a client that does not speak HTTP, unless an answer has begun."""
    if protocol.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
        return
    words = f"this is not HTTP/1.1: {error}".encode()
    with suppress(OSError, h11.LocalProtocolError):
        await _Answering(connection, protocol, Response(error.error_status_hint, words, "text/plain")).run()


def _listen(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port), backlog=_BACKLOG)
    except OSError as error:
        raise HarnessError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    listener.settimeout(0)
    return listener


async def _receive(connection: Connection, protocol: h11.Connection) -> Request | None:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event: Any = protocol.next_event()
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
                if protocol.they_are_waiting_for_100_continue:
                    go_on = h11.InformationalResponse(status_code=100, headers=[])
                    await connection.send(protocol.send(go_on) or b"")
                protocol.receive_data(await connection.receive())


class _Answering:
    """A response that is being sent."""

    def __init__(self, connection: Connection, protocol: h11.Connection, response: Response) -> None:
        self._connection = connection
        self._protocol = protocol
        self._response = response

    async def run(self) -> None:
        if self._response.steps is None:
            data = h11.Data(data=self._response.body)
            await self._send(self._head(len(self._response.body)), data, h11.EndOfMessage())
            return
        for step in self._response.steps:
            if not await self._follow(step):
                return
        await self._follow(Start())
        await self._send(h11.EndOfMessage())

    async def _follow(self, step: Step) -> bool:
        """Takes the step; returns whether the script continues."""
        match step:
            case Start() | Send():
                parts = () if self._protocol.our_state is h11.SEND_BODY else (self._head(),)
                data = (h11.Data(data=step.data),) if isinstance(step, Send) and step.data else ()
                await self._send(*parts, *data)
                return True
            case Pause():
                with anyio.move_on_after(step.seconds) as passed:
                    await self._connection.wait_until_gone()
                return passed.cancelled_caught
            case Hang():
                await self._connection.wait_until_gone()
            case Drop():
                self._connection.close()
            case Reset():
                self._connection.reset()
        return False

    def _head(self, length: int | None = None) -> h11.Response:
        given = [("content-type", self._response.content_type), *self._response.headers]
        if length is not None:
            given.append(("content-length", str(length)))
        elif not any(name == "content-length" for name, _ in given):
            given.append(("transfer-encoding", "chunked"))
        return h11.Response(status_code=self._response.status, headers=given)

    async def _send(self, *events: h11.Response | h11.Data | h11.EndOfMessage) -> None:
        await self._connection.send(b"".join(self._protocol.send(event) or b"" for event in events))
