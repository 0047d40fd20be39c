"""A loopback HTTP/1.1 server that records requests and follows scripts, on anyio and h11.

It runs in its own thread, so that a blocking adapter cannot stop it, and on any free port. One thread serves all
clients; `ServerLimits` bound what each of them may take.
"""

from __future__ import annotations

import socket
import traceback
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Final, Self

import anyio
import anyio.abc
import anyio.from_thread
import h11
from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.provider.answering import Answering
from art_compliance.provider.connection import Connection
from art_compliance.provider.history import History
from art_compliance.provider.limits import DEFAULT, ServerLimits
from art_compliance.provider.receiving import NO_REQUEST, BadRequest, Receiving, Request
from art_compliance.provider.script import Raw, Response, Send, has_head

Handler = Callable[[Request], Response]
Refuser = Callable[[BadRequest], Response]

_BACKLOG: Final = 512
_BREATH: Final = 0.01
_LINGER: Final = 2.0
"""Seconds in which a client whose request is not read to its end may read the answer."""
_TURNED_AWAY: Final = 64
"""Connections beyond the limit that are answered at once; still further ones are closed without an answer."""


def _refuse_plainly(bad: BadRequest) -> Response:
    return Response(bad.status, bad.words.encode(), "text/plain")


class Served(Struct):
    """A request, and the beginning of the answer to it as soon as there is one."""

    request: Request
    status: int | None = None
    content_type: str = ""
    beginning: bytes = b""

    def answer(self, response: Response) -> None:
        """Notes the answer. A whole one may be large, and is not kept."""
        if has_head(response):
            self.status, self.content_type = response.status, response.content_type
        sent = (step.data for step in response.steps or () if isinstance(step, Send | Raw))
        self.beginning = response.body[:_BEGINNING] if response.steps is None else _beginning_of(sent)


def _beginning_of(sent: Iterable[bytes]) -> bytes:
    """Their first bytes. The rest, which may be long, is not joined."""
    beginning = b""
    for data in sent:
        beginning += data[:_BEGINNING]
        if len(beginning) >= _BEGINNING:
            break
    return beginning[:_BEGINNING]


_BEGINNING: Final = 4_000
"""Bytes of an answer that are kept."""

_OTHERS: Final = 3


class LoopbackServer:
    """`with LoopbackServer(handler) as server:` answers at `server.url` and keeps the latest requests in `seen()`.

    `refuse` answers a request that is not read to its end. Leaving the `with` ends every connection, even one that
    hangs. Raises HarnessError for a port in use.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        refuse: Refuser = _refuse_plainly,
        host: str = "127.0.0.1",
        port: int = 0,
        limits: ServerLimits = DEFAULT,
    ) -> None:
        self._handler = handler
        self._refuser = refuse
        self._address = (host, port)
        self._limits = limits
        self._history: History[Served] = History(limits, lambda one: len(one.request.body))
        self.others: list[str] = []
        """Method and target of the first requests that are no POST."""
        self._connected = 0
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
            self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def seen(self, since: int = 0) -> list[Request]:
        """The latest requests, oldest first, without the first `since` that there were."""
        return [one.request for one in self._history.since(since)]

    def exchange(self, number: int) -> Served | None:
        """The request of this number, counted from 1, with its answer; None if it is forgotten."""
        return self._history.at(number)

    @property
    def count(self) -> int:
        """How many requests there were so far."""
        return self._history.count

    def forget(self) -> None:
        """Drops the requests so far."""
        self._history.forget()

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
                    if self._connected >= self._limits.connections + _TURNED_AWAY:
                        taken.close()
                        continue
                    self._connected += 1
                    connections.start_soon(self._attend, taken)

    def _handle(self, request: Request) -> Response:
        """The handler's response. A handler that raises must not stop the server."""
        try:
            return self._handler(request)
        except Exception:  # noqa: BLE001 - whatever it is, the client sees it
            return Response(500, f"the handler raised:\n{traceback.format_exc()}".encode(), "text/plain")

    async def _attend(self, taken: socket.socket) -> None:
        """Serves one client until either side closes."""
        protocol = h11.Connection(h11.SERVER)
        try:
            connection = Connection(taken)
            try:
                if self._connected > self._limits.connections:
                    raise _too_many(self._limits.connections)
                await self._converse(connection, protocol)
            except BadRequest as bad:
                await self._refuse(connection, protocol, bad)
        except (OSError, h11.LocalProtocolError):
            return  # the client left, or a response cannot be sent as written: other clients go on
        finally:
            self._connected -= 1
            taken.close()

    async def _converse(self, connection: Connection, protocol: h11.Connection) -> None:
        """Answers request by request. Raises BadRequest."""
        receiving = Receiving(connection, protocol, self._limits)
        while (request := await receiving.next()) is not None:
            served = Served(request)
            self._history.add(served)
            if request.method != "POST" and len(self.others) < _OTHERS:
                self.others.append(f"{request.method} {request.target}")
            self._underway += 1
            try:
                response = self._handle(request)
                served.answer(response)
                if request.method == "HEAD":
                    response = _head_alone(response)
                await self._answer(connection, protocol, response)
            finally:
                self._underway -= 1
            if protocol.our_state is not h11.DONE or protocol.their_state is not h11.DONE:
                return
            protocol.start_next_cycle()

    async def _answer(self, connection: Connection, protocol: h11.Connection, response: Response) -> None:
        await Answering(connection, protocol, response, patience=self._limits.unread_time).run()

    async def _refuse(self, connection: Connection, protocol: h11.Connection, bad: BadRequest) -> None:
        """Answers a request that was not read to its end, and ends the connection."""
        if protocol.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        response = self._refuser(bad)
        headers = (*response.headers, ("connection", "close"))
        await self._answer(
            connection, protocol, Response(response.status, response.body, response.content_type, headers)
        )
        await connection.linger(_LINGER)


def _head_alone(response: Response) -> Response:
    """The response to HEAD: the same without its body (RFC 9110, 9.3.2)."""
    return Response(response.status, b"", response.content_type, response.headers)


def _too_many(most: int) -> BadRequest:
    return BadRequest(503, f"this server has at most {most:,} connections at once", NO_REQUEST)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise HarnessError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    listener.settimeout(0)
    return listener
