"""Sends a response over a connection, whole or step by step."""

from __future__ import annotations

import anyio
import h11

from art_compliance.provider.connection import Connection
from art_compliance.provider.script import Announce, Crawl, Drop, Hang, Pause, Raw, Reset, Response, Send, Start, Step


class Answering:
    """A response that is being sent. Raises OSError when the client leaves or does not read for `patience` seconds."""

    def __init__(
        self, connection: Connection, protocol: h11.Connection, response: Response, *, patience: float
    ) -> None:
        self._connection = connection
        self._protocol = protocol
        self._response = response
        self._patience = patience

    async def run(self) -> None:
        """Sends all of it."""
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
            case Announce():
                await self._send(h11.InformationalResponse(status_code=step.status, headers=[]))
                return True
            case Raw():
                await self._connection.send(step.data, self._patience)
                return True
            case Crawl():
                return await self._crawl(step.seconds)
            case Pause():
                return await self._pause(step.seconds)
            case Hang():
                await self._connection.wait_until_gone()
            case Drop():
                self._connection.close()
            case Reset():
                self._connection.reset()
        return False

    async def _pause(self, seconds: float) -> bool:
        """Waits; returns whether the client is still there."""
        with anyio.move_on_after(seconds) as passed:
            await self._connection.wait_until_gone()
        return passed.cancelled_caught

    async def _crawl(self, seconds: float) -> bool:
        head = self._protocol.send(self._head()) or b""
        for at in range(len(head)):
            await self._connection.send(head[at : at + 1], self._patience)
            if not await self._pause(seconds):
                return False
        return True

    def _head(self, length: int | None = None) -> h11.Response:
        given = [("content-type", self._response.content_type), *self._response.headers]
        if length is not None:
            given.append(("content-length", str(length)))
        elif not any(name == "content-length" for name, _ in given):
            given.append(("transfer-encoding", "chunked"))
        return h11.Response(status_code=self._response.status, headers=given)

    async def _send(self, *events: h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage) -> None:
        data = b"".join([self._protocol.send(event) or b"" for event in events])
        await self._connection.send(data, self._patience)
