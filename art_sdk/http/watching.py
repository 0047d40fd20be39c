"""What enforces the time limits of a synchronous call, where httpx2 has a limit per read only."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from art_sdk.http.time_limits import REQUEST_STARTS, CallClock

if TYPE_CHECKING:
    import threading

_OPENED: Final = ("connect_tcp.complete", "start_tls.complete")
_SENT: Final = ("send_request_body.complete", "send_request_body.failed", "send_request_headers.failed")


class SocketWatch(AbstractContextManager["SocketWatch", None]):
    """Ends a synchronous call that takes too long: a thread shuts its socket, so that the blocked read returns.

    Until the head of the answer has come, its limit counts from the start of the request; then that of the whole call.
    """

    def __init__(self, clock: CallClock) -> None:
        self._clock = clock
        self._ends = _from_now(clock.left())
        self._is_head = False
        self._stream: Any = None
        self._cut: str | None = None
        self._wakes: threading.Condition | None = None
        self._is_over = False

    def __enter__(self) -> Self:
        if self._clock.to_head() is not None or self._ends is not None:
            import threading  # noqa: PLC0415 - kept out of `import art_sdk`

            self._wakes = threading.Condition()
            threading.Thread(target=self._watch, args=(self._wakes,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        self._set(None, is_over=True)
        if self._cut is not None and (error is None or isinstance(error, httpx2.TransportError)):
            raise httpx2.ReadTimeout(self._cut) from error

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """What httpx2 calls with each step of a request: its extension `trace`."""
        if name.endswith(_OPENED):
            self._stream = info["return_value"]
            _note_writes(self._stream)
        elif name.endswith(REQUEST_STARTS):
            _SENDING.set(self._use)
            self._set(_from_now(self._clock.to_head()), is_head=True)
        elif name.endswith(_SENT):
            _SENDING.set(None)

    def has_head(self) -> None:
        """The head has come: from now on the limit of the whole call is watched."""
        left = self._clock.left()
        self._set(_from_now(left), is_over=left is None)

    def _use(self, stream: object) -> None:
        self._stream = stream

    def _set(self, ends: float | None, *, is_head: bool = False, is_over: bool = False) -> None:
        if self._wakes is None:
            return
        with self._wakes:
            self._ends, self._is_head, self._is_over = ends, is_head, is_over
            self._wakes.notify()

    def _watch(self, wakes: threading.Condition) -> None:
        with wakes:
            while not self._is_over:
                left = None if self._ends is None else self._ends - time.monotonic()
                if left is not None and left <= 0:
                    self._cut = self._clock.why(is_head=self._is_head)
                    _shut(self._stream)
                    return
                wakes.wait(left)


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


def _from_now(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds
