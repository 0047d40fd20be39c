"""One call over the network: request out, bytes in, events on as they come; tried again where that may help.

Each step exists twice, asynchronous and synchronous, side by side.
"""

from __future__ import annotations

import abc
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing
from typing import Final, NamedTuple, Protocol

from art_sdk.errors import LLMProviderError
from art_sdk.http.time_limits import CallClock, Timeouts
from art_sdk.http.transport import HttpRequest, ResponseHead, Transport
from art_sdk.stream import ErrorEvent, StreamEvent

LONGEST_WAIT: Final = 60.0
"""Seconds. A call is not tried again after a longer `Retry-After`: the error states it, and the caller decides."""

_FIRST_WAIT: Final = 0.5
_LONGEST_BACKOFF: Final = 8.0
_JITTER: Final = 0.25
"""As the official OpenAI and Anthropic clients wait: twice as long each time, minus up to a quarter at random."""


class StreamReader(abc.ABC):
    """Bytes in, events out, however the bytes are cut. No method raises for what a provider sends.

    Call `close` when the body has ended, or `fail` with the error that cut it off. After the event END
    there are no more events, and `is_over` is true.
    """

    is_over: bool = False

    @abc.abstractmethod
    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that these bytes complete."""

    @abc.abstractmethod
    def close(self) -> list[StreamEvent]:
        """The last events: METADATA and END, or ERROR and END."""

    @abc.abstractmethod
    def fail(self, error: LLMProviderError) -> list[StreamEvent]:
        """The last events of a body that the network cut off. An answer that was complete by then is a good one."""


class PreparedCall(Protocol):
    """What an exchange needs to know of a call: what to send, and how to read what comes back."""

    @property
    def request(self) -> HttpRequest:
        """The request."""
        ...

    @property
    def timeouts(self) -> Timeouts | None:
        """The call's own time limits, or None for the transport's."""
        ...

    def open_reader(self, head: ResponseHead) -> StreamReader:
        """A reader for the body that follows this head."""
        ...

    def fail(self, error: LLMProviderError) -> list[StreamEvent]:
        """The events of a call that failed before any answer came."""
        ...


class Exchange(NamedTuple):
    """Carries calls out over a transport, each tried again up to `retries` times."""

    transport: Transport
    retries: int = 0

    async def events(self, call: PreparedCall) -> AsyncGenerator[StreamEvent]:
        """The events of the call. Closing the generator closes the connection at once."""
        clock = self.transport.start_clock(call.timeouts)
        retries = Retries(self.retries, clock)
        wait: float | None = 0.0
        while wait is not None:
            async with aclosing(self._attempt_async(call, clock)) as events:
                async for event in events:
                    wait = retries.wait_after(event)
                    if wait is not None:
                        break
                    yield event
            if wait is not None:
                await _sleep(wait)

    def events_sync(self, call: PreparedCall) -> Generator[StreamEvent]:
        """As `events`, without an event loop."""
        clock = self.transport.start_clock(call.timeouts)
        retries = Retries(self.retries, clock)
        wait: float | None = 0.0
        while wait is not None:
            with closing(self._attempt(call, clock)) as events:
                for event in events:
                    wait = retries.wait_after(event)
                    if wait is not None:
                        break
                    yield event
            if wait is not None:
                time.sleep(wait)

    async def _attempt_async(self, call: PreparedCall, clock: CallClock) -> AsyncGenerator[StreamEvent]:
        reader: StreamReader | None = None
        try:
            async with self.transport.send_async(call.request, clock=clock) as (head, chunks):
                reader = call.open_reader(head)
                async for chunk in chunks:
                    for event in reader.feed(chunk):
                        yield event
                    if reader.is_over:
                        return
        except LLMProviderError as error:
            last = (reader or call).fail(error)
        else:
            last = reader.close()
        for event in last:
            yield event

    def _attempt(self, call: PreparedCall, clock: CallClock) -> Generator[StreamEvent]:
        reader: StreamReader | None = None
        try:
            with self.transport.send(call.request, clock=clock) as (head, chunks):
                reader = call.open_reader(head)
                for chunk in chunks:
                    yield from reader.feed(chunk)
                    if reader.is_over:
                        return
        except LLMProviderError as error:
            yield from (reader or call).fail(error)
        else:
            yield from reader.close()


class Retries:
    """The retries of one call: `most` at most, before the first event of an answer, within the whole call's time."""

    def __init__(self, most: int, clock: CallClock) -> None:
        self._most = most
        self._clock = clock
        self._tried = 0
        self._has_given = False

    def wait_after(self, event: StreamEvent) -> float | None:
        """Seconds to wait before the next try if the event is a failure to retry; None if it goes to the caller."""
        if not self._has_given and self._tried < self._most and isinstance(event, ErrorEvent):
            wait = self._wait_for(event.error) if isinstance(event.error, LLMProviderError) else None
            if wait is not None:
                self._tried += 1
                return wait
        self._has_given = True
        return None

    def _wait_for(self, error: LLMProviderError) -> float | None:
        if not error.is_retryable:
            return None
        wait = error.retry_after or _backoff(self._tried)
        left = self._clock.left()
        return wait if wait <= LONGEST_WAIT and (left is None or wait < left) else None


def _backoff(tried: int) -> float:
    import random  # noqa: PLC0415 - kept out of `import art_sdk`

    longest = min(_FIRST_WAIT * 2.0**tried, _LONGEST_BACKOFF)
    return longest * (1 - _JITTER * random.random())  # noqa: S311 - no secret: it keeps callers apart


async def _sleep(seconds: float) -> None:
    import anyio  # noqa: PLC0415 - kept out of `import art_sdk`

    await anyio.sleep(seconds)
