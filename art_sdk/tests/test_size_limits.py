"""Answers that are larger than their limit, plain and compressed, over real sockets."""

from __future__ import annotations

import gzip
import socket
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import brotli
import pytest

from art_sdk import ErrorEvent, LLMProviderError, SizeLimits, StreamEvent, TokenEvent
from networked import BACKENDS, IGNORES_GENERATORS_OF_HTTPX2, Serve, adapter_to, gather, says

pytestmark = IGNORES_GENERATORS_OF_HTTPX2

MiB = 2**20
SSE = "text/event-stream"


def sends(body: bytes, status: str = "200 OK", kind: str = SSE, **headers: str) -> Callable[[socket.socket, Any], None]:
    """A server's script: this answer, then the end of the connection."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}\r\n".encode()

    def script(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(head + body)

    return script


def error_of(events: list[StreamEvent]) -> LLMProviderError:
    [error] = [event.error for event in events if isinstance(event, ErrorEvent)]
    assert isinstance(error, LLMProviderError)
    return error


def zeros(size: int) -> bytes:
    return b"0" * size


BOMBS = {
    "br": lambda: brotli.compress(zeros(200 * MiB), quality=3),
    "gzip": lambda: gzip.compress(zeros(200 * MiB), 6),
    "gzip, gzip": lambda: gzip.compress(gzip.compress(zeros(200 * MiB), 6)),
}


@pytest.fixture(scope="module", params=BOMBS)
def bomb(request: pytest.FixtureRequest) -> tuple[str, bytes]:
    """A content encoding, and a small body that becomes 200 MiB."""
    return request.param, BOMBS[request.param]()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_small_body_cannot_become_more_memory_than_its_limit(
    serve: Serve,
    bomb: tuple[str, bytes],
    stream: bool,  # noqa: FBT001
) -> None:
    encoding, body = bomb
    url = serve(sends(body, content_encoding=encoding)).url
    tracemalloc.start()
    events = gather(adapter_to(url, size_limits=SizeLimits(answer=4 * MiB, event=2 * MiB)), "sync", stream=stream)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    limit = "'event'" if stream else "'answer'"
    assert limit in error_of(events).message
    assert not error_of(events).is_retryable
    assert most < 40 * MiB


@BACKENDS
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_over_its_limit_is_an_error_that_names_the_limit(
    serve: Serve,
    way: str,
    stream: bool,  # noqa: FBT001
) -> None:
    url = serve(sends(says("a") * 1000, kind=SSE if stream else "application/json")).url
    events = gather(adapter_to(url, size_limits=SizeLimits(answer=1000)), way, stream=stream)
    assert error_of(events).message == (
        "openai answered 200; openai sent an answer of more than 1000 bytes (the size limit 'answer')"
    )
    assert error_of(events).status == 200
    assert len([event for event in events if isinstance(event, TokenEvent)]) == (
        1000 // len(says("a")) if stream else 0
    )


@pytest.mark.parametrize(
    "body", [b"data: " + zeros(3000), b"data: 1\n" * 500, b":" + zeros(3000)], ids=["line", "lines", "comment"]
)
def test_an_event_that_never_ends_is_an_error(serve: Serve, body: bytes) -> None:
    url = serve(sends(says("a") + body)).url
    events = gather(adapter_to(url, size_limits=SizeLimits(event=400)), "sync")
    assert isinstance(events[0], TokenEvent)
    assert error_of(events).message.endswith(
        "a stream that cannot be read: an event of more than 400 bytes (the size limit 'event')"
    )


@BACKENDS
def test_a_refusal_keeps_its_status_and_words_however_large_it_is(serve: Serve, way: str) -> None:
    body = b'{"error": {"message": "no such user"}}' + b" " * 5000
    url = serve(sends(body, "401 Unauthorized", "application/json", x_request_id="r1", retry_after="7")).url
    error = error_of(gather(adapter_to(url, size_limits=SizeLimits(error_body=1000)), way))
    assert error.message.startswith(
        "openai answered 401: no such user; openai sent an error body of more than 1000 bytes"
    )
    assert (error.status, error.request_id, error.retry_after, error.is_retryable) == (401, "r1", 7.0, False)


def test_without_a_limit_any_size_is_read(serve: Serve) -> None:
    url = serve(sends(says("a" * 3 * MiB) + says("b") * 3)).url
    limits = SizeLimits(answer=None, event=None, error_body=None)
    events = gather(adapter_to(url, size_limits=limits), "sync")
    assert sum(len(event.text) for event in events if isinstance(event, TokenEvent)) == 3 * MiB + 3
