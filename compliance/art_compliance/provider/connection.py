"""A connection of the server's: bytes to and from a socket, to the letter.

The socket is the system's own, waited for by anyio: its streams close in order before they close at once, and
a reset must be the first that the client hears.
"""

from __future__ import annotations

import socket
import struct
from typing import Final

import anyio

_CHUNK: Final = 65536
_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER that lingers not: closing sends RST."""


class Connection:
    """One client. Whatever fails on the way raises OSError."""

    def __init__(self, taken: socket.socket) -> None:
        taken.settimeout(0)
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is sent alone goes alone
        self._socket = taken
        self._early = b""

    async def receive(self) -> bytes:
        """The next bytes; none when the client has closed."""
        if self._early:
            early, self._early = self._early, b""
            return early
        return await self._read()

    async def _read(self) -> bytes:
        while True:
            try:
                return self._socket.recv(_CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)

    async def send(self, data: bytes) -> None:
        """Everything, with one write where the socket takes it."""
        left = memoryview(data)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)

    async def wait_until_gone(self) -> None:
        """Returns once the client has closed. What it says meanwhile is kept for `receive`."""
        while data := await self._read():
            self._early += data

    def reset(self) -> None:
        """Closes so that the client hears RST, and nothing else."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._socket.close()

    def close(self) -> None:
        """Closes in order. May be called again."""
        self._socket.close()
