"""The time limits of a call, and what enforces them where httpx2 has a limit per read only."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Mapping
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from msgspec import Meta, Struct

if TYPE_CHECKING:
    import threading

    import httpx2

_T = TypeVar("_T")

Seconds = Annotated[float, Meta(gt=0, le=1e9)]


class Timeouts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Time limits of one call, in seconds; None means no limit.

    `first_byte` runs until the head of the answer has come, `between_bytes` while waiting for the next
    bytes. `whole_call` bounds all of it, whatever the server does. It is wall-clock time from the start of
    the call, and runs on while the caller handles an event, or while a retry waits.
    """

    connect: Seconds | None = 10.0
    first_byte: Seconds | None = 600.0
    between_bytes: Seconds | None = 60.0
    whole_call: Seconds | None = None


class CallClock:
    """Applies a call's time limits to httpx2, which has a limit per read only. It starts when it is made."""

    def __init__(self, limits: Timeouts) -> None:
        self._limits = limits
        self._ends = None if limits.whole_call is None else time.monotonic() + limits.whole_call

    def left(self) -> float | None:
        """Seconds until the whole call must be over, at least 0; None without a limit."""
        return None if self._ends is None else max(self._ends - time.monotonic(), 0.0)

    def to_start(self) -> httpx2.Timeout:
        """The limits until the head of the answer has come."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        first = self._within(self._limits.first_byte)
        connect = self._within(self._limits.connect)
        return httpx2.Timeout(connect=connect, read=first, write=first, pool=connect)

    def before_each_read(self, request: httpx2.Request) -> None:
        """Sets the limit of the next reads. httpx2 takes it from the request when it first reads the body.

        Raises ReadTimeout when the whole call's time is over, since buffered bytes are read without waiting.
        """
        if self.left() == 0:
            import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

            raise httpx2.ReadTimeout(f"the whole call took longer than {self._limits.whole_call} s", request=request)
        request.extensions["timeout"]["read"] = self._within(self._limits.between_bytes)

    def _within(self, limit: float | None) -> float | None:
        left = self.left()
        if left is None:
            return limit
        left = max(left, 0.001)
        return left if limit is None else min(limit, left)


class WholeCallTimer(AbstractContextManager["WholeCallTimer", None]):
    """Ends a synchronous call that takes too long: a timer shuts its socket, so that the blocked read returns.

    httpx2 limits single reads only. On a reused connection the socket is not known before the head has
    come; until then the limit of a single read applies.
    """

    def __init__(self, whole_call: float | None) -> None:
        self._limit = whole_call
        self._timer = None if whole_call is None else self._make_timer(whole_call)
        self._stream: Any = None
        self._has_cut = False

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        if self._timer is not None:
            self._timer.cancel()
        if self._has_cut and (error is None or isinstance(error, httpx2.TransportError)):
            raise httpx2.ReadTimeout(f"the whole call took longer than {self._limit} s") from error

    def extensions(self) -> dict[str, Any]:
        """Request extensions that make httpx2 report each connection that it opens."""
        return {} if self._timer is None else {"trace": self._note_connection}

    def watch(self, response: httpx2.Response) -> None:
        """Notes the connection that the answer comes over."""
        self._stream = response.extensions.get("network_stream")

    def _note_connection(self, name: str, info: Mapping[str, Any]) -> None:
        if name in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._stream = info["return_value"]

    def _make_timer(self, whole_call: float) -> threading.Timer:
        import threading  # noqa: PLC0415 - kept out of `import art_sdk`

        return threading.Timer(whole_call, self._cut)

    def _cut(self) -> None:
        import socket  # noqa: PLC0415 - kept out of `import art_sdk`

        self._has_cut = True
        sock = None if self._stream is None else self._stream.get_extra_info("socket")
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


async def within(clock: CallClock, wanted: Awaitable[_T]) -> _T:
    """The awaited result. Raises TimeoutError when the whole call's time is over.

    One scope per step: a scope around a generator's `yield` would cancel the caller's own work.
    """
    left = clock.left()
    if left is None:
        return await wanted
    import anyio  # noqa: PLC0415 - kept out of `import art_sdk`

    with anyio.fail_after(left):
        return await wanted
