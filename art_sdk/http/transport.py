"""The only I/O of the SDK: send a request, get status, headers and byte chunks.

Faults of the network become `LLMProviderError` with the client's own exception as `__cause__`.
httpx2 is imported when the first request is sent, not before.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec import Struct

from art_sdk.errors import LLMProviderError
from art_sdk.http.clients import Clients
from art_sdk.http.secret import without_frames
from art_sdk.http.size_limits import Bound, SizeLimits
from art_sdk.http.time_limits import CallClock, HeadScope, Timeouts, within
from art_sdk.http.watching import SocketWatch

if TYPE_CHECKING:
    import httpx2


class HttpRequest(Struct, frozen=True):
    """A request, ready to be sent. Its repr shows no header values and no body: they hold keys."""

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


class Transport:
    """Sends requests for one provider, asynchronously and synchronously, over pooled connections.

    Redirects are not followed, whatever the client does otherwise: the key would go along to another host.
    A client that the caller gives is used for its own kind of call and is never closed here.
    """

    def __init__(
        self,
        provider: str,
        *,
        timeouts: Timeouts,
        size_limits: SizeLimits | None = None,
        http_client: httpx2.Client | httpx2.AsyncClient | None = None,
    ) -> None:
        self._provider = provider
        self._timeouts = timeouts
        self._sizes = size_limits or SizeLimits()
        self._clients = Clients(http_client)

    def start_clock(self, timeouts: Timeouts | None = None) -> CallClock:
        """The clock of a call that begins now, with its own limits or the transport's."""
        return CallClock(timeouts or self._timeouts)

    @contextmanager
    def send(
        self, request: HttpRequest, timeouts: Timeouts | None = None, clock: CallClock | None = None
    ) -> Generator[tuple[ResponseHead, Iterator[bytes]]]:
        """Status, headers and byte chunks of the answer. The connection is released with the context.

        A call that is tried again passes its clock, which runs on.
        """
        client = self._clients.sync()
        clock = clock or self.start_clock(timeouts)
        watch = SocketWatch(clock)
        arguments = _arguments(request, clock, watch.trace)
        with self._faults(), watch, client.stream(**arguments, follow_redirects=False) as response:
            watch.has_head()
            yield _head(response), self._chunks(response, clock)

    @asynccontextmanager
    async def send_async(
        self, request: HttpRequest, timeouts: Timeouts | None = None, clock: CallClock | None = None
    ) -> AsyncGenerator[tuple[ResponseHead, AsyncIterator[bytes]]]:
        """As `send`, asynchronously."""
        client = await self._clients.of_this_loop()
        clock = clock or self.start_clock(timeouts)
        with self._faults():
            head = HeadScope(clock)
            built = client.build_request(**_arguments(request, clock, head.trace))
            response = await head.run(client.send(built, stream=True, follow_redirects=False))
            try:
                async with aclosing(response.aiter_bytes()) as chunks:
                    yield _head(response), _AsyncChunks(chunks, built, clock, self._counter(response))
            finally:
                await response.aclose()

    def close(self) -> None:
        """Closes the connections of synchronous calls."""
        self._clients.close()

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._clients.aclose()

    def _chunks(self, response: httpx2.Response, clock: CallClock) -> Iterator[bytes]:
        chunks, counter = response.iter_bytes(), self._counter(response)
        while True:
            clock.before_each_read(response.request)
            chunk = next(chunks, None)
            if chunk is None:
                return
            yield counter.take(chunk)
            counter.check()

    def _counter(self, response: httpx2.Response) -> _ByteCounter:
        return _ByteCounter(self._provider, self._sizes.of_body(response.status_code))

    @contextmanager
    def _faults(self) -> Generator[None]:
        """Raises our errors in place of the client's."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, TimeoutError) as error:
            fault = self._fault(error)
            without_frames(error)  # the client's have the headers that were sent as local variables
            raise fault from error

    def _fault(self, error: Exception) -> LLMProviderError:
        name = type(error).__name__
        happened, retryable = next((_FAULTS[n] for n in _lineage(error) if n in _FAULTS), ("failed", False))
        text = f"the call to {self._provider} {happened.format(address=_address_of(error))} ({name})"
        return LLMProviderError(text, provider=self._provider, is_retryable=retryable)


_FAULTS: Final[Mapping[str, tuple[str, bool]]] = {
    "ConnectTimeout": ("timed out connecting to {address}", True),
    "TimeoutException": ("took longer than its time limit", True),
    "TimeoutError": ("took longer than its time limit", True),  # anyio's, at the end of the whole call
    "ConnectError": ("could not connect to {address}", True),
    "DecodingError": ("came back with a body that does not decompress", False),
    "RemoteProtocolError": ("was cut off, or answered by something that does not speak HTTP", True),
    "NetworkError": ("was cut off", True),
    "UnsupportedProtocol": ("has a base_url without http:// or https://", False),
    "InvalidURL": ("has a base_url that is not a URL", False),
}
"""What happened, and whether trying again may help, by the name of httpx2's exception or of a base of it."""


def _address_of(error: Exception) -> str:
    """The host and the port that was called. What else a URL has may be secret."""
    import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

    try:
        return error.request.url.netloc.decode() if isinstance(error, httpx2.RequestError) else _UNKNOWN
    except RuntimeError:  # the client did not note which request it was
        return _UNKNOWN


_UNKNOWN: Final = "its server"


class _ByteCounter:
    """Counts the bytes of a body, decompressed, and hands on no more than its bound allows."""

    def __init__(self, provider: str, bound: Bound) -> None:
        self._provider = provider
        self._bound = bound
        self._size = 0

    def take(self, chunk: bytes) -> bytes:
        """The chunk, or as much of it as is within the bound."""
        before, self._size = self._size, self._size + len(chunk)
        return chunk[: (self._bound.most or 0) - before] if self._bound.is_broken_by(self._size) else chunk

    def check(self) -> None:
        """Raises LLMProviderError where the last chunk was more than the bound allows."""
        if self._bound.is_broken_by(self._size):
            raise LLMProviderError(f"{self._provider} sent {self._bound}", provider=self._provider)


class _AsyncChunks:
    """The chunks of an answer, each awaited within the call's limits. No generator: nothing has to be closed."""

    def __init__(
        self, chunks: AsyncGenerator[bytes], request: httpx2.Request, clock: CallClock, counter: _ByteCounter
    ) -> None:
        self._chunks = chunks
        self._request = request
        self._clock = clock
        self._counter = counter

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        self._counter.check()
        self._clock.before_each_read(self._request)
        chunk = await within(self._clock, anext(self._chunks, None))
        if chunk is None:
            raise StopAsyncIteration
        return self._counter.take(chunk)


def _lineage(error: Exception) -> Iterator[str]:
    return (kind.__name__ for kind in type(error).__mro__)


def _arguments(request: HttpRequest, clock: CallClock, trace: Callable[..., object]) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "content": request.body,
        "timeout": clock.to_start(),
        "extensions": {"trace": trace},
    }


def _head(response: httpx2.Response) -> ResponseHead:
    return ResponseHead(response.status_code, {name.lower(): value for name, value in response.headers.items()})
