"""The only I/O of the SDK: send a request, get status, headers and byte chunks.

Faults of the network become `LLMProviderError` with the client's own exception as `__cause__`.
httpx2 is imported when the first request is sent, not before.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec import Struct

from art_sdk.errors import LLMProviderError
from art_sdk.http.time_limits import CallClock, Timeouts, WholeCallTimer, within

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

    A client that the caller gives is used for its own kind of call and is never closed here.
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
        """Status, headers and byte chunks of the answer. The connection is released with the context.

        A call that is tried again passes its clock, which runs on.
        """
        client = self._sync_client()
        clock = clock or self.start_clock(timeouts)
        timer = WholeCallTimer(clock.left())
        arguments = _arguments(request, clock, timer.extensions())
        with self._faults(), timer, client.stream(**arguments) as response:
            timer.watch(response)
            yield _head(response), self._chunks(response, clock)

    @asynccontextmanager
    async def send_async(
        self, request: HttpRequest, timeouts: Timeouts | None = None, clock: CallClock | None = None
    ) -> AsyncGenerator[tuple[ResponseHead, AsyncIterator[bytes]]]:
        """As `send`, asynchronously."""
        client = self._async_client()
        clock = clock or self.start_clock(timeouts)
        with self._faults():
            built = client.build_request(**_arguments(request, clock, {}))
            response = await within(clock, client.send(built, stream=True))
            try:
                async with aclosing(response.aiter_bytes()) as chunks:
                    yield _head(response), _AsyncChunks(chunks, built, clock)
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
        """Raises our errors in place of the client's."""
        import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, TimeoutError) as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> LLMProviderError:
        name = type(error).__name__
        happened, retryable = next((_FAULTS[n] for n in _lineage(error) if n in _FAULTS), ("failed", False))
        return LLMProviderError(
            f"the call to {self._provider} {happened} ({name})", provider=self._provider, is_retryable=retryable
        )


_FAULTS: Final[Mapping[str, tuple[str, bool]]] = {
    "ConnectTimeout": ("could not connect in time", True),
    "TimeoutException": ("took longer than its time limit", True),
    "TimeoutError": ("took longer than its time limit", True),  # anyio's, at the end of the whole call
    "ConnectError": ("could not connect", True),
    "DecodingError": ("came back with a body that does not decompress", False),
    "RemoteProtocolError": ("was cut off, or answered by something that does not speak HTTP", True),
    "NetworkError": ("was cut off", True),
    "UnsupportedProtocol": ("has a base_url without http:// or https://", False),
    "InvalidURL": ("has a base_url that is not a URL", False),
}
"""What happened, and whether trying again may help, by the name of httpx2's exception or of a base of it."""


class _AsyncChunks:
    """The chunks of an answer, each awaited within the call's limits. No generator: nothing has to be closed."""

    def __init__(self, chunks: AsyncGenerator[bytes], request: httpx2.Request, clock: CallClock) -> None:
        self._chunks = chunks
        self._request = request
        self._clock = clock

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        self._clock.before_each_read(self._request)
        chunk = await within(self._clock, anext(self._chunks, None))
        if chunk is None:
            raise StopAsyncIteration
        return chunk


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
