"""How much of a server one client may take, and how much the server remembers."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class ServerLimits(Struct, frozen=True, kw_only=True):
    """Sizes in bytes, times in seconds. A request beyond a limit gets an error answer, and its connection ends."""

    body: int = 32 * 2**20
    """The body of a request, of the size that providers document: beyond it, the answer is 413."""
    head_time: float = 10.0
    """From the first byte of a request to the end of its head: after it, the answer is 408."""
    body_time: float = 60.0
    """From the end of the head to the end of the body: after it, the answer is 408."""
    idle_time: float = 120.0
    """Without a request on an open connection: after it, the connection is closed."""
    unread_time: float = 60.0
    """Until the client reads more of an answer: after it, the connection is closed."""
    connections: int = 900
    """At once: a further one is answered 503. Processes may often have 1,024 files open."""
    kept: int = 1000
    """Requests that are remembered, the latest ones."""
    kept_bytes: int = 64 * 2**20
    """Their bodies together. The latest request is remembered whatever its size."""


DEFAULT: Final = ServerLimits()
