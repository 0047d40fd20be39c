"""Faults of a provider's answers: each is sent by a server over a socket, and read by a reference adapter."""

from __future__ import annotations

import os
import socket
import time
import zlib
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from faulty_server import Script, ends_in_an_error, error_in, gather, head_of, sends, serving
from rows import Failed, Row

MIB = 2**20
TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
WHOLE = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}'
BOMB = 512
"""Mebibytes that each bomb becomes."""

# Decompression.


def compressor(coding: str) -> Any:
    """Compresses piece by piece."""
    if coding == "br":
        made: Any = import_module("brotli").Compressor(quality=3)  # only these rows need it
        return made.process, made.finish
    if coding == "zstd":
        from backports import zstd  # noqa: PLC0415 - as above

        whole = zstd.ZstdCompressor()
        return whole.compress, whole.flush
    deflating = zlib.compressobj(6, wbits=31 if coding == "gzip" else 15)
    return deflating.compress, deflating.flush


def bomb(codings: str) -> bytes:
    """A small body that becomes very large. It is kept in a file, which another process has made in time."""
    path = Path(os.environ["ART_TORTURE_FOLDER"]) / codings.replace(", ", "-")
    if not path.exists():
        first, *further = codings.split(", ")
        data = compressed(first, (b"0" * MIB for _ in range(BOMB)))
        for coding in further:
            data = compressed(coding, [data])
        path.write_bytes(data)
    return path.read_bytes()


def compressed(coding: str, pieces: Any) -> bytes:
    """The pieces, compressed together."""
    process, finish = compressor(coding)
    return b"".join([*map(process, pieces), finish()])


BOMBS = ("gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip", "zstd, zstd")


def explode(codings: str) -> str:
    """A body in these codings: of a stream, of a whole answer, and of an error."""
    said = ""
    for status, stream in (("200 OK", True), ("401 Unauthorized", False), ("200 OK", False)):
        kind = "text/event-stream" if stream else "application/json"
        said = ends_in_an_error(sends(bomb(codings), status, kind, f"content-encoding: {codings}"), stream=stream)
    return f"3 times an ERROR, the last: {said.removeprefix('ERROR: ')}"


DECOMPRESSION = [
    Row("decompression", f"{BOMB} MiB of zeros in {codings}: a stream, an answer, an error", partial(explode, codings))
    for codings in BOMBS
]

# Endless answers.


def endless(start: bytes, again: bytes, pause: float = 0.0) -> Script:
    """A script: this start, then the same bytes until the client leaves."""

    def script(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(again)
            time.sleep(pause)

    return script


def in_each_way(script: Script) -> str:
    """Calls in each way, which must end in time."""
    said = [ends_in_an_error(script, way, within=1.0) for way in ("sync", "asyncio", "trio")]
    return f"3 times in time, the last: {said[-1]}"


CHUNKED = head_of("200 OK", "text/event-stream", "transfer-encoding: chunked")
TO_THE_END = head_of("200 OK", "text/event-stream")
BAD_TO_THE_END = head_of("400 Bad Request", "application/json")
LARGE = b"0" * MIB
ENDLESS = {
    "one line of an event": endless(TO_THE_END + b"data: ", LARGE),
    "one event of many lines": endless(TO_THE_END, (b"data: " + b"0" * 60 + b"\n") * 2000),
    "one comment": endless(TO_THE_END + b":", LARGE),
    "tokens": endless(TO_THE_END, TOKEN * 2000),
    "an error body": endless(BAD_TO_THE_END, LARGE),
    "a chunk's size": endless(CHUNKED + b"1;", LARGE),
    "a header": endless(b"HTTP/1.1 200 OK\r\nx: ", LARGE),
    "headers": endless(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 10_000),
}
SLOW: dict[str, Script] = {
    "a head, byte by byte": endless(b"HTTP/1.1 200 OK\r\nx: ", b"x", 0.1),
    "102 answers": endless(b"", b"HTTP/1.1 102 Processing\r\n\r\n", 0.05),
    "103 answers": endless(b"", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", 0.05),
    "silence": lambda _: time.sleep(20),
    "silence after the head": endless(TO_THE_END, b"", 0.5),
    "comments that keep it alive": endless(TO_THE_END, b": ping\n\n", 0.05),
    "a chunk's extension, byte by byte": endless(CHUNKED + b"1;x=", b"x", 0.05),
}
ENDLESS_ANSWERS = [
    *(
        Row("endless answers", f"{what} without end", partial(ends_in_an_error, script))
        for what, script in ENDLESS.items()
    ),
    *(
        Row("slow answers", f"{what}: in each way of calling, within 1 s", partial(in_each_way, script))
        for what, script in SLOW.items()
    ),
]

# Broken answers.

STATUSES = (
    (200, 204),
    (301, 304),
    (400, 401, 403, 404),
    (408, 409, 413, 422, 429, 499),
    (500, 502, 503, 504, 529, 599),
)
BODIES: dict[str, bytes] = {
    "nothing": b"",
    "JSON": WHOLE,
    "an error": b'{"error": {"message": "no", "type": "t", "code": "c"}}',
    "an error that is a list": b'{"error": [1, {"message": []}]}',
    "HTML": b"<html><body>Bad gateway</body></html>",
    "a JSON number": b"1",
    "null": b"null",
    "deep JSON": b"[" * 100_000 + b"]" * 100_000,
    "an integer of 5,000 digits": b'{"error": {"code": ' + b"9" * 5000 + b"}}",
    "bytes that are not UTF-8": b"\xff\xfe\x00\xd8",
    "a lone surrogate": b'{"error": {"message": "\\ud800"}}',
    "doubled keys": b'{"choices": 1, "choices": []}',
    "half an event": TOKEN[:20],
    "a stream": TOKEN + FINISH,
    "a megabyte of blanks": b" " * MIB,
}


def answer_with_each(statuses: tuple[int, ...]) -> str:
    """Every body with each of the statuses."""
    for status in statuses:
        answer_with(status)
    return f"{2 * len(BODIES) * len(statuses)} calls; errors have the status"


def answer_with(status: int) -> None:
    """Every body with the status, streamed and not: the call ends, with the status where it is an error."""
    for (name, body), stream in ((one, stream) for one in BODIES.items() for stream in (True, False)):
        with serving(sends(body, f"{status} X", "text/event-stream" if stream else "application/json")) as server:
            error = error_in(gather(server.url, stream=stream))
        if error is not None and error.status != status:
            raise Failed(f"{name}: the error has the status {error.status}")
        if error is None and not 200 <= status < 300:
            raise Failed(f"{name}: no error")


def cut_in_each_way(status: int) -> str:
    """The connection is closed, and reset."""
    for is_reset in (False, True):
        cut_at(status, is_reset=is_reset)
    return "12 cuts, each an ERROR; what the head said is kept"


def cut_at(status: int, *, is_reset: bool) -> None:
    """The body is cut at several places: the error keeps the status, and a final one is not to be tried again."""
    body = BODIES["an error"] if status >= 400 else TOKEN + FINISH
    whole = head_of(f"{status} X", "text/event-stream", f"content-length: {len(body)}", "x-request-id: r1") + body
    heads = whole.index(b"\r\n\r\n") + 4
    for at in (0, 9, heads - 2, heads, heads + 10, len(whole) - 1):
        with serving(partial(cut, whole[:at], is_reset=is_reset)) as server:
            error = error_in(gather(server.url))
        has_head = at >= heads and not is_reset
        if error is None and at != len(whole) - 1:
            raise Failed(f"cut at byte {at}: no error")
        if error is not None and has_head and (error.status, error.request_id) != (status, "r1"):
            raise Failed(f"cut at byte {at}: status {error.status}, request id {error.request_id}")
        if error is not None and has_head and status in {400, 401, 404} and error.is_retryable:
            raise Failed(f"cut at byte {at}: a final status would be tried again")


def cut(data: bytes, connection: socket.socket, *, is_reset: bool) -> None:
    """Sends the data, and closes the connection."""
    connection.sendall(data)
    if is_reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
    else:
        connection.shutdown(socket.SHUT_RDWR)


BROKEN = [
    *(
        Row(
            "statuses and bodies",
            f"{len(BODIES)} bodies, streamed and whole, with status {', '.join(map(str, statuses))}",
            partial(answer_with_each, statuses),
        )
        for statuses in STATUSES
    ),
    *(
        Row("cut answers", f"status {status}, closed and reset at 6 places", partial(cut_in_each_way, status))
        for status in (200, 400, 401, 404, 429, 500, 503)
    ),
]


def stream_with(data: bytes) -> str:
    """A stream with this event in it: it ends in order, and nothing is raised."""
    with serving(sends(TOKEN + b"data: " + data + b"\n\n" + FINISH)) as server:
        error = error_in(gather(server.url))
    return "read" if error is None else f"ERROR: {error.message}"


EVENTS: dict[str, bytes] = {
    "JSON, 100,000 deep": b"[" * 100_000 + b"]" * 100_000,
    "JSON, 900 deep": b'{"choices":[{"index":0,"delta":{"x":' + b"[" * 900 + b"]" * 900 + b"}}]}",
    "an integer of 5,000 digits": b'{"choices":[{"index":' + b"9" * 5000 + b',"delta":{}}]}',
    "an index of 10^18": b'{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1000000000000000000,"id":"a"}]}}]}',
    "NaN": b'{"choices":[{"index":NaN,"delta":{}}]}',
    "a number of 1e999": b'{"usage":{"prompt_tokens":1e999}}',
    "lists in place of objects": b'{"choices":[[[]]]}',
    "200,000 choices": b'{"choices":[' + b"{}," * 200_000 + b"{}]}",
    "doubled keys": b'{"choices":[],"choices":7}',
    "a lone surrogate": b'{"choices":[{"index":0,"delta":{"content":"\\ud800"}}]}',
    "bytes that are not UTF-8": b'{"choices":[{"index":0,"delta":{"content":"\xff"}}]}',
}
HOSTILE_EVENTS = [Row("events", what, partial(stream_with, data)) for what, data in EVENTS.items()]

ROWS = [*DECOMPRESSION, *ENDLESS_ANSWERS, *BROKEN, *HOSTILE_EVENTS]


def prepare() -> None:
    """Makes the bombs, so that no row pays for it."""
    for codings in BOMBS:
        bomb(codings)
