"""A connection of the server: bytes to and from a socket, exactly as given.

It is a plain socket, and anyio only waits for it: anyio's own streams close in order first, but a reset must be the
first thing that the client sees.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import Final

import anyio
import anyio.lowlevel

_CHUNK: Final = 65536
_MOST_EARLY: Final = 2**20
"""The most bytes that are kept of what a client sends before it is its turn."""
_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER with no time to linger: closing sends RST."""


class Connection:
    """One client. Every failure raises OSError."""

    def __init__(self, taken: socket.socket) -> None:
        taken.settimeout(0)
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # every write leaves at once, by itself
        self._socket = taken
        self._early = b""
        self._has_waited = True

    async def receive(self) -> bytes:
        """The next bytes; empty when the client has closed."""
        if self._early:
            early, self._early = self._early, b""
            return early
        return await self._read()

    async def _read(self) -> bytes:
        if not self._has_waited:  # a client that never stops sending must not keep others waiting
            await anyio.lowlevel.checkpoint()
        self._has_waited = False
        while True:
            try:
                return self._socket.recv(_CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
                self._has_waited = True

    async def send(self, data: bytes, patience: float) -> None:
        """Sends everything, with one write if the socket takes it; else it waits, in all for `patience` seconds."""
        left = self._send_some(memoryview(data))
        if left:
            with anyio.fail_after(patience):  # its TimeoutError is an OSError
                while left:
                    await anyio.wait_writable(self._socket)
                    left = self._send_some(left)

    def _send_some(self, data: memoryview) -> memoryview:
        """Sends as much as the socket takes, and returns the rest."""
        try:
            return data[self._socket.send(data) :]
        except BlockingIOError:
            return data

    async def wait_until_gone(self) -> None:
        """Returns when the client has closed, or sends without end. What arrives meanwhile is kept for `receive`."""
        while len(self._early) < _MOST_EARLY and (data := await self._read()):
            self._early += data

    async def linger(self, seconds: float) -> None:
        """Ends our side, and drops what arrives until the client ends its own: else it may lose our last bytes."""
        with suppress(OSError), anyio.move_on_after(seconds):
            self._socket.shutdown(socket.SHUT_WR)
            while await self._read():
                continue

    def reset(self) -> None:
        """Closes with an RST and nothing else."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._socket.close()

    def close(self) -> None:
        """Closes in order. May be called again."""
        self._socket.close()
