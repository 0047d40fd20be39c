"""Whole calls over the network: events as their bytes come, time limits, cancellation."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import aclosing, closing
from typing import Any

import anyio
import httpx2
import pytest

from art_sdk import (
    AssistantMessage,
    EndEvent,
    ErrorEvent,
    MetadataEvent,
    StreamEvent,
    Timeouts,
    TokenEvent,
)
from networked import (
    BACKENDS,
    FINISH,
    IGNORES_GENERATORS_OF_HTTPX2,
    USER,
    Serve,
    adapter_to,
    gather,
    kinds,
    new_client,
    options,
    says,
)

pytestmark = IGNORES_GENERATORS_OF_HTTPX2

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
ASYNC = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def piece(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def timers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


@pytest.mark.parametrize("way", ["sync", "asyncio", "trio"])
def test_an_event_is_given_before_the_next_byte_is_sent(serve: Serve, way: str) -> None:
    has_event = threading.Event()

    def script(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(HEAD + piece(says("a")))
        if has_event.wait(30):
            connection.sendall(piece(says("b") + FINISH) + b"0\r\n\r\n")

    adapter = adapter_to(serve(script).url)

    def note(event: StreamEvent) -> StreamEvent:
        has_event.set()
        return event

    async def run() -> list[StreamEvent]:
        events = [note(event) async for event in adapter.call(USER, options())]
        await adapter.aclose()
        return events

    if way == "sync":
        events = [note(event) for event in adapter.call_sync(USER, options())]
        adapter.close()
    else:
        events = anyio.run(run, backend=way)
    assert kinds(events) == [TokenEvent, TokenEvent, MetadataEvent, EndEvent]


def _answers(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD + piece(says("hi") + FINISH) + b"0\r\n\r\n")


@BACKENDS
def test_a_stream_that_was_read_to_its_end_leaves_its_connection_for_the_next(serve: Serve, way: str) -> None:
    server = serve(_answers)
    adapter = adapter_to(server.url, timeouts=Timeouts(whole_call=5))

    async def run() -> None:
        for _ in range(3):
            assert (await adapter.complete(USER, options())).message.content == "hi"
        await adapter.aclose()

    if way == "sync":
        assert [adapter.complete_sync(USER, options()).message.content for _ in range(3)] == ["hi"] * 3
        adapter.close()
    else:
        anyio.run(run, backend=way)
    assert (server.connections, server.requests) == (1, 3)


def _waits(connection: socket.socket, stop: threading.Event) -> None:
    connection.recv(1)  # until the client goes


def _waits_after_the_head(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD)
    connection.recv(1)


def _waits_after_a_token(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD + piece(says("a")))
    connection.recv(1)


def _waits_inside_a_frame(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(HEAD + piece(says("a") + says("b")[:-9]))
    connection.recv(1)


def _drips(what: bytes) -> Callable[[socket.socket, threading.Event], None]:
    def drips(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(HEAD + piece(says("a")))
        while not stop.wait(0.03):
            connection.sendall(piece(what))

    return drips


LIMITS = {
    "first byte": (_waits, Timeouts(first_byte=0.3), 0.3, 0),
    "first byte, by the whole call": (_waits, Timeouts(whole_call=0.3), 0.3, 0),
    "between bytes, after the head": (_waits_after_the_head, Timeouts(between_bytes=0.3), 0.3, 0),
    "between bytes, after a token": (_waits_after_a_token, Timeouts(between_bytes=0.5), 0.5, 1),
    "between bytes, inside a frame": (_waits_inside_a_frame, Timeouts(between_bytes=0.5), 0.5, 1),
    "whole call, after a token": (_waits_after_a_token, Timeouts(whole_call=1, between_bytes=None), 1, 1),
    "whole call, comments for ever": (_drips(b": keep-alive\n\n"), Timeouts(whole_call=1, between_bytes=0.9), 1, 1),
    "whole call, one byte after the other": (_drips(b"x"), Timeouts(whole_call=1, between_bytes=0.9), 1, 1),
    "whole call, tokens for ever": (_drips(says("b")), Timeouts(whole_call=1, between_bytes=0.9), 1, 2),
}


@pytest.mark.unmeasured
@BACKENDS
@pytest.mark.parametrize(("script", "timeouts", "limit", "tokens"), LIMITS.values(), ids=LIMITS)
def test_a_time_limit_ends_a_streamed_call_and_keeps_what_arrived(
    serve: Serve, script: Any, timeouts: Timeouts, limit: float, tokens: int, way: str
) -> None:
    client = new_client(is_async=way != "sync")
    adapter = adapter_to(serve(script).url, timeouts=timeouts, http_client=client)
    began = time.monotonic()
    events = gather(adapter, way, client)
    took = time.monotonic() - began
    assert limit - 0.05 <= took <= limit + 20  # the servers go on for longer
    *arrived, failed, end = events
    assert isinstance(failed, ErrorEvent)
    assert "took longer than its time limit" in failed.error.message
    assert len(arrived) == tokens if tokens < 2 else len(arrived) > 2
    message = AssistantMessage("".join(event.text for event in arrived if isinstance(event, TokenEvent)))
    assert end == EndEvent(thread_id="t", trace_id=end.trace_id, message=message if arrived else None, finish="error")
    if way == "sync":
        for thread in timers():
            thread.join(20)
    assert not timers()


@BACKENDS
def test_the_time_to_connect_is_limited(way: str) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [socket.socket() for _ in range(4)]  # beyond its backlog, the kernel answers nobody
        for filler in fillers:
            filler.setblocking(False)  # noqa: FBT003 - as it is named
            filler.connect_ex(full.getsockname())
        client = new_client(is_async=way != "sync")
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        adapter = adapter_to(url, timeouts=Timeouts(connect=0.3), http_client=client)
        began = time.monotonic()
        [failed, _] = gather(adapter, way, client)
        took = time.monotonic() - began
        for filler in fillers:
            filler.close()
    assert isinstance(failed, ErrorEvent)
    assert re.search(r"timed out connecting to 127\.0\.0\.1:\d+", failed.error.message)
    assert 0.25 <= took <= 20


@BACKENDS
def test_the_whole_call_s_time_runs_on_while_the_caller_handles_an_event(serve: Serve, way: str) -> None:
    adapter = adapter_to(serve(_drips(says("b"))).url, timeouts=Timeouts(whole_call=0.3))

    async def run() -> list[StreamEvent]:
        events: list[StreamEvent] = []
        async for event in adapter.call(USER, options()):
            events.append(event)
            if len(events) == 1:
                await anyio.sleep(0.4)
        await adapter.aclose()
        return events

    def run_sync() -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for event in adapter.call_sync(USER, options()):
            events.append(event)
            if len(events) == 1:
                time.sleep(0.4)
        adapter.close()
        return events

    began = time.monotonic()
    events = run_sync() if way == "sync" else anyio.run(run, backend=way)
    assert time.monotonic() - began < 20
    assert kinds(events)[-2:] == [ErrorEvent, EndEvent]


@BACKENDS
def test_closing_the_events_closes_the_connection_at_once_and_leaves_nothing(serve: Serve, way: str) -> None:
    server = serve(_drips(says("b")))
    adapter = adapter_to(server.url, timeouts=Timeouts(whole_call=5))

    async def run() -> None:
        async with aclosing(adapter.call(USER, options())) as events:
            async for _ in events:
                break
        assert await anyio.to_thread.run_sync(server.gone.wait, 20)
        if way == "asyncio":
            assert asyncio.all_tasks() == {asyncio.current_task()}
        await adapter.aclose()

    if way == "sync":
        with closing(adapter.call_sync(USER, options())) as events:
            next(events)
        assert server.gone.wait(20)
        adapter.close()
    else:
        anyio.run(run, backend=way)
    for thread in timers():
        thread.join(20)
    assert not timers()
    gc.collect()  # a socket that nobody closed would warn here, and warnings are errors


@ASYNC
@pytest.mark.parametrize("script", [_waits, _waits_after_the_head, _waits_after_a_token, _drips(says("b"))])
def test_cancellation_is_not_swallowed_and_closes_the_connection(serve: Serve, script: Any, backend: str) -> None:
    server = serve(script)
    client = httpx2.AsyncClient()
    adapter = adapter_to(server.url, timeouts=Timeouts(whole_call=5), retries=3, http_client=client)
    events: list[StreamEvent] = []

    async def consume() -> None:
        async with aclosing(adapter.call(USER, options())) as source:
            async for event in source:
                events.append(event)  # noqa: PERF401 - those that came before the cancellation count

    async def run() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(consume)
            assert await anyio.to_thread.run_sync(server.asked.wait, 20)
            await anyio.sleep(0.1)
            group.cancel_scope.cancel()
        assert group.cancel_scope.cancelled_caught
        assert await anyio.to_thread.run_sync(server.gone.wait, 20)
        await client.aclose()

    anyio.run(run, backend=backend)
    assert not any(isinstance(event, ErrorEvent | EndEvent) for event in events)
    assert server.requests == 1


@ASYNC
def test_a_time_limit_ends_no_work_of_the_caller_s_own(serve: Serve, backend: str) -> None:
    adapter = adapter_to(serve(_answers).url, timeouts=Timeouts(whole_call=0.2))

    async def run() -> float:
        began = time.monotonic()
        async with aclosing(adapter.call(USER, options())) as events:
            await anext(events)
            await anyio.sleep(0.4)  # longer than the call may take
        await adapter.aclose()
        return time.monotonic() - began

    assert anyio.run(run, backend=backend) >= 0.4


@ASYNC
def test_many_calls_at_once_do_not_mix(serve: Serve, backend: str) -> None:
    def script(connection: socket.socket, stop: threading.Event) -> None:
        name = str(connection.getpeername()[1])
        connection.sendall(HEAD)
        for _ in range(5):
            connection.sendall(piece(says(name + ";")))
        connection.sendall(piece(FINISH) + b"0\r\n\r\n")

    adapter = adapter_to(serve(script).url)
    texts: list[str] = []

    async def one() -> None:
        texts.append((await adapter.complete(USER, options())).message.content or "")

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(one)
        await adapter.aclose()

    anyio.run(run, backend=backend)
    assert [len(set(text.split(";")[:-1])) for text in texts] == [1] * 20
    assert [text.count(";") for text in texts] == [5] * 20
