"""The only I/O of the SDK: send a request, get status, headers and byte chunks.

Faults of the network become `LLMProviderError` with the client's own exception as `__cause__`.
httpx2 is imported when the first request is sent, not before.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, TypeVar

from msgspec import Meta, Struct

from art_sdk.errors import LLMProviderError

if TYPE_CHECKING:
    import threading

    import httpx2


_T = TypeVar("_T")

Seconds = Annotated[float, Meta(gt=0, le=1e9)]


class Timeouts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Time limits of one call, in seconds; None means no limit.

    `first_byte` runs until the head of the answer has come, `between_bytes` while the next bytes are
    awaited. `whole_call` bounds the others, whatever the server does meanwhile. It is time on the wall, from
    the call's beginning: while a streamed answer's events are held, or a retry is awaited, it runs on.
    """

    connect: Seconds | None = 10.0
    first_byte: Seconds | None = 600.0
    between_bytes: Seconds | None = 60.0
    whole_call: Seconds | None = None


class HttpRequest(Struct, frozen=True):
    """A request, ready to be sent. Its repr shows no header values and no body: keys stand there."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        names = ", ".join(sorted(self.headers))
        return f"HttpRequest({self.method} {self.url}, headers: {names}, body: {len(self.body)} bytes)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # msgspec's own shows every field to rich
        return [("method", self.method), ("url", self.url), ("headers", sorted(self.headers))]


class ResponseHead(Struct, frozen=True):
    """Status and headers of an answer; header names are lower-case."""

    status: int
    headers: Mapping[str, str]


class CallClock:
    """Holds a call's time limits against httpx2, which knows only a limit per read. It runs from its making on."""

    def __init__(self, limits: Timeouts) -> None:
        self._limits = limits
        self._ends = None if limits.whole_call is None else time.monotonic() + limits.whole_call

    def left(self) -> float | None:
        """Seconds until the whole call must be over, none below 0; None where there is no limit."""
        return None if self._ends is None else max(self._ends - time.monotonic(), 0.0)

    def to_start(self) -> httpx2.Timeout:
        """The limits until the head of the answer has come."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        first = self._within(self._limits.first_byte)
        connect = self._within(self._limits.connect)
        return httpx2.Timeout(connect=connect, read=first, write=first, pool=connect)

    def before_each_read(self, request: httpx2.Request) -> None:
        """Sets the limit of the reads to come. httpx2 takes it from the request when the body's first read begins.

        Raises ReadTimeout when the whole call's time is over: what is buffered is read without waiting.
        """
        if self.left() == 0:
            import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

            message = f"the whole call took longer than {self._limits.whole_call} s"
            raise httpx2.ReadTimeout(message, request=request)
        request.extensions["timeout"]["read"] = self._within(self._limits.between_bytes)

    def _within(self, limit: float | None) -> float | None:
        left = self.left()
        if left is None:
            return limit
        left = max(left, 0.001)
        return left if limit is None else min(limit, left)


class _Scissors(AbstractContextManager["_Scissors", None]):
    """Ends a synchronous call that goes on too long: a timer shuts its socket, and the read in it comes back.

    httpx2 bounds single reads only. Between the calls on a connection that is used again, its
    socket is not known before the head has come; until then the limit of a single read holds.
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
            message = f"the whole call took longer than {self._limit} s"
            raise httpx2.ReadTimeout(message) from error

    def extensions(self) -> dict[str, Any]:
        """What httpx2 is asked for: to be told of each connection that it makes."""
        return {} if self._timer is None else {"trace": self._see}

    def hold(self, response: httpx2.Response) -> None:
        """Takes the connection that the answer comes over."""
        self._stream = response.extensions.get("network_stream")

    def _see(self, name: str, info: Mapping[str, Any]) -> None:
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


class Transport:
    """Sends requests for one provider, asynchronously and synchronously, over pooled connections.

    A client that is handed in is used for its own kind of call and is not closed here.
    """

    def __init__(
        self,
        provider: str,
        *,
        timeouts: Timeouts,
        http_client: httpx2.Client | httpx2.AsyncClient | None = None,
    ) -> None:
        self._provider = provider
        self._timeouts = timeouts
        self._given = http_client
        self._sync: httpx2.Client | None = None
        self._async: httpx2.AsyncClient | None = None

    def start_clock(self, timeouts: Timeouts | None = None) -> CallClock:
        """The clock of a call that begins now, with its own limits or the transport's."""
        return CallClock(timeouts or self._timeouts)

    @contextmanager
    def send(
        self, request: HttpRequest, timeouts: Timeouts | None = None, clock: CallClock | None = None
    ) -> Generator[tuple[ResponseHead, Iterator[bytes]]]:
        """Status, headers and byte chunks of the answer. The connection is let go with the context.

        A call that is tried again gives its clock, which runs on.
        """
        client = self._sync_client()
        clock = clock or self.start_clock(timeouts)
        scissors = _Scissors(clock.left())
        arguments = _arguments(request, clock, scissors.extensions())
        with self._faults(), scissors, client.stream(**arguments) as response:
            scissors.hold(response)
            yield _head(response), self._chunks(response, clock)

    @asynccontextmanager
    async def send_async(
        self, request: HttpRequest, timeouts: Timeouts | None = None, clock: CallClock | None = None
    ) -> AsyncGenerator[tuple[ResponseHead, AsyncIterator[bytes]]]:
        """As `send`, asynchronously."""
        client = self._async_client()
        clock = clock or self.start_clock(timeouts)
        with self._faults():
            asked = client.build_request(**_arguments(request, clock, {}))
            response = await _within(clock, client.send(asked, stream=True))
            try:
                async with aclosing(response.aiter_bytes()) as chunks:
                    yield _head(response), _AsyncChunks(chunks, asked, clock)
            finally:
                await response.aclose()

    def close(self) -> None:
        """Closes the connections of synchronous calls."""
        if self._sync is not None and self._sync is not self._given:
            self._sync.close()
        self._sync = None

    async def aclose(self) -> None:
        """Closes all connections."""
        self.close()
        if self._async is not None and self._async is not self._given:
            await self._async.aclose()
        self._async = None

    def _chunks(self, response: httpx2.Response, clock: CallClock) -> Iterator[bytes]:
        chunks = response.iter_bytes()
        while True:
            clock.before_each_read(response.request)
            chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk

    def _sync_client(self) -> httpx2.Client:
        if self._sync is None:
            import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

            self._sync = self._given if isinstance(self._given, httpx2.Client) else httpx2.Client()
        return self._sync

    def _async_client(self) -> httpx2.AsyncClient:
        if self._async is None:
            import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

            self._async = self._given if isinstance(self._given, httpx2.AsyncClient) else httpx2.AsyncClient()
        return self._async

    @contextmanager
    def _faults(self) -> Generator[None]:
        """The client's exceptions as ours."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, TimeoutError) as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> LLMProviderError:
        name = type(error).__name__
        happened, retryable = next((_FAULTS[n] for n in _lineage(error) if n in _FAULTS), ("failed", False))
        message = f"the call to {self._provider} {happened} ({name})"
        return LLMProviderError(message, provider=self._provider, is_retryable=retryable)


_FAULTS: Final[Mapping[str, tuple[str, bool]]] = {
    "ConnectTimeout": ("could not connect in time", True),
    "TimeoutException": ("took longer than its time limit", True),
    "TimeoutError": ("took longer than its time limit", True),  # anyio's, at the end of the whole call
    "ConnectError": ("could not connect", True),
    "DecodingError": ("came back with a body that does not decompress", False),
    "RemoteProtocolError": ("was cut off, or answered by something that does not speak HTTP", True),
    "NetworkError": ("was cut off", True),
    "UnsupportedProtocol": ("has a base_url without http:// or https://", False),
    "InvalidURL": ("has a base_url that is no URL", False),
}
"""By the name of httpx2's exception or a base of it: what happened, and whether trying again may help."""


class _AsyncChunks:
    """The chunks of an answer, each awaited within the call's limits. No generator: nothing is left to be closed."""

    def __init__(self, chunks: AsyncGenerator[bytes], request: httpx2.Request, clock: CallClock) -> None:
        self._chunks = chunks
        self._request = request
        self._clock = clock

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        self._clock.before_each_read(self._request)
        chunk = await _within(self._clock, anext(self._chunks, None))
        if chunk is None:
            raise StopAsyncIteration
        return chunk


async def _within(clock: CallClock, wanted: Awaitable[_T]) -> _T:
    """What is awaited, or TimeoutError at the end of the whole call.

    One scope for each step: a scope that spans a generator's `yield` would end the caller's own work.
    """
    left = clock.left()
    if left is None:
        return await wanted
    import anyio  # noqa: PLC0415 - kept out of `import art_sdk`

    with anyio.fail_after(left):
        return await wanted


def _lineage(error: Exception) -> Iterator[str]:
    return (kind.__name__ for kind in type(error).__mro__)


def _arguments(request: HttpRequest, clock: CallClock, extensions: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "content": request.body,
        "timeout": clock.to_start(),
        "extensions": extensions,
    }


def _head(response: httpx2.Response) -> ResponseHead:
    return ResponseHead(response.status_code, {name.lower(): value for name, value in response.headers.items()})
