"""Time limits and connections over real sockets."""

from __future__ import annotations

import io
import logging
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest

from art_sdk import HttpRequest, LLMProviderError, Timeouts
from art_sdk.http.transport import Transport
from networked import BOTH, new_client, receive, receive_async, run_async
from row_tables import table

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
    stop.wait(60)


def _stalls_in_the_body(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD + b"x")
    stop.wait(60)


def _dribbles_the_body(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD)
    _dribble(connection, stop, [b"x"] * 1200)


def _dribbles_to_the_end(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(TO_THE_END)
    _dribble(connection, stop, [b"x"] * 1200)


def _dribbles_and_stalls(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD)
    _dribble(connection, stop, [b"x"] * 7)
    stop.wait(60)


def _dribbles_the_head(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD[:-2])
    _dribble(connection, stop, [b"x"] * 1200)


def _sends_nothing_but_102(connection: socket.socket, stop: threading.Event) -> None:
    _dribble(connection, stop, [b"HTTP/1.1 102 Processing\r\n\r\n"] * 1200)


def _dribbles_chunk_extensions(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(CHUNKED + b"1;x=")
    _dribble(connection, stop, [b"y"] * 1200)


def _dribbles_gzip(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD[:-2] + b"content-encoding: gzip\r\n\r\n")
    packed = zlib.compressobj(wbits=31).compress(b"x" * 50)
    _dribble(connection, stop, [packed[at : at + 1] for at in range(len(packed))])
    stop.wait(60)


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
    (_dribbles_the_head, Timeouts(first_byte=0.4), 0.4),
    (_sends_nothing_but_102, Timeouts(first_byte=0.4), 0.4),
    (_sends_nothing_but_102, Timeouts(whole_call=0.4), 0.4),
    (_dribbles_chunk_extensions, Timeouts(whole_call=0.4), 0.4),
    (_dribbles_gzip, Timeouts(whole_call=0.4), 0.4),
]


@BOTH
@table(("script", "timeouts", "limit"), LIMITS, ids=[f"{case[0].__name__[1:]}-{n}" for n, case in enumerate(LIMITS)])
def test_a_time_limit_ends_the_call_whatever_the_server_does(
    serve: Callable[[Script], Any],
    script: Script,
    timeouts: Timeouts,
    limit: float,
    is_async: bool,  # noqa: FBT001
) -> None:
    request = HttpRequest("POST", serve(script).url, {}, b"{}")
    client = new_client(is_async=is_async)
    transport = Transport("acme", timeouts=Timeouts(), http_client=client)
    send = partial(run_async, client=client) if is_async else receive
    began = time.monotonic()
    with pytest.raises(LLMProviderError, match="the call to acme took longer than its time limit") as caught:
        send(transport, request, timeouts=timeouts)
    took = time.monotonic() - began
    if isinstance(client, httpx2.Client):
        client.close()
    assert limit - 0.05 <= took <= limit + 20  # the servers go on for a minute
    assert caught.value.is_retryable
    assert caught.value.__cause__ is not None


@BOTH
@pytest.mark.parametrize("timeouts", [Timeouts(first_byte=0.4), Timeouts(whole_call=0.4)], ids=["head", "call"])
@pytest.mark.parametrize("script", [_dribbles_the_head, _sends_nothing_but_102])
def test_a_time_limit_ends_a_call_over_a_connection_that_was_used_before(
    serve: Callable[[Script], Any],
    script: Script,
    timeouts: Timeouts,
    is_async: bool,  # noqa: FBT001
) -> None:
    requests: list[int] = []

    def answers_once(connection: socket.socket, stop: threading.Event) -> None:
        requests.append(connection.fileno())
        if len(requests) == 1:
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx")
        else:
            script(connection, stop)

    request = HttpRequest("POST", serve(answers_once).url, {}, b"{}")
    transport = Transport("acme", timeouts=Timeouts())
    began = time.monotonic()

    async def twice() -> None:
        assert (await receive_async(transport, request))[1] == b"x"
        try:
            await receive_async(transport, request, timeouts=timeouts)
        finally:
            await transport.aclose()

    def twice_sync() -> None:
        assert receive(transport, request)[1] == b"x"
        try:
            receive(transport, request, timeouts=timeouts)
        finally:
            transport.close()

    with pytest.raises(LLMProviderError, match="took longer than its time limit"):
        anyio.run(twice) if is_async else twice_sync()
    assert time.monotonic() - began < 20
    assert len(requests) == 2
    assert len(set(requests)) == 1


def test_the_transport_s_own_limits_apply_to_a_call_without_limits(serve: Callable[[Script], Any]) -> None:
    transport = Transport("acme", timeouts=Timeouts(first_byte=0.2))
    began = time.monotonic()
    with pytest.raises(LLMProviderError, match="took longer"):
        receive(transport, HttpRequest("POST", serve(_stalls).url, {}, b"{}"))
    transport.close()
    assert time.monotonic() - began < 20


def _answers_at_once(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")


def test_a_call_within_its_limit_leaves_the_connection_for_the_next(serve: Callable[[Script], Any]) -> None:
    server = serve(_answers_at_once)
    transport = Transport("acme", timeouts=Timeouts(whole_call=5))
    request = HttpRequest("POST", server.url, {}, b"{}")
    assert [receive(transport, request)[1] for _ in range(3)] == [b"hi"] * 3
    assert server.connections == 1
    assert not [
        thread
        for thread in threading.enumerate()
        if isinstance(thread, threading.Timer) and not thread.finished.is_set()
    ]
    transport.close()
    assert server.gone.wait(20)


def test_closing_closes_the_connections_of_both_kinds(serve: Callable[[Script], Any]) -> None:
    server = serve(_answers_at_once)
    transport = Transport("acme", timeouts=Timeouts())
    request = HttpRequest("POST", server.url, {}, b"{}")
    assert receive(transport, request)[1] == b"hi"
    transport.close()
    assert server.gone.wait(20)
    server.gone.clear()
    assert run_async(transport, request)[1] == b"hi"
    assert server.gone.wait(20)


def test_a_cancelled_call_is_cancelled_and_closes_its_connection(serve: Callable[[Script], Any]) -> None:
    gone = threading.Event()

    def stalls(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(HEAD + b"x")
        if not connection.recv(1):
            gone.set()

    server = serve(stalls)
    client = httpx2.AsyncClient()
    transport = Transport("acme", timeouts=Timeouts(), http_client=client)

    async def run() -> bool:
        async with anyio.create_task_group() as group:
            group.start_soon(receive_async, transport, HttpRequest("POST", server.url, {}, b"{}"))
            assert await anyio.to_thread.run_sync(server.asked.wait, 20)
            await anyio.sleep(0.1)
            group.cancel_scope.cancel()
        await client.aclose()
        return group.cancel_scope.cancelled_caught

    assert anyio.run(run)
    assert gone.wait(20)


def test_a_port_without_a_server_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    transport = Transport("acme", timeouts=Timeouts())
    with pytest.raises(LLMProviderError, match="could not connect") as caught:
        receive(transport, HttpRequest("POST", f"http://127.0.0.1:{port}", {}, b""))
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
        (run_async if is_async else receive)(transport, HttpRequest("POST", serve(cut).url, {}, b"{}"))
    transport.close()
    assert caught.value.is_retryable


def test_no_log_record_shows_the_key(serve: Callable[[Script], Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    transport = Transport("acme", timeouts=Timeouts())
    try:
        receive(transport, HttpRequest("POST", serve(_answers_at_once).url, {"x-api-key": "k3y"}, b"{}"))
    finally:
        transport.close()
        logging.getLogger().removeHandler(handler)
    assert caplog.records
    assert "k3y" not in log.getvalue() + caplog.text + repr([vars(record) for record in caplog.records])
