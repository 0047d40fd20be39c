"""When a call is tried again, and after how long."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import anyio
import httpx2
import pytest

from art_sdk import (
    EndEvent,
    ErrorEvent,
    InvalidConfig,
    LLMProviderError,
    MetadataEvent,
    OpenAIAdapter,
    StreamEvent,
    Timeouts,
    TokenEvent,
)
from art_sdk.http.exchange import Retries
from art_sdk.http.time_limits import CallClock
from networked import (
    BACKENDS,
    FINISH,
    IGNORES_GENERATORS_OF_HTTPX2,
    Serve,
    adapter_to,
    frame,
    gather,
    kinds,
    new_client,
    says,
)

pytestmark = IGNORES_GENERATORS_OF_HTTPX2


Answer = httpx2.Response | Exception


def answering(*answers: Answer) -> tuple[Any, list[httpx2.Request]]:
    """A transport that gives the answers one after the other, and the requests that it was sent."""
    sent: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        answer = answers[len(sent) - 1]
        if isinstance(answer, Exception):
            raise answer
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)

    return httpx2.MockTransport(handle), sent


def ok(body: bytes = says("hi") + FINISH) -> httpx2.Response:
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)


def no(status: int = 503, **headers: str) -> httpx2.Response:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(status, headers=fields, content=b'{"error": {"message": "no"}}')


OVERLOAD = frame('{"error": {"message": "no", "code": 503}}')
QUESTIONABLE = frame('{"error": {"message": "no", "code": 400}}')
SENT: dict[str, tuple[int, list[Answer], int, bool]] = {
    "none by default": (0, [no()], 1, False),
    "one": (1, [no(), ok()], 2, True),
    "as many as allowed": (2, [no(), no(429), no(529)], 3, False),
    "the network's faults": (3, [httpx2.ConnectError("x"), httpx2.ReadTimeout("x"), ok()], 3, True),
    "what cannot get better": (3, [no(400)], 1, False),
    "a base_url that cannot work": (3, [httpx2.UnsupportedProtocol("x")], 1, False),
    "an error before the first token": (3, [ok(OVERLOAD), ok()], 2, True),
    "a stream that stops before its first token": (3, [ok(b": hello\n\n"), ok()], 2, True),
    "an error that the code calls final": (3, [ok(QUESTIONABLE)], 1, False),
    "a stream that cannot be read": (3, [ok(frame("hello"))], 1, False),
    "an error after the first token": (
        3,
        [ok(says("a") + frame('{"error": {"message": "no", "code": 503}}'))],
        1,
        False,
    ),
    "a stream that stops after its first token": (3, [ok(says("a"))], 1, False),
}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited, without waiting."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    monkeypatch.setattr(time, "sleep", found.append)
    return found


def call(answers: list[Answer], way: str, **more: Any) -> tuple[list[StreamEvent], list[httpx2.Request]]:
    mock, sent = answering(*answers)
    client = httpx2.Client(transport=mock) if way == "sync" else httpx2.AsyncClient(transport=mock)
    return gather(OpenAIAdapter(api_key="key", http_client=client, **more), way), sent


@BACKENDS
@pytest.mark.parametrize(("allowed", "answers", "requests", "is_good"), SENT.values(), ids=SENT)
def test_a_call_is_tried_again_only_if_that_may_help_and_no_event_was_given(
    waits: list[float],
    allowed: int,
    answers: list[Answer],
    requests: int,
    is_good: bool,  # noqa: FBT001
    way: str,
) -> None:
    events, sent = call(answers, way, retries=allowed)
    assert len(sent) == requests
    assert isinstance(events[-1], EndEvent)
    assert (events[-1].finish == "stop") is is_good
    assert sum(isinstance(event, EndEvent) for event in events) == 1
    assert len({request.content for request in sent}) == 1
    assert len(waits) == requests - 1


@BACKENDS
def test_unstreamed_calls_are_tried_again_too(waits: list[float], way: str) -> None:
    body = b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
    mock, sent = answering(no(), httpx2.Response(200, content=body))
    client = httpx2.Client(transport=mock) if way == "sync" else httpx2.AsyncClient(transport=mock)
    events = gather(OpenAIAdapter(api_key="key", http_client=client, retries=1), way, stream=False)
    assert (len(sent), kinds(events)) == (2, [TokenEvent, MetadataEvent, EndEvent])


@BACKENDS
def test_the_provider_s_own_wait_is_used_and_otherwise_it_doubles(waits: list[float], way: str) -> None:
    call([no(retry_after="7"), no(retry_after_ms="20"), *[no(retry_after="0")] * 5, ok()], way, retries=7)
    own, short, *rest = waits
    assert (own, short) == (7.0, 0.02)
    for number, wait in enumerate(rest, 2):
        longest = min(0.5 * 2**number, 8.0)
        assert longest * 0.75 <= wait <= longest


@BACKENDS
@pytest.mark.parametrize(
    ("retry_after", "whole_call"),
    [("31", 30.0), ("61", None), ("3600", None)],
    ids=["the call's time", "a minute", "an hour"],
)
def test_a_wait_that_is_too_long_is_not_begun(
    waits: list[float], way: str, retry_after: str, whole_call: float | None
) -> None:
    events, sent = call([no(429, retry_after=retry_after)], way, retries=3, timeouts=Timeouts(whole_call=whole_call))
    assert (len(sent), waits) == (1, [])
    assert isinstance(events[0], ErrorEvent)
    assert isinstance(events[0].error, LLMProviderError)
    assert events[0].error.retry_after == float(retry_after)


@BACKENDS
def test_the_whole_call_s_time_runs_through_all_tries(serve: Serve, way: str) -> None:
    def refuses(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\nretry-after-ms: 100\r\n\r\n")

    server = serve(refuses)
    client = new_client(is_async=way != "sync")
    adapter = adapter_to(server.url, timeouts=Timeouts(whole_call=1), retries=100, http_client=client)
    began = time.monotonic()
    events = gather(adapter, way, client)
    assert time.monotonic() - began < 8  # a hundred tries would wait 10 s
    assert kinds(events) == [ErrorEvent, EndEvent]
    assert 2 <= server.requests <= 10


@pytest.mark.parametrize("given", [-1, 1.5, True, "2", None])
def test_retries_are_a_whole_number(given: Any) -> None:
    with pytest.raises(InvalidConfig, match="retries must be a whole number, 0 or more, not "):
        OpenAIAdapter(api_key="key", retries=given)


def test_the_wait_before_a_retry_varies_by_chance_and_an_answer_is_not_retried() -> None:
    clock = CallClock(Timeouts())
    error = LLMProviderError("no", provider="acme", is_retryable=True)
    failed = ErrorEvent(thread_id="t", error=error)
    waits = [Retries(1, clock).wait_after(failed) or 0 for _ in range(50)]
    assert len({*waits}) > 1
    assert all(0.375 <= wait <= 0.5 for wait in waits)
    assert Retries(1, clock).wait_after(EndEvent(thread_id="t", message=None, finish="stop")) is None


def cut_after(head: str, body: bytes) -> Any:
    """A server's script: an answer of which only this much of the body comes."""

    def script(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(f"HTTP/1.1 {head}\r\ncontent-length: 1000\r\nx-request-id: r1\r\n\r\n".encode() + body)
        connection.shutdown(socket.SHUT_RDWR)

    return script


@BACKENDS
@pytest.mark.parametrize(
    ("head", "requests", "message"),
    [
        ("401 Unauthorized", 1, "openai answered 401: who are you?; the call to openai was cut off"),
        ("500 Oops\r\nretry-after-ms: 10", 3, "openai answered 500: who are you?; the call to openai was cut off"),
        ("200 OK\r\nretry-after-ms: 10", 3, "openai answered 200; the call to openai was cut off"),
    ],
)
def test_what_the_head_says_is_kept_of_an_answer_that_is_cut_off(
    serve: Serve, head: str, requests: int, message: str, way: str
) -> None:
    server = serve(cut_after(head, b"who are you?"))
    events = gather(adapter_to(server.url, retries=2), way, stream=False)
    [error] = [event.error for event in events if isinstance(event, ErrorEvent)]
    assert isinstance(error, LLMProviderError)
    assert error.message.startswith(message)
    assert (error.status, error.request_id, server.requests) == (int(head[:3]), "r1", requests)
