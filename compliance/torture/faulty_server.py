"""A server that answers with faults, and calls of a reference adapter that reads them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from typing import Any

import anyio
from rows import Failed

from art_sdk import ErrorEvent, LLMProviderError, OpenAIAdapter, StreamEvent

USER = [{"role": "user", "content": "hello"}]

Script = Callable[[socket.socket], None]


class Server:
    """A server that reads each request and follows the script. `open` connections are those that nobody has closed."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.requests: list[bytes] = []
        self.connections = 0
        self.open = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self.open += 1
                threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def _attend(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            while request := read_request(connection):
                self.requests.append(request)
                self._script(connection)
        self.open -= 1

    def close(self) -> None:
        """Takes no further connection."""
        self._listener.close()


def read_request(connection: socket.socket) -> bytes:
    """The head and the body of a request; empty when the client has closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        more = connection.recv(65536)
        if not more:
            return b""
        body += more
    return head + b"\r\n\r\n" + body


def head_of(status: str, kind: str, *headers: str) -> bytes:
    """The head of an answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", f"content-type: {kind}", *headers, "", ""]).encode()


def sends(body: bytes, status: str = "200 OK", kind: str = "text/event-stream", *headers: str) -> Script:
    """A script: this answer, whole."""
    whole = head_of(status, kind, f"content-length: {len(body)}", *headers) + body
    return lambda connection: connection.sendall(whole)


def gather(url: str, way: str = "sync", *, stream: bool = True, **more: Any) -> list[StreamEvent]:
    """The events of one call."""
    given = {"thread_id": "t", "stream": stream, **more}
    adapter = OpenAIAdapter(api_key="key", base_url=url)
    if way == "sync":
        with closing(adapter):
            return list(adapter.call_sync(USER, given))

    async def run() -> list[StreamEvent]:
        try:
            return [event async for event in adapter.call(USER, given)]
        finally:
            await adapter.aclose()

    return anyio.run(run, backend=way)


def error_in(events: list[StreamEvent]) -> LLMProviderError | None:
    """The error of a call that ended in order. Raises Failed for one that did not."""
    if not events or type(events[-1]).__name__ != "EndEvent":
        raise Failed(f"the last event is {type(events[-1]).__name__ if events else 'missing'}")
    errors = [event.error for event in events if isinstance(event, ErrorEvent)]
    if len(errors) > 1 or not all(isinstance(error, LLMProviderError) for error in errors):
        raise Failed(f"errors: {errors!r:.80}")
    return errors[0] if errors else None  # type: ignore[return-value]


@contextmanager
def serving(script: Script) -> Generator[Server]:
    """A server that follows this script."""
    server = Server(script)
    try:
        yield server
    finally:
        server.close()


def ends_in_an_error(script: Script, way: str = "sync", *, stream: bool = True, within: float | None = None) -> str:
    """One call, which must end in an ERROR event; within so many seconds of wall time where they are given."""
    limits = {} if within is None else {"timeouts": {"first_byte": within, "whole_call": within}}
    with serving(script) as server:
        began = time.monotonic()
        error = error_in(gather(server.url, way, stream=stream, **limits))
        took = time.monotonic() - began
    if error is None:
        raise Failed("the answer was read as a good one")
    if within is not None and took > within + 2:
        raise Failed(f"it took {took:.1f} s against a limit of {within:g} s")
    return f"ERROR: {error.message}"
