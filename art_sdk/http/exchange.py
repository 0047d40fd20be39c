"""One call over the network: request out, bytes in, events on as they come; async and sync, side by side."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from typing import NamedTuple

from art_sdk.adapters.answers import CallInfo, failure_events
from art_sdk.adapters.streaming import StreamReader
from art_sdk.errors import LLMProviderError
from art_sdk.http.retries import Retries
from art_sdk.http.transport import CallClock, HttpRequest, ResponseHead, Timeouts, Transport
from art_sdk.stream import StreamEvent

OpenReader = Callable[[ResponseHead, CallInfo, bool], StreamReader]


class Prepared(NamedTuple):
    """A call up to its I/O: the request, and what is needed to read its answer."""

    request: HttpRequest
    info: CallInfo
    timeouts: Timeouts | None
    stream: bool = False


class Exchange(NamedTuple):
    """What carries calls out: a transport, who reads an answer whose head has come, and how often a call is retried."""

    transport: Transport
    open_reader: OpenReader
    retries: int = 0

    async def events(self, prepared: Prepared) -> AsyncGenerator[StreamEvent]:
        """The events of the call. Closing the generator lets the connection go at once."""
        clock = self.transport.start_clock(prepared.timeouts)
        retries = Retries(self.retries, clock)
        wait: float | None = 0.0
        while wait is not None:
            async with aclosing(self._attempt_async(prepared, clock)) as events:
                async for event in events:
                    wait = retries.wait_after(event)
                    if wait is not None:
                        break
                    yield event
            if wait is not None:
                await _sleep(wait)

    def events_sync(self, prepared: Prepared) -> Generator[StreamEvent]:
        """As `events`, without an event loop."""
        clock = self.transport.start_clock(prepared.timeouts)
        retries = Retries(self.retries, clock)
        wait: float | None = 0.0
        while wait is not None:
            with closing(self._attempt(prepared, clock)) as events:
                for event in events:
                    wait = retries.wait_after(event)
                    if wait is not None:
                        break
                    yield event
            if wait is not None:
                time.sleep(wait)

    async def _attempt_async(self, prepared: Prepared, clock: CallClock) -> AsyncGenerator[StreamEvent]:
        reader: StreamReader | None = None
        try:
            async with self.transport.send_async(prepared.request, clock=clock) as (head, chunks):
                reader = self.open_reader(head, prepared.info, prepared.stream)
                async for chunk in chunks:
                    for event in reader.feed(chunk):
                        yield event
                    if reader.is_over:
                        return
        except LLMProviderError as error:
            last = _fail(reader, error, prepared.info)
        else:
            last = reader.close()
        for event in last:
            yield event

    def _attempt(self, prepared: Prepared, clock: CallClock) -> Generator[StreamEvent]:
        reader: StreamReader | None = None
        try:
            with self.transport.send(prepared.request, clock=clock) as (head, chunks):
                reader = self.open_reader(head, prepared.info, prepared.stream)
                for chunk in chunks:
                    yield from reader.feed(chunk)
                    if reader.is_over:
                        return
        except LLMProviderError as error:
            yield from _fail(reader, error, prepared.info)
        else:
            yield from reader.close()


def _fail(reader: StreamReader | None, error: LLMProviderError, info: CallInfo) -> list[StreamEvent]:
    return list(failure_events(error, info)) if reader is None else reader.fail(error)


async def _sleep(seconds: float) -> None:
    import anyio  # noqa: PLC0415 - kept out of `import art_sdk`

    await anyio.sleep(seconds)
