"""The time limits of a call, and what enforces them on an event loop, where httpx2 has a limit per read only."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from msgspec import Meta, Struct

if TYPE_CHECKING:
    import httpx2

_T = TypeVar("_T")

Seconds = Annotated[float, Meta(gt=0, le=1e9)]


REQUEST_STARTS: Final = "send_request_headers.started"
"""How the name of the step ends at which a request starts, in HTTP/1.1 and HTTP/2."""


class Timeouts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Time limits of one call, in seconds; None means no limit.

    `first_byte` runs from the start of the request until the whole head of the answer has come, a wait for one of the
    client's connections included, `between_bytes` while waiting for the next bytes. `whole_call` bounds all of it,
    whatever the server does: it is wall-clock time from the start of the call, and runs on while the caller handles an
    event, or while a retry waits.
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

    def to_head(self) -> float | None:
        """Seconds from the start of the request until the whole head of the answer must be there."""
        return self._within(self._limits.first_byte)

    def to_start(self) -> httpx2.Timeout:
        """The limits until the head of the answer has come."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        first = self.to_head()
        connect = self._within(self._limits.connect)
        return httpx2.Timeout(connect=connect, read=first, write=first, pool=first)

    def before_each_read(self, request: httpx2.Request) -> None:
        """Sets the limit of the next reads. httpx2 takes it from the request when it first reads the body.

        Raises ReadTimeout when the whole call's time is over, since buffered bytes are read without waiting.
        """
        if self.left() == 0:
            import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

            raise httpx2.ReadTimeout(self.why(is_head=False), request=request)
        request.extensions["timeout"]["read"] = self._within(self._limits.between_bytes)

    def why(self, *, is_head: bool) -> str:
        """What took too long: the head of the answer, or the whole call."""
        if is_head and (self.left() or self._ends is None):
            return f"the head of the answer took longer than {self._limits.first_byte} s"
        return f"the whole call took longer than {self._limits.whole_call} s"

    def _within(self, limit: float | None) -> float | None:
        left = self.left()
        if left is None:
            return limit
        left = max(left, 0.001)
        return left if limit is None else min(limit, left)


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


class HeadScope:
    """Awaits the head of an answer: httpx2 limits single reads only, and a head may come byte by byte.

    The time runs from the start of the request, which httpx2 reports by the extension `trace`.
    """

    def __init__(self, clock: CallClock) -> None:
        self._clock = clock
        self._scope: Any = None

    async def run(self, wanted: Awaitable[_T]) -> _T:
        """The awaited result. Raises TimeoutError when the head's or the whole call's time is over."""
        import anyio  # noqa: PLC0415 - kept out of `import art_sdk`

        with anyio.fail_after(self._clock.left()) as self._scope:
            return await wanted

    async def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """What httpx2 calls with each step of a request."""
        del info
        limit = self._clock.to_head() if name.endswith(REQUEST_STARTS) else None
        if limit is not None:
            import anyio  # noqa: PLC0415 - kept out of `import art_sdk`

            self._scope.deadline = min(self._scope.deadline, anyio.current_time() + limit)
