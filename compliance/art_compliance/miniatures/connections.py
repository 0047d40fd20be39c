"""Adapters whose calls share connections, and disturb each other by that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from threading import local
from typing import Any, Final
from weakref import WeakSet

from art_compliance.miniatures.base import as_data, miniature, retell


@miniature("load.earlier-calls-change-nothing", around=("ollama-chat", "openai"))
def trusts_idle_connections(adapter: Any) -> None:
    """An idle connection is used again without a look whether the provider has closed it."""
    clients = adapter._transport._clients  # noqa: SLF001 - a miniature spoils what it is made of
    own_sync, own_of_this_loop = clients.sync, clients.of_this_loop

    async def of_this_loop() -> Any:
        return _trusting(await own_of_this_loop())

    clients.sync, clients.of_this_loop = lambda: _trusting(own_sync()), of_this_loop


def _trusting(client: Any) -> Any:
    pool = client._transport._pool  # noqa: SLF001 - as above
    if "create_connection" not in vars(pool):
        own = pool.create_connection

        def create_connection(origin: Any) -> Any:
            connection = own(origin)
            connection.has_expired = lambda: False
            return connection

        pool.create_connection = create_connection
    return client


@miniature("load.calls-at-once-do-not-mix", around=("deepseek", "anthropic"))
def closes_its_client_after_a_failure(adapter: Any) -> None:
    """A call that fails in the network closes the client that all calls share, so that the next one gets another."""

    async def renewing(given: Any) -> AsyncIterator[Any]:
        async for event in given:
            data = as_data(event)
            if data.get("type") == "ERROR" and data["error"].get("status") is None:
                await adapter._transport.aclose()  # noqa: SLF001 - as above
            yield event

    retell(adapter, renewing)


@miniature("load.calls-at-once-do-not-mix", around=("anthropic", "openai"))
def closes_the_clients_of_others(adapter: Any) -> None:
    """Whoever closes an adapter closes the clients of all others."""
    _OPEN.add(adapter)
    own = adapter.aclose

    async def aclose() -> None:
        for other in [*_OPEN]:
            await other._transport.aclose()  # noqa: SLF001 - as above
        await own()

    adapter.aclose = aclose


_OPEN: Final = WeakSet[Any]()


@miniature("load.calls-at-once-do-not-mix", around=("ollama-chat", "gemini"))
def ends_the_call_of_its_thread(adapter: Any) -> None:
    """A synchronous call ends the one that its thread still reads, as both would have one connection."""
    own, reading = adapter.call_sync, local()

    def call_sync(prompt: Any, options: Any) -> Iterator[Any]:
        before = getattr(reading, "events", None)
        if before is not None:
            before.close()
        reading.events = own(prompt, options)
        return _events_of(reading.events)

    adapter.call_sync = call_sync


def _events_of(events: Iterator[Any]) -> Iterator[Any]:
    yield from events
