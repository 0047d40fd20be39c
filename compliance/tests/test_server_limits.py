"""What the strict provider answers to requests that are broken, endless or too large, byte by byte over sockets."""

from __future__ import annotations

import gc
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import httpx2
import msgspec
import pytest

from art_compliance.provider import Asked, LoopbackProvider, StrictProvider
from art_compliance.provider.limits import ServerLimits
from art_compliance.provider.values import make_value
from art_compliance.scenarios import WrittenAnswer
from strict_requests import HELLO, KEYS, PATHS, each, post, words

LIMITS = ServerLimits(body=2000, kept=5, connections=6)
HASTY = ServerLimits(head_time=1.0, body_time=1.2, idle_time=1.0)
BODY = json.dumps(HELLO["openai-chat"]).encode()
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer any\r\n"


def with_length(body: bytes = BODY, length: object = None) -> bytes:
    return HEAD + b"content-length: %s\r\n\r\n" % str(len(body) if length is None else length).encode() + body


def chunked(*lines: bytes) -> bytes:
    return HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"".join(lines)


GOOD = with_length()


@pytest.fixture(scope="module")
def provider() -> Iterator[StrictProvider]:
    with StrictProvider("openai-chat", limits=LIMITS) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty_provider() -> Iterator[StrictProvider]:
    with StrictProvider("openai-chat", limits=HASTY) as opened:
        yield opened


def connect(provider: StrictProvider | LoopbackProvider) -> socket.socket:
    host, port = provider.url.removeprefix("http://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=60)


def converse(provider: StrictProvider, *pieces: bytes, ends: bool = True) -> bytes:
    """Everything that comes back until the server closes. With `ends`, the client ends its side first."""
    with connect(provider) as client:
        for piece in pieces:
            client.sendall(piece)
        if ends:
            client.shutdown(socket.SHUT_WR)
        received = b""
        with suppress(ConnectionResetError):
            while data := client.recv(65536):
                received += data
    return received


def statuses(received: bytes) -> list[int]:
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]


BROKEN: dict[str, tuple[bytes, list[int], str]] = {
    "no request line": (b"hello\r\n\r\n", [400], "illegal request line"),
    "bytes of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xa5" * 64, [400], "this is not HTTP/1.1"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505], "not HTTP/2.0"),
    "a control character in the path": (b"GET /\x1b[2J HTTP/1.1\r\nhost: x\r\n\r\n", [400], "illegal request line"),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", [400], "Host"),
    "a head that is too long": (b"GET / HTTP/1.1\r\nx: " + b"x" * 200_000, [431], "too long"),
    "a negative length": (with_length(length=-5), [400], "Content-Length"),
    "a length that is no number": (with_length(length="1e3"), [400], "Content-Length"),
    "a length of 5,000 digits": (with_length(length="9" * 5000), [400], "Content-Length"),
    "two lengths": (with_length(length=f"{len(BODY)}\r\ncontent-length: 3"), [400], "Content-Length"),
    "a length that is too large": (with_length(length=3000), [413], "has 3,000 bytes; the limit is 2,000"),
    "a body shorter than its length": (with_length(length=len(BODY) + 9), [400], "peer closed connection"),
    "chunks that are too large together": (
        chunked(*[b"3e8\r\n" + b" " * 1000 + b"\r\n"] * 3),
        [413],
        "more than 2,000",
    ),
    "a chunk longer than its length": (chunked(b"2\r\nabcd\r\n0\r\n\r\n"), [400], "this is not HTTP/1.1"),
    "a chunk without a length": (chunked(b"zz\r\nabcd\r\n"), [400], "illegal chunk header"),
    "a chunk of negative length": (chunked(b"-1\r\nabcd\r\n"), [400], "illegal chunk header"),
    "chunks without an end": (chunked(b"2\r\n{}\r\n"), [400], "peer closed connection"),
    "a chunk line without an end": (chunked(b"1;" + b"x" * 200_000), [431], "too long"),
    "an unknown coding": (HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n", [501], "Transfer-Encoding"),
}


@pytest.mark.parametrize(("sent", "answered", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_request_gets_one_answer_in_the_dialects_form_and_a_close(
    provider: StrictProvider, sent: bytes, answered: list[int], said: str
):
    received = converse(provider, sent)
    assert statuses(received) == answered
    assert said in json.loads(received.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert b"Traceback" not in received


WELL: dict[str, tuple[bytes, list[int]]] = {
    "nothing": (b"", []),
    "two requests in one write": (GOOD + GOOD, [200, 200]),
    "a good request and a broken one": (GOOD + b"junk\r\n\r\n", [200, 400]),
    "HTTP/1.0": (GOOD.replace(b"HTTP/1.1", b"HTTP/1.0"), [200]),
    "a length that is given twice": (with_length(length=f"{len(BODY)}\r\ncontent-length: {len(BODY)}"), [200]),
    "a good chunked body": (chunked(b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)), [200]),
    "it asks to go on": (HEAD + b"expect: 100-continue\r\n" + GOOD[len(HEAD) :], [200]),
    "HEAD": (b"HEAD /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer any\r\n\r\n", [200]),
    "OPTIONS": (HEAD.replace(b"POST", b"OPTIONS") + b"\r\n", [405]),
    "CONNECT": (b"CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n", [404]),
    "an upgrade": (HEAD + b"connection: upgrade\r\nupgrade: h2c\r\n" + GOOD[len(HEAD) :], [200]),
    "a body beside GET": (HEAD.replace(b"POST", b"GET") + b"content-length: 2\r\n\r\n{}", [405]),
    "a whole URL": (GOOD.replace(b"/v1/chat", b"http://x/v1/chat"), [200]),
}


@pytest.mark.parametrize(("sent", "answered"), WELL.values(), ids=WELL)
def test_an_unusual_request_is_answered(provider: StrictProvider, sent: bytes, answered: list[int]):
    assert statuses(converse(provider, sent)) == answered


def test_a_client_that_expects_100_continue_gets_it_or_is_refused_at_once(provider: StrictProvider):
    waiting = HEAD + b"expect: 100-continue\r\ncontent-length: %d\r\n\r\n"
    with connect(provider) as client:
        client.sendall(waiting % len(BODY))
        assert client.recv(65536).startswith(b"HTTP/1.1 100 ")
        client.sendall(BODY)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert statuses(converse(provider, waiting % 10**9, ends=False)) == [413]


SLOW = {
    "head": (HEAD, [408], "the head of the request took longer than 1 s"),
    "body": (with_length(length=len(BODY) + 9), [408], "the body of the request took longer than 1.2 s"),
    "chunks": (chunked(b"1\r\n{\r\n"), [408], "the body of the request took longer than 1.2 s"),
    "silence": (b"", [], ""),
    "silence after a request": (GOOD, [200], "written, not generated"),
}


@pytest.mark.parametrize(("sent", "answered", "said"), SLOW.values(), ids=SLOW)
def test_a_client_that_goes_silent_is_answered_where_it_asked_and_closed(
    hasty_provider: StrictProvider, sent: bytes, answered: list[int], said: str
):
    received = converse(hasty_provider, sent, ends=False)
    assert statuses(received) == answered
    assert said.encode() in received


def test_a_client_that_does_not_read_its_answer_is_closed():
    limits = msgspec.structs.replace(LIMITS, unread_time=0.2)
    with StrictProvider("openai-chat", answer="long", limits=limits) as provider, connect(provider) as client:
        client.sendall(GOOD * 200)
        client.recv(1, socket.MSG_PEEK)  # the answers have begun
        time.sleep(1)
        received = 0
        with suppress(ConnectionResetError):
            while data := client.recv(65536):
                received += len(data)
    assert received < 200 * 150_000


def test_connections_beyond_the_limit_are_refused_and_places_come_free(provider: StrictProvider):
    idle = [connect(provider) for _ in range(6)]
    refused = converse(provider, ends=False)
    assert statuses(refused) == [503]
    assert b"this server has at most 6 connections at once" in refused
    for client in idle:
        client.close()
    assert [status for _ in range(20) if (status := statuses(converse(provider, GOOD))) == [200]]


def test_a_flood_does_not_keep_others_waiting_nor_the_server_from_stopping():
    def flood(client: socket.socket) -> None:
        with suppress(OSError):
            client.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n")
            while True:
                client.sendall(b"1\r\n \r\n" * 20_000)

    with StrictProvider("openai-chat") as provider, closing(connect(provider)) as client:
        flooding = threading.Thread(target=flood, args=(client,))
        flooding.start()
        assert post(provider, "openai-chat", HELLO["openai-chat"], timeout=60).status_code == 200
        assert flooding.is_alive()
    flooding.join(10)


@each
def test_the_limits_answer_in_the_form_of_the_dialect(dialect: str):
    with StrictProvider(dialect, limits=LIMITS) as provider:
        response = post(provider, dialect, b" " * 3000)
        assert response.status_code == 413
        assert "the limit is 2,000" in words(dialect, response)
        assert provider.seen()[-1].is_refused


def test_a_body_of_more_values_than_the_limit_is_refused_before_it_is_judged():
    with StrictProvider("openai-chat") as provider:
        wrong = HELLO["openai-chat"] | {f"key{number}": 0 for number in range(50_000)}
        response = post(provider, "openai-chat", wrong)
        assert response.status_code == 413
        assert "more than 50,000 JSON values" in words("openai-chat", response)


def test_a_failure_of_the_server_is_an_answer_in_the_form_of_the_dialect():
    def fail(asked: Asked) -> WrittenAnswer:
        raise KeyError(asked.dialect.name)

    with StrictProvider("anthropic-messages", answer=fail) as provider:
        response = post(provider, "anthropic-messages", HELLO["anthropic-messages"])
        assert response.status_code == 500
        assert words("anthropic-messages", response) == "this server failed: KeyError: 'anthropic-messages'"


def test_the_latest_exchanges_are_remembered_and_no_more():
    with StrictProvider("openai-chat", limits=LIMITS) as provider, httpx2.Client(timeout=60) as client:
        url, headers = provider.url + PATHS["openai-chat"], KEYS["openai-chat"]
        for number in range(12):
            client.post(url, headers=headers, json=HELLO["openai-chat"] | {"seed": number})
        kept = [json.loads(one.request.body)["seed"] for one in provider.seen()]
        assert kept == [7, 8, 9, 10, 11]
        assert [json.loads(one.request.body)["seed"] for one in provider.seen(10)] == [10, 11]


def test_bodies_are_remembered_within_a_bound_of_bytes():
    limits = ServerLimits(kept_bytes=5000)
    with LoopbackProvider(limits=limits) as provider, httpx2.Client(timeout=60) as client:
        for _ in range(10):
            client.post(provider.url + PATHS["openai-chat"], content=b" " * 2000)
        assert (provider.count, len(provider.seen())) == (10, 2)


@pytest.mark.unmeasured
def test_memory_is_flat_over_many_requests():
    with StrictProvider("openai-chat", limits=ServerLimits(kept=5)) as provider, connect(provider) as client:
        counts = []
        for _ in range(3):
            for _ in range(200):
                client.sendall(GOOD)
                client.recv(65536)
            gc.collect()
            counts.append(len(gc.get_objects()))
    assert counts[2] - counts[1] < 200


LARGE = {
    "a long text": {"type": "string", "minLength": 10**9},
    "many items": {"type": "array", "minItems": 10**9},
    "many items of many items": {"type": "array", "minItems": 200, "items": {"type": "array", "minItems": 200}},
    "branches of branches": {
        "$ref": "#/a",
        "a": {"anyOf": [{"type": "array", "items": {"$ref": "#/a"}, "minItems": 9}]},
    },
}


@pytest.mark.parametrize("schema", LARGE.values(), ids=LARGE)
def test_a_schema_of_large_values_gets_none(schema: dict[str, object]):
    assert make_value(schema) is None


def test_a_pattern_is_matched_with_a_bound():
    began = time.process_time()
    assert make_value({"type": "string", "pattern": "^((a|w|r|i|t|e|n)*)*(.?){50}!$"}) == "written"
    assert time.process_time() - began < 5
