"""The server does with its socket what a script says, and leaves nothing behind."""

from __future__ import annotations

import gc
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from art_compliance.findings import HarnessError
from art_compliance.provider import Drop, Hang, Pause, Reset, Response, Send, Start, Step, in_one_write
from art_compliance.provider.server import LoopbackServer

HEAD = b"HTTP/1.1 200 \r\ncontent-type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
REQUEST = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


def script(*steps: Step, **settings: object) -> Response:
    return Response(200, content_type="text/plain", steps=steps, **settings)  # type: ignore[arg-type]


@contextmanager
def asked(response: Response) -> Iterator[socket.socket]:
    with LoopbackServer(lambda _: response) as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            client.sendall(REQUEST)
            yield client


def everything(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(65536), b""))


def read(client: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size:
        more = client.recv(size - len(got))
        if not more:
            break
        got += more
    return got


def test_each_send_is_one_chunk_and_the_end_is_marked():
    with asked(script(Send(b"ab"), Send("\u2713".encode()))) as client:
        client.shutdown(socket.SHUT_WR)
        assert everything(client) == HEAD + b"2\r\nab\r\n" + b"3\r\n\xe2\x9c\x93\r\n" + b"0\r\n\r\n"


def test_pieces_that_follow_each_other_are_joined_and_nothing_else():
    steps = (Send(b"a"), Send(b"b"), Pause(0.1), Send(b"c"), Send(b""), Drop())
    assert in_one_write(script(*steps)) == script(Send(b"ab"), Pause(0.1), Send(b"c"), Drop())
    assert in_one_write(Response(200, b"{}")) == Response(200, b"{}")


def test_a_script_of_nothing_is_an_empty_body_and_the_connection_is_used_again():
    with asked(script()) as client:
        for _ in range(2):
            assert read(client, len(HEAD) + 5) == HEAD + b"0\r\n\r\n"
            client.sendall(REQUEST)


@pytest.mark.parametrize(
    ("steps", "received"),
    [
        ((Send(b"ab"), Drop()), HEAD + b"2\r\nab\r\n"),
        ((Start(), Drop()), HEAD),
        ((Drop(),), b""),
    ],
)
def test_a_drop_closes_the_connection_at_once(steps: tuple[Step, ...], received: bytes):
    with asked(script(*steps)) as client:
        assert everything(client) == received


@pytest.mark.parametrize(
    ("steps", "received"), [((Send(b"ab"), Pause(0.1), Reset()), HEAD + b"2\r\nab\r\n"), ((Reset(),), b"")]
)
def test_a_reset_reaches_the_client_as_a_reset(steps: tuple[Step, ...], received: bytes):
    with asked(script(*steps)) as client:
        assert read(client, len(received)) == received
        with pytest.raises(ConnectionResetError):
            client.recv(1)


def test_a_body_may_be_shorter_than_its_head_promises():
    with asked(script(Send(b"half"), Drop(), headers=(("content-length", "8"),))) as client:
        said = everything(client)
    assert b"content-length: 8\r\n" in said
    assert b"hunked" not in said
    assert said.endswith(b"\r\n\r\nhalf")


def test_a_pause_keeps_its_time():
    began = time.perf_counter()
    with asked(script(Send(b"ab"), Pause(0.3), Send(b"cd"))) as client:
        assert read(client, len(HEAD) + 7 + 12).endswith(b"2\r\ncd\r\n0\r\n\r\n")
        assert time.perf_counter() - began > 0.29


def test_what_is_sent_arrives_at_once():
    with asked(script(Send(b"ab"), Hang())) as client:
        assert read(client, len(HEAD) + 7).endswith(b"ab\r\n")


@pytest.mark.parametrize("steps", [(Hang(),), (Start(), Hang()), (Send(b"ab"), Hang()), (Pause(60),)])
def test_a_hanging_client_is_released_when_the_server_stops(steps: tuple[Step, ...]):
    with asked(script(*steps)) as client:
        time.sleep(0.1)
        ended = time.perf_counter()
    assert time.perf_counter() - ended < 20
    assert client.fileno() == -1


def test_a_hang_ends_when_the_client_leaves():
    with LoopbackServer(lambda _: script(Start(), Hang())) as server:
        host, port = server.url.removeprefix("http://").split(":")
        before = open_sockets()
        for _ in range(5):
            with socket.create_connection((host, int(port))) as client:
                client.sendall(REQUEST)
                assert read(client, len(HEAD)) == HEAD
        deadline = time.monotonic() + 30
        while open_sockets() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert open_sockets() <= before


def open_sockets() -> int:
    links = (path for path in Path("/proc/self/fd").iterdir())
    return sum(1 for link in links if _names_a_socket(link))


def _names_a_socket(link: Path) -> bool:
    try:
        return link.readlink().name.startswith("socket:")
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted where Linux tells them")
def test_no_socket_and_no_thread_is_left_when_it_ends_while_clients_hang():
    gc.collect()
    sockets, threads = open_sockets(), threading.active_count()
    for steps in ((Hang(),), (Send(b"a"), Hang()), (Pause(60),), (Send(b"a"), Reset())):
        with asked(script(*steps)):
            time.sleep(0.05)
    assert (open_sockets(), threading.active_count()) == (sockets, threads)


def test_a_request_sent_early_is_answered_after_a_pause():
    with asked(script(Pause(0.2), Send(b"ab"))) as client:
        time.sleep(0.05)
        client.sendall(REQUEST)
        whole = HEAD + b"2\r\nab\r\n0\r\n\r\n"
        assert read(client, 2 * len(whole)) == whole * 2


def test_a_client_that_expects_100_continue_gets_it():
    with LoopbackServer(lambda request: Response(200, request.body)) as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            client.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 100")
            client.sendall(b"ok")
            client.shutdown(socket.SHUT_WR)
            assert everything(client).endswith(b"ok")


def test_a_port_in_use_is_an_error():
    with LoopbackServer(lambda _: Response(200)) as server:
        port = int(server.url.rsplit(":", 1)[1])
        with pytest.raises(HarnessError, match=f"cannot listen on 127.0.0.1:{port}: "):
            LoopbackServer(lambda _: Response(200), port=port).__enter__()


def test_many_clients_are_answered_at_once():
    with LoopbackServer(lambda _: script(Pause(1), Send(b"ab"))) as server:
        began = time.perf_counter()
        threads = [threading.Thread(target=httpx2.get, args=(server.url,), kwargs={"timeout": 60}) for _ in range(20)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert server.count == 20
        assert time.perf_counter() - began < 19  # one after the other would take 20 s


ODD = {
    "a HEAD": (b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n", b"HTTP/1.1 200 "),
    "no HTTP": (b"HELLO\r\n\r\n", b"HTTP/1.1 400 "),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 400 "),
    "a head without end": (b"GET / HTTP/1.1\r\nhost: x\r\nx-long: " + b"a" * 20_000, b"HTTP/1.1 431 "),
    "a broken chunk": (
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 400 ",
    ),
    "an old client": (b"POST / HTTP/1.0\r\ncontent-length: 0\r\n\r\n", b"HTTP/1.1 200 "),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_request_is_answered_and_does_not_disturb_others(name: str):
    sent, begins = ODD[name]
    with LoopbackServer(lambda _: Response(200, b"{}")) as server:
        port = int(server.url.rpartition(":")[2])
        for data, wanted in ((sent, begins), (b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", b"HTTP/1.1 200 ")):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                client.sendall(data)
                assert client.recv(65536).startswith(wanted)
