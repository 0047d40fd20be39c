"""What enforces the time limits of a synchronous call, where httpx2 has a limit per read only."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from enum import Enum
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from art_sdk.http.time_limits import REQUEST_STARTS, CallClock

if TYPE_CHECKING:
    from art_sdk.http.alarms import Alarms


class _Step(Enum):
    """The steps of a request that matter here."""

    OPENED = ("connect_tcp.complete", "start_tls.complete")
    STARTS = (REQUEST_STARTS,)
    SENT = ("send_request_body.complete", "send_request_body.failed", "send_request_headers.failed")


@lru_cache(maxsize=256)
def _step(name: str) -> _Step | None:
    return next((step for step in _Step if name.endswith(step.value)), None)


class SocketWatch(AbstractContextManager["SocketWatch", None]):
    """Ends a synchronous call that takes too long: another thread shuts its socket, so that the blocked read returns.

    Until the head of the answer has come, its limit counts from the start of the request; then that of the whole call.
    """

    def __init__(self, clock: CallClock) -> None:
        self._clock = clock
        self._alarms: Alarms | None = None
        self._is_set = False
        self._is_head = False
        self._stream: Any = None
        self._cut: str | None = None

    def __enter__(self) -> Self:
        left = self._clock.left()
        if left is not None or self._clock.to_head() is not None:
            from art_sdk.http.alarms import alarms  # noqa: PLC0415 - keeps `threading` out of `import art_sdk`

            self._alarms = alarms()
            self._set(left)  # a wait for a connection counts, too
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._clear()
        if self._cut is None:
            return
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        if error is None or isinstance(error, httpx2.TransportError):
            raise httpx2.ReadTimeout(self._cut) from error

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """What httpx2 calls with each step of a request: its extension `trace`."""
        step = _step(name)
        if step is _Step.OPENED:
            self._stream = info["return_value"]
            _note_writes(self._stream)
        elif step is _Step.STARTS:
            _SENDING.set(self._use)
            self._is_head = True
            self._set(self._clock.to_head())
        elif step is _Step.SENT:
            _SENDING.set(None)

    def has_head(self) -> None:
        """The head has come: from now on the limit of the whole call is watched."""
        self._is_head = False
        self._set(self._clock.left())

    def ring(self) -> None:
        """The time is over."""
        self._cut = self._clock.why(is_head=self._is_head)
        _shut(self._stream)

    def _use(self, stream: object) -> None:
        self._stream = stream

    def _set(self, seconds: float | None) -> None:
        """The time that is left from now on."""
        if seconds is None:
            self._clear()
        elif self._alarms is not None:
            self._is_set = True
            self._alarms.set(self, time.monotonic() + seconds)

    def _clear(self) -> None:
        if self._is_set and self._alarms is not None:
            self._alarms.clear(self)
            self._is_set = False


_SENDING: ContextVar[Callable[[object], None] | None] = ContextVar("sending", default=None)
"""What takes the connection that the request in hand is written to."""


def _note_writes(stream: Any) -> None:
    """Makes a connection known to whichever call writes to it: httpx2 reports it to the call that opened it only."""
    write = stream.write

    def noted(buffer: bytes, timeout: float | None = None) -> None:
        use = _SENDING.get()
        if use is not None:
            use(stream)
        write(buffer, timeout)

    stream.write = noted


def _shut(stream: Any) -> None:
    import socket  # noqa: PLC0415 - kept out of `import art_sdk`

    sock = None if stream is None else stream.get_extra_info("socket")
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
