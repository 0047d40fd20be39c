"""What tests over the network share: whole calls in each way of calling, and requests over a transport."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import anyio
import httpx2
import pytest

from art_sdk import BaseAdapter, HttpRequest, OpenAIAdapter, ResponseHead, StreamEvent
from art_sdk.http.transport import Transport

USER = [{"role": "user", "content": "hello"}]
BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
BACKENDS = pytest.mark.parametrize("way", ["sync", "asyncio", "trio"])
IGNORES_GENERATORS_OF_HTTPX2 = pytest.mark.filterwarnings(
    # httpx2 leaves generators to the garbage collector, which trio reports; the connection is closed by then
    "ignore:Exception ignored in. <async_generator object (PoolByteStream|.*ByteStream|.*ResponseStream):"
    "pytest.PytestUnraisableExceptionWarning"
)
Serve = Callable[[Callable[[socket.socket, threading.Event], None]], Any]
Client = httpx2.Client | httpx2.AsyncClient


def options(*, stream: bool = True, **more: Any) -> dict[str, Any]:
    return {"thread_id": "t", "stream": stream, **more}


def frame(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


def says(text: str) -> bytes:
    """A frame with a token."""
    return frame(json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}))


FINISH = frame('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}') + frame("[DONE]")


def new_client(*, is_async: bool) -> Client:
    """A client made before a time limit runs: reading the certificates takes longer than some limits."""
    return httpx2.AsyncClient() if is_async else httpx2.Client()


def adapter_to(url: str, **more: Any) -> OpenAIAdapter:
    return OpenAIAdapter(api_key="key", base_url=url, **more)


def gather(adapter: BaseAdapter, way: str, client: Client | None = None, **more: Any) -> list[StreamEvent]:
    """All events of one call, each way of calling. Closes the adapter, and the client that it was given."""
    if way == "sync":
        with closing(adapter), closing(client if isinstance(client, httpx2.Client) else adapter):
            return list(adapter.call_sync(USER, options(**more)))

    async def run() -> list[StreamEvent]:
        try:
            return [event async for event in adapter.call(USER, options(**more))]
        finally:
            await adapter.aclose()
            if isinstance(client, httpx2.AsyncClient):
                await client.aclose()

    return anyio.run(run, backend=way)


def kinds(events: list[StreamEvent]) -> list[type[StreamEvent]]:
    return [type(event) for event in events]


def receive(transport: Transport, request: HttpRequest, **how: Any) -> tuple[ResponseHead, bytes]:
    with transport.send(request, **how) as (head, chunks):
        return head, b"".join(chunks)


async def receive_async(transport: Transport, request: HttpRequest, **how: Any) -> tuple[ResponseHead, bytes]:
    async with transport.send_async(request, **how) as (head, chunks):
        return head, b"".join([chunk async for chunk in chunks])


def run_async(
    transport: Transport, request: HttpRequest, client: Client | None = None, **how: Any
) -> tuple[ResponseHead, bytes]:
    """As `receive`, asynchronously. Closes the transport, and the client that it was given."""

    async def run() -> tuple[ResponseHead, bytes]:
        try:
            return await receive_async(transport, request, **how)
        finally:
            await transport.aclose()
            if isinstance(client, httpx2.AsyncClient):
                await client.aclose()

    return asyncio.run(run())
