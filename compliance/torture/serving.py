"""Faults of clients of `art serve`: after each of them, it must still answer, and stop when it gets the signal."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from rows import Failed, Row
from served import BODY, HEAD, Served, attack, chunked, good, send, send_each, statuses, with_body

MIB = 2**20
EVIL = "\x1b]0;owned\x07\x1b[2J\r\u202e"
TOOLS = json.loads(BODY) | {"tools": [{"type": "function", "function": {"name": EVIL, "parameters": {}}}], EVIL: EVIL}


def schema_of(schema: Any) -> bytes:
    """A request with one tool, whose arguments have this schema."""
    parameters = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return json.dumps(
        json.loads(BODY) | {"tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}]}
    ).encode()


NO_HTTP: dict[str, bytes] = {
    "no HTTP": b"hello\r\n\r\n",
    "bytes of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "random bytes": bytes(range(256)) * 64,
    "a line of 1 MB": b"GET /" + b"x" * MIB,
    "a head of 10 MB": HEAD + b"x: y\r\n" * (10 * MIB // 6),
    "control characters in the path": b"GET /\x1b[2J\x07 HTTP/1.1\r\nhost: x\r\n\r\n",
    "a path of 15,000 characters": b"GET /" + b"x" * 15_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
}
LENGTHS: dict[str, bytes] = {
    "a negative length": with_body(BODY, -1),
    "a length of 5,000 digits": with_body(BODY, "9" * 5000),
    "a length of 10^15": with_body(BODY, 10**15),
    "two lengths": with_body(BODY, "5\r\ncontent-length: 6"),
    "a length that lies": with_body(BODY, len(BODY) + 100),
    "chunks that lie": chunked(b"2\r\nabcdef\r\n0\r\n\r\n"),
    "a chunk of 2^64 bytes": chunked(b"ffffffffffffffff\r\nabc"),
    "a chunk of negative size": chunked(b"-5\r\nabc\r\n"),
    "chunks without an end": chunked(b"2\r\nab\r\n"),
    "both a length and chunks": HEAD + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
}
UNUSUAL: dict[str, bytes] = {
    "100-continue": HEAD + b"expect: 100-continue\r\n" + good()[len(HEAD) :],
    "100-continue before 1 GB": HEAD + b"expect: 100-continue\r\ncontent-length: 1000000000\r\n\r\n",
    "three requests in one write": good() * 3,
    "1,000 requests in one write": good() * 1000,
    "HTTP/1.0": good().replace(b"HTTP/1.1", b"HTTP/1.0"),
    "HEAD": b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n",
    "OPTIONS": b"OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n",
    "CONNECT": b"CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n",
    "TRACE": b"TRACE / HTTP/1.1\r\nhost: x\r\n\r\n",
    "an upgrade": HEAD + b"connection: upgrade\r\nupgrade: websocket\r\n" + good()[len(HEAD) :],
    "models": b"GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer any\r\n\r\n",
}
BROKEN = {
    "what is no HTTP, and heads that are too large": NO_HTTP,
    "lengths and chunks that lie": LENGTHS,
    "unusual requests": UNUSUAL,
}
BODIES: dict[str, Callable[[], bytes]] = {
    "terminal escapes in names": lambda: json.dumps(TOOLS).encode(),
    "40 MiB": lambda: b" " * (40 * MIB),
    "30 MiB of text": lambda: BODY.replace(b'"hi"', b'"' + b"x" * (30 * MIB) + b'"'),
    "JSON 100,000 deep": lambda: b"[" * 100_000,
    "JSON 900 deep": lambda: BODY[:-1] + b', "x": ' + b"[" * 900 + b"]" * 900 + b"}",
    "an integer of 5,000 digits": lambda: BODY[:-1] + b', "max_tokens": ' + b"9" * 5000 + b"}",
    "lone surrogates": lambda: BODY.replace(b"hi", b"\\ud800"),
    "bytes that are not UTF-8": lambda: BODY.replace(b"hi", b"\xff\xfe"),
    "doubled keys": lambda: BODY[:-1] + b', "model": 1, "model": 2}',
    "10,000 unknown fields": lambda: json.dumps(json.loads(BODY) | {f"k{n}": n for n in range(10_000)}).encode(),
    "100,000 unknown fields": lambda: json.dumps(json.loads(BODY) | {f"k{n}": n for n in range(100_000)}).encode(),
    "50,000 wrong messages": lambda: json.dumps(
        {"model": "m", "messages": [{"role": "usr", "contnt": "x"}] * 50_000}
    ).encode(),
    "a schema of a text of 10^9 characters": lambda: schema_of({"type": "string", "minLength": 10**9}),
    "a schema of 10^9 items": lambda: schema_of({"type": "array", "minItems": 10**9}),
    "a schema of 200^4 items": lambda: schema_of(nested_arrays(4)),
    "a pattern that never ends": lambda: schema_of({"type": "string", "pattern": "^((a|w|r|i|t)*)*(.?){40}!$"}),
    "a schema that refers to itself": lambda: schema_of({"$ref": "#/properties/a"}),
}


def nested_arrays(levels: int) -> dict[str, Any]:
    """Arrays of at least 200 items, of arrays."""
    return {"type": "array", "minItems": 200} | ({"items": nested_arrays(levels - 1)} if levels > 1 else {})


def send_made(make: Callable[[], bytes]) -> Callable[[Served], str]:
    """Sends a body that is made when it is needed."""

    def work(served: Served) -> str:
        return send(with_body(make()))(served)

    return work


def pause(served: Served, pieces: list[bytes], longest: float) -> str:
    """Sends the pieces and waits: the server must end it."""
    began = time.monotonic()
    with served.connect() as client:
        client.settimeout(longest)
        received = b""
        try:
            for piece in pieces:
                client.sendall(piece)
            while data := client.recv(65536):
                received += data
        except TimeoutError as error:
            raise Failed(f"it still waits after {longest:g} s") from error
        except OSError:
            pass
    return f"answered {', '.join(map(str, statuses(received))) or 'nothing'} after {time.monotonic() - began:.0f} s"


def drip(served: Served, start: bytes, piece: bytes, longest: float) -> str:
    """Sends a piece four times a second: the server must end it."""
    began = time.monotonic()
    with served.connect() as client, suppress(OSError):
        client.sendall(start)
        while time.monotonic() - began < longest:
            client.sendall(piece)
            time.sleep(0.25)
        raise Failed(f"it still reads after {longest:g} s")
    return f"ended after {time.monotonic() - began:.0f} s"


def idle(served: Served, count: int) -> str:
    """So many connections that ask for nothing, and a good request at the same time."""
    clients: list[socket.socket] = []
    with suppress(OSError):
        clients.extend(served.connect() for _ in range(count))
    time.sleep(1)
    answered = statuses(served.converse(good()))
    threads = served.threads()
    for client in clients:
        client.close()
    time.sleep(0.5)
    if threads > 10:
        raise Failed(f"{threads} threads")
    return f"a request beside them is answered {answered or 'nothing'}, {threads} threads"


def flood(served: Served) -> str:
    """One client sends small chunks without end; another one is answered meanwhile."""
    with served.connect() as client:
        thread = threading.Thread(target=_flood, args=(client,), daemon=True)
        thread.start()
        time.sleep(1)
        with served.connect() as other:
            other.settimeout(10)
            other.sendall(good())
            try:
                answered = statuses(other.recv(65536))
            except TimeoutError as error:
                raise Failed("others wait for it") from error
    return f"a request beside it is answered {answered}"


def _flood(client: socket.socket) -> None:
    with suppress(OSError):
        client.sendall(chunked())
        while True:
            client.sendall(b"1\r\n \r\n" * 10_000)


def memory(served: Served, count: int) -> str:
    """So many requests over a few connections: the last half must not add to its memory."""
    batch = 50
    peaks: list[float] = []
    with served.connect() as client:
        for number in range(count // batch):
            if number in {count // batch // 2, count // batch - 1}:
                peaks.append(served.peak())
            client.sendall(good() * batch)
            received = 0
            while received < batch:
                received += client.recv(65536).count(b"HTTP/1.1 200 ")
    grown = peaks[1] - peaks[0]
    if grown > 20:
        raise Failed(f"{count:,} requests: the second half added {grown:.0f} MB")
    return f"{count:,} requests: the second half added {grown:.1f} MB"


def unread(served: Served) -> str:
    """Five clients ask for a long answer again and again, and read none of it."""
    clients = [served.connect() for _ in range(5)]
    for client in clients:
        client.settimeout(0)
        with suppress(OSError):
            client.sendall(good() * 2000)
    time.sleep(1)
    for client in clients:
        client.close()
    return "their answers are not kept"


def hang(served: Served) -> str:
    """Asks, and goes on waiting while the command is stopped."""
    client = served.connect()
    client.sendall(good())
    client.recv(4096)
    return "an answer hangs"


ROWS = [
    *(
        Row("art serve: broken requests", f"{what} ({len(all_of)})", partial(attack, send_each(all_of)), 30)
        for what, all_of in BROKEN.items()
    ),
    *(Row("art serve: bodies", what, partial(attack, send_made(make)), 30, 600) for what, make in BODIES.items()),
    *(
        Row("art serve: slow clients", what, partial(attack, work), 35)
        for what, work in (
            ("half a head", partial(pause, pieces=[HEAD], longest=30.0)),
            ("a head, byte by byte", partial(drip, start=HEAD + b"x: ", piece=b"x", longest=30.0)),
            ("half a body", partial(pause, pieces=[with_body(BODY, 1000)], longest=80.0)),
            ("a body, byte by byte", partial(drip, start=with_body(b"", 100_000), piece=b" ", longest=80.0)),
        )
    ),
    Row("art serve: many clients", "800 idle connections", partial(attack, partial(idle, count=800)), 20),
    Row("art serve: many clients", "1,100 idle connections", partial(attack, partial(idle, count=1100)), 20),
    Row("art serve: many clients", "a flood of small chunks", partial(attack, flood), 60),
    Row("art serve: many clients", "five that read nothing", partial(attack, unread, "--answer", "long"), 60),
    Row("art serve: many clients", "20,000 requests", partial(attack, partial(memory, count=20_000)), 100),
    Row("art serve: the end", "SIGTERM", partial(attack, send(good()), stop=signal.SIGTERM)),
    Row("art serve: the end", "Ctrl-C while an answer hangs", partial(attack, hang, "--fault", "hang-after-head")),
]
