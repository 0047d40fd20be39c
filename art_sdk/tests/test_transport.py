"""Requests out and answers back, by httpx2 clients in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator

import httpx2
import pytest

from art_sdk import HttpRequest, LLMProviderError, ResponseHead, Timeouts
from art_sdk.http.transport import Transport
from networked import BOTH, receive, receive_async, run_async
from row_tables import table

REQUEST = HttpRequest("POST", "http://acme.test/v1/x", {"authorization": "Bearer k3y", "x-own": "a"}, b'{"a":1}')
Handler = Callable[[httpx2.Request], httpx2.Response]


def _over(handler: Handler, *, is_async: bool, request: HttpRequest = REQUEST) -> tuple[ResponseHead, bytes]:
    mock = httpx2.MockTransport(handler)
    client = httpx2.AsyncClient(transport=mock) if is_async else httpx2.Client(transport=mock)
    transport = Transport("acme", timeouts=Timeouts(whole_call=5), http_client=client)
    return (run_async if is_async else receive)(transport, request)


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
    (httpx2.ConnectTimeout("x"), "timed out connecting to acme.test", True),
    (httpx2.ReadTimeout("x"), "took longer than its time limit", True),
    (httpx2.WriteTimeout("x"), "took longer than its time limit", True),
    (httpx2.PoolTimeout("x"), "took longer than its time limit", True),
    (httpx2.ConnectError("x"), "could not connect to acme.test", True),
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
@table(("fault", "happened", "retryable"), FAULTS, ids=[type(case[0]).__name__ for case in FAULTS])
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


def test_errors_show_no_user_and_no_path_of_the_address() -> None:
    request = HttpRequest("POST", "http://us3r:pa55@acme.test:8080/s3cret?key=k3y", {}, b"")
    with pytest.raises(LLMProviderError) as caught:
        _over(_raiser(httpx2.ConnectError("x")), is_async=False, request=request)
    assert caught.value.message == "the call to acme could not connect to acme.test:8080 (ConnectError)"


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
    mock = httpx2.MockTransport(lambda request: httpx2.Response(200, stream=_Dribble(*[b"x"] * 1000)))
    transport = Transport("acme", timeouts=Timeouts(whole_call=0.2), http_client=httpx2.Client(transport=mock))
    began = time.monotonic()
    with pytest.raises(LLMProviderError, match="took longer than its time limit"):
        receive(transport, REQUEST)
    assert 0.2 <= time.monotonic() - began < 20  # its body takes 50 s


def test_a_client_of_the_caller_s_is_left_open() -> None:
    client = httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(200)))
    transport = Transport("acme", timeouts=Timeouts(), http_client=client)
    receive(transport, REQUEST)
    transport.close()
    assert not client.is_closed
    assert receive(transport, REQUEST)[0].status == 200
    client.close()


def test_an_async_client_of_the_caller_s_is_left_open() -> None:
    async def run() -> bool:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda request: httpx2.Response(200)))
        transport = Transport("acme", timeouts=Timeouts(), http_client=client)
        await receive_async(transport, REQUEST)
        await transport.aclose()
        was_open = not client.is_closed
        await client.aclose()
        return was_open

    assert asyncio.run(run())


def test_closing_what_was_never_open_is_fine() -> None:
    transport = Transport("acme", timeouts=Timeouts())
    transport.close()
    asyncio.run(transport.aclose())
    transport.close()  # and again


def test_a_repr_shows_no_header_value_and_no_body() -> None:
    assert repr(REQUEST) == "HttpRequest(POST http://acme.test/v1/x, headers: authorization, x-own, body: 7 bytes)"
    assert REQUEST.__rich_repr__() == [
        ("method", "POST"),
        ("url", REQUEST.url),
        ("headers", ["authorization", "x-own"]),
    ]
