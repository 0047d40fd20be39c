"""Reads requests from a connection, each within the limits of its size and time."""

from __future__ import annotations

from typing import Any

import anyio
import h11
from msgspec import Struct

from art_compliance.provider.connection import Connection
from art_compliance.provider.limits import ServerLimits


class Request(Struct, frozen=True):
    """A request as it arrived. `target` is path and query; header names are lower-case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


NO_REQUEST = Request("", "", {}, b"")
"""Stands for a request whose head cannot be read."""


class BadRequest(Exception):
    """A request that is not read to its end: the status of the answer, why, and as much of it as was read."""

    def __init__(self, status: int, words: str, request: Request) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.request = request


class Receiving:
    """The requests of one connection."""

    def __init__(self, connection: Connection, protocol: h11.Connection, limits: ServerLimits) -> None:
        self._connection = connection
        self._protocol = protocol
        self._limits = limits
        self._request = NO_REQUEST

    async def next(self) -> Request | None:
        """The next request, or None when the client leaves or stays silent. Raises BadRequest, OSError."""
        self._request = NO_REQUEST
        try:
            if not await self._begins() or not await self._read_head(_Part("head", self._limits.head_time)):
                return None
            body = await self._read_body(_Part("body", self._limits.body_time))
        except h11.RemoteProtocolError as error:
            raise BadRequest(error.error_status_hint, f"this is not HTTP/1.1: {error}", self._request) from error
        return Request(self._request.method, self._request.target, self._request.headers, body)

    async def _begins(self) -> bool:
        """Waits for the first byte of a request."""
        if self._protocol.trailing_data[0]:
            return True
        with anyio.move_on_after(self._limits.idle_time):
            data = await self._connection.receive()
            self._protocol.receive_data(data)
            return bool(data)
        return False

    async def _read_head(self, part: _Part) -> bool:
        """Reads the head; returns whether there is one."""
        event = await self._event(part)
        if not isinstance(event, h11.Request):
            return False
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        self._request = Request(event.method.decode(), event.target.decode(), headers, b"")
        if event.http_version not in {b"1.0", b"1.1"}:
            version = event.http_version.decode()
            raise BadRequest(505, f"this server speaks HTTP/1.1, not HTTP/{version}", self._request)
        return True

    async def _read_body(self, part: _Part) -> bytes:
        declared = self._request.headers.get("content-length", "0")
        if "transfer-encoding" not in self._request.headers and int(declared) > self._limits.body:
            raise self._too_large(f"{int(declared):,} bytes")
        body = bytearray()
        while isinstance(event := await self._event(part), h11.Data):
            body += event.data
            if len(body) > self._limits.body:
                raise self._too_large(f"more than {self._limits.body:,} bytes")
        return bytes(body)

    def _too_large(self, size: str) -> BadRequest:
        words = f"the request body has {size}; the limit is {self._limits.body:,}"
        return BadRequest(413, words, self._request)

    async def _event(self, part: _Part) -> Any:
        """The next event of the protocol, which belongs to this part of the request. Raises BadRequest."""
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            try:
                with anyio.fail_at(part.ends):  # only where it must wait: most requests arrive at once
                    await self._receive_more()
            except TimeoutError as error:
                words = f"the {part.name} of the request took longer than {part.seconds:g} s"
                raise BadRequest(408, words, self._request) from error
        return event

    async def _receive_more(self) -> None:
        if self._protocol.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=100, headers=[])
            await self._connection.send(self._protocol.send(go_on) or b"", self._limits.unread_time)
        self._protocol.receive_data(await self._connection.receive())


class _Part:
    """The head or the body of a request, and the time at which it must have arrived."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.seconds = seconds
        self.ends = anyio.current_time() + seconds
