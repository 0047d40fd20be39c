from __future__ import annotations

import asyncio
import io
import logging
import socket
import threading
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import anyio
import httpx2
import pytest

from art_sdk import HttpRequest, LLMProviderError, ResponseHead, Timeouts
from art_sdk.http.transport import Transport

REQUEST = HttpRequest("POST", "http://acme.test/v1/x", {"authorization": "Bearer k3y", "x-own": "a"}, b'{"a":1}')
Handler = Callable[[httpx2.Request], httpx2.Response]


def _receive(transport: Transport, request: HttpRequest, **how: Any) -> tuple[ResponseHead, bytes]:
    with transport.send(request, **how) as (head, chunks):
        return head, b"".join(chunks)


async def _receive_async(transport: Transport, request: HttpRequest, **how: Any) -> tuple[ResponseHead, bytes]:
    async with transport.send_async(request, **how) as (head, chunks):
        return head, b"".join([chunk async for chunk in chunks])


def _run_async(transport: Transport, request: HttpRequest, **how: Any) -> tuple[ResponseHead, bytes]:
    async def run() -> tuple[ResponseHead, bytes]:
        try:
            return await _receive_async(transport, request, **how)
        finally:
            await transport.aclose()

    return asyncio.run(run())


BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def _over(handler: Handler, *, is_async: bool, request: HttpRequest = REQUEST) -> tuple[ResponseHead, bytes]:
    mock = httpx2.MockTransport(handler)
    client = httpx2.AsyncClient(transport=mock) if is_async else httpx2.Client(transport=mock)
    transport = Transport("acme", timeouts=Timeouts(whole_call=5), http_client=client)
    return (_run_async if is_async else _receive)(transport, request)


@BOTH
def test_the_request_goes_out_as_it_is_and_the_answer_comes_back(is_async: bool) -> None:  # noqa: FBT001
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(418, headers=[("X-Request-ID", "r1"), ("a", "1"), ("a", "2")], content=b"\xff\x00")

    head, body = _over(answer, is_async=is_async)
    assert (head.status, body) == (418, b"\xff\x00")
    assert (head.headers["x-request-id"], head.headers["a"]) == ("r1", "1, 2")
    [request] = seen
    assert (request.method, str(request.url), request.content) == ("POST", REQUEST.url, REQUEST.body)
    assert {name: request.headers[name] for name in REQUEST.headers} == REQUEST.headers


def _raiser(error: Exception) -> Handler:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise error

    return handler


FAULTS = [
    (httpx2.ConnectTimeout("x"), "could not connect in time", True),
    (httpx2.ReadTimeout("x"), "took longer than its time limit", True),
    (httpx2.WriteTimeout("x"), "took longer than its time limit", True),
    (httpx2.PoolTimeout("x"), "took longer than its time limit", True),
    (httpx2.ConnectError("x"), "could not connect", True),
    (httpx2.ReadError("x"), "was cut off", True),
    (httpx2.WriteError("x"), "was cut off", True),
    (httpx2.RemoteProtocolError("x"), "was cut off, or answered by something that does not speak HTTP", True),
    (httpx2.LocalProtocolError("x"), "failed", False),
    (httpx2.ProxyError("x"), "failed", False),
    (httpx2.UnsupportedProtocol("x"), "has a base_url without http:// or https://", False),
    (httpx2.DecodingError("x"), "came back with a body that does not decompress", False),
    (httpx2.TooManyRedirects("x"), "failed", False),
    (httpx2.InvalidURL("x"), "has a base_url that is not a URL", False),
    (httpx2.StreamClosed(), "failed", False),
    (TimeoutError("x"), "took longer than its time limit", True),
]


@BOTH
@pytest.mark.parametrize(("fault", "happened", "retryable"), FAULTS, ids=[type(case[0]).__name__ for case in FAULTS])
def test_a_fault_of_the_network_is_the_provider_s(
    fault: Exception,
    happened: str,
    retryable: bool,  # noqa: FBT001
    is_async: bool,  # noqa: FBT001
) -> None:
    with pytest.raises(LLMProviderError) as caught:
        _over(_raiser(fault), is_async=is_async)
    error = caught.value
    assert error.message == f"the call to acme {happened} ({type(fault).__name__})"
    assert (error.provider, error.status, error.is_retryable, error.__cause__) == ("acme", None, retryable, fault)
    assert "k3y" not in f"{error} {error!r} {error.__cause__!r} {error.details} {vars(error)}"


@BOTH
def test_a_body_that_does_not_decompress_is_the_provider_s_fault(is_async: bool) -> None:  # noqa: FBT001
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=_Bytes(b"no gzip"))

    with pytest.raises(LLMProviderError, match="does not decompress"):
        _over(answer, is_async=is_async)


class _Bytes(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, *chunks: bytes) -> None:
        self.chunks = chunks
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self.chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


@BOTH
def test_leaving_early_closes_the_answer(is_async: bool) -> None:  # noqa: FBT001
    stream = _Bytes(b"a", b"b")
    mock = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=stream))

    async def leave_async() -> bytes:
        async with httpx2.AsyncClient(transport=mock) as client:
            transport = Transport("acme", timeouts=Timeouts(), http_client=client)
            async with transport.send_async(REQUEST) as (_, chunks):
                return await anext(chunks)

    def leave() -> bytes:
        with httpx2.Client(transport=mock) as client:
            transport = Transport("acme", timeouts=Timeouts(), http_client=client)
            with transport.send(REQUEST) as (_, chunks):
                return next(chunks)

    assert (asyncio.run(leave_async()) if is_async else leave()) == b"a"
    assert stream.is_closed


@BOTH
def test_the_caller_s_own_errors_pass_through(is_async: bool) -> None:  # noqa: FBT001
    with pytest.raises(KeyError):
        _over(_raiser(KeyError("mine")), is_async=is_async)


class _Dribble(_Bytes):
    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.chunks:
            time.sleep(0.05)
            yield chunk


def test_the_whole_call_ends_in_time_without_a_socket_to_shut() -> None:
    mock = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=_Dribble(*[b"x"] * 100)))
    transport = Transport("acme", timeouts=Timeouts(whole_call=0.2), http_client=httpx2.Client(transport=mock))
    began = time.monotonic()
    with pytest.raises(LLMProviderError, match="took longer than its time limit"):
        _receive(transport, REQUEST)
    assert 0.2 <= time.monotonic() - began < 0.45


def test_a_client_that_was_handed_in_is_left_open() -> None:
    client = httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(200)))
    transport = Transport("acme", timeouts=Timeouts(), http_client=client)
    _receive(transport, REQUEST)
    transport.close()
    assert not client.is_closed
    assert _receive(transport, REQUEST)[0].status == 200
    client.close()


def test_an_async_client_that_was_handed_in_is_left_open() -> None:
    async def run() -> bool:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda request: httpx2.Response(200)))
        transport = Transport("acme", timeouts=Timeouts(), http_client=client)
        await _receive_async(transport, REQUEST)
        await transport.aclose()
        was_open = not client.is_closed
        await client.aclose()
        return was_open

    assert asyncio.run(run())


def test_closing_what_was_never_open_is_fine() -> None:
    transport = Transport("acme", timeouts=Timeouts())
    transport.close()
    asyncio.run(transport.aclose())
    assert (transport._sync, transport._async) == (None, None)


def test_a_repr_shows_no_header_value_and_no_body() -> None:
    assert repr(REQUEST) == "HttpRequest(POST http://acme.test/v1/x, headers: authorization, x-own, body: 7 bytes)"
    assert REQUEST.__rich_repr__() == [
        ("method", "POST"),
        ("url", REQUEST.url),
        ("headers", ["authorization", "x-own"]),
    ]


# Over a real socket.

Script = Callable[[socket.socket, threading.Event], None]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
TO_THE_END = b"HTTP/1.0 200 OK\r\n\r\n"


def _dribble(connection: socket.socket, stop: threading.Event, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        connection.sendall(piece)
        if stop.wait(0.05):
            return


def _stalls(connection: socket.socket, stop: threading.Event) -> None:
    stop.wait(3)


def _stalls_in_the_body(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD + b"x")
    stop.wait(3)


def _dribbles_the_body(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD)
    _dribble(connection, stop, [b"x"] * 60)


def _dribbles_to_the_end(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(TO_THE_END)
    _dribble(connection, stop, [b"x"] * 60)


def _dribbles_and_stalls(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD)
    _dribble(connection, stop, [b"x"] * 7)
    stop.wait(3)


def _dribbles_the_head(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD[:-2])
    _dribble(connection, stop, [b"x"] * 60)


def _dribbles_chunk_extensions(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(CHUNKED + b"1;x=")
    _dribble(connection, stop, [b"y"] * 60)


def _dribbles_gzip(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD[:-2] + b"content-encoding: gzip\r\n\r\n")
    packed = zlib.compressobj(wbits=31).compress(b"x" * 50)
    _dribble(connection, stop, [packed[at : at + 1] for at in range(len(packed))])
    stop.wait(3)


LIMITS: list[tuple[Script, Timeouts, float]] = [
    (_stalls, Timeouts(first_byte=0.4), 0.4),
    (_stalls, Timeouts(whole_call=0.4), 0.4),
    (_stalls_in_the_body, Timeouts(between_bytes=0.4), 0.4),
    (_stalls_in_the_body, Timeouts(between_bytes=0.4, first_byte=None), 0.4),
    (_stalls_in_the_body, Timeouts(whole_call=0.4), 0.4),
    (_dribbles_the_body, Timeouts(whole_call=0.4), 0.4),
    (_dribbles_the_body, Timeouts(whole_call=0.4, between_bytes=None, first_byte=None, connect=None), 0.4),
    (_dribbles_to_the_end, Timeouts(whole_call=0.4), 0.4),
    (_dribbles_and_stalls, Timeouts(whole_call=0.5), 0.5),
    (_dribbles_the_head, Timeouts(whole_call=0.4), 0.4),
    (_dribbles_chunk_extensions, Timeouts(whole_call=0.4), 0.4),
    (_dribbles_gzip, Timeouts(whole_call=0.4), 0.4),
]


@BOTH
@pytest.mark.parametrize(
    ("script", "timeouts", "limit"), LIMITS, ids=[f"{case[0].__name__[1:]}-{n}" for n, case in enumerate(LIMITS)]
)
def test_a_time_limit_holds_whatever_the_server_does(
    serve: Callable[[Script], Any],
    script: Script,
    timeouts: Timeouts,
    limit: float,
    is_async: bool,  # noqa: FBT001
) -> None:
    request = HttpRequest("POST", serve(script).url, {}, b"{}")
    transport = Transport("acme", timeouts=Timeouts())
    _warm_up(transport)
    began = time.monotonic()
    with pytest.raises(LLMProviderError, match="the call to acme took longer than its time limit") as caught:
        (_run_async if is_async else _receive)(transport, request, timeouts=timeouts)
    took = time.monotonic() - began
    transport.close()
    assert limit - 0.05 <= took <= limit + 0.25
    assert caught.value.is_retryable
    assert caught.value.__cause__ is not None


def test_the_transport_s_own_limits_hold_where_a_call_has_none(serve: Callable[[Script], Any]) -> None:
    transport = Transport("acme", timeouts=Timeouts(first_byte=0.2))
    began = time.monotonic()
    with pytest.raises(LLMProviderError, match="took longer"):
        _receive(transport, HttpRequest("POST", serve(_stalls).url, {}, b"{}"))
    transport.close()
    assert time.monotonic() - began < 2


def _warm_up(transport: Transport) -> None:
    """Makes the clients: reading the certificates takes longer than some limits."""
    transport._sync_client()
    transport._async_client()


def _answers_at_once(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")


def test_a_call_within_its_limit_leaves_the_connection_for_the_next(serve: Callable[[Script], Any]) -> None:
    server = serve(_answers_at_once)
    transport = Transport("acme", timeouts=Timeouts(whole_call=5))
    request = HttpRequest("POST", server.url, {}, b"{}")
    assert [_receive(transport, request)[1] for _ in range(3)] == [b"hi"] * 3
    assert server.connections == 1
    assert not [
        thread
        for thread in threading.enumerate()
        if isinstance(thread, threading.Timer) and not thread.finished.is_set()
    ]
    transport.close()
    assert server.gone.wait(2)


def test_closing_closes_the_connections_of_both_kinds(serve: Callable[[Script], Any]) -> None:
    server = serve(_answers_at_once)
    transport = Transport("acme", timeouts=Timeouts())
    request = HttpRequest("POST", server.url, {}, b"{}")
    assert _receive(transport, request)[1] == b"hi"
    transport.close()
    assert server.gone.wait(2)
    server.gone.clear()
    assert _run_async(transport, request)[1] == b"hi"
    assert server.gone.wait(2)


def test_a_cancelled_call_is_cancelled_and_closes_its_connection(serve: Callable[[Script], Any]) -> None:
    gone = threading.Event()

    def stalls(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(HEAD + b"x")
        if not connection.recv(1):
            gone.set()

    server = serve(stalls)
    transport = Transport("acme", timeouts=Timeouts())
    _warm_up(transport)

    async def run() -> bool:
        with anyio.move_on_after(0.2) as scope:
            await _receive_async(transport, HttpRequest("POST", server.url, {}, b"{}"))
        await transport.aclose()
        return scope.cancelled_caught

    assert anyio.run(run)
    assert gone.wait(2)


def test_nobody_listening_is_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    transport = Transport("acme", timeouts=Timeouts())
    with pytest.raises(LLMProviderError, match="could not connect") as caught:
        _receive(transport, HttpRequest("POST", f"http://127.0.0.1:{port}", {}, b""))
    assert caught.value.is_retryable
    transport.close()


@pytest.mark.parametrize(
    "answer",
    [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", CHUNKED + b"5\r\nha"],
    ids=["nothing", "another protocol", "half a body", "half a chunk"],
)
@BOTH
def test_an_answer_that_is_cut_off_is_an_error(
    serve: Callable[[Script], Any],
    answer: bytes,
    is_async: bool,  # noqa: FBT001
) -> None:
    def cut(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_RDWR)

    transport = Transport("acme", timeouts=Timeouts(whole_call=5))
    with pytest.raises(LLMProviderError, match="was cut off") as caught:
        (_run_async if is_async else _receive)(transport, HttpRequest("POST", serve(cut).url, {}, b"{}"))
    transport.close()
    assert caught.value.is_retryable


def test_no_log_record_holds_the_key(serve: Callable[[Script], Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    transport = Transport("acme", timeouts=Timeouts())
    try:
        _receive(transport, HttpRequest("POST", serve(_answers_at_once).url, {"x-api-key": "k3y"}, b"{}"))
    finally:
        transport.close()
        logging.getLogger().removeHandler(handler)
    assert caplog.records
    assert "k3y" not in log.getvalue() + caplog.text + repr([vars(record) for record in caplog.records])
