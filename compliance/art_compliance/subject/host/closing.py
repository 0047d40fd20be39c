"""Closes an adapter: by its asynchronous `aclose`, or by its `close`, which closes what synchronous calls opened."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from art_compliance.subject.deadlines import TimedOut, await_bounded, run_bounded
from art_compliance.subject.making import Order
from art_compliance.subject.places import describe_error

if TYPE_CHECKING:
    import anyio.from_thread


def can_be_closed(adapter: Any) -> bool:
    """Whether it has an asynchronous `aclose`."""
    return inspect.iscoroutinefunction(getattr(adapter, "aclose", None))


def close_adapter(adapter: Any, order: Order, portal: anyio.from_thread.BlockingPortal) -> None:
    """Closes the adapter if it can be closed. Raises HarnessError."""
    if not can_be_closed(adapter):
        return
    with _closing(order, "aclose"):
        await_bounded(portal.start_task_soon(adapter.aclose), order.limit)


def close_in_own_loop(adapter: Any) -> None:
    """Closes the adapter if it can be closed, in an event loop that ends with it. Raises what its `aclose` raises."""
    if can_be_closed(adapter):
        asyncio.run(adapter.aclose())


def _has_close(adapter: Any) -> bool:
    close = getattr(adapter, "close", None)
    return callable(close) and not inspect.iscoroutinefunction(close)


def _close_synchronously(adapter: Any, order: Order, portal: anyio.from_thread.BlockingPortal) -> None:
    del portal
    with _closing(order, "close"):
        run_bounded(adapter.close, order.limit)


@contextmanager
def _closing(order: Order, name: str) -> Generator[None]:
    try:
        yield
    except TimedOut as error:
        raise order.error(f"it cannot be closed: {error}") from error
    except Exception as error:
        raise order.error(f"{name} raised {describe_error(error)}") from error


class Closer(NamedTuple):
    """A way to close an adapter: `close` raises HarnessError if it does not work."""

    words: str
    can_close: Callable[[Any], bool]
    close: Callable[[Any, Order, anyio.from_thread.BlockingPortal], None]


CLOSERS: Final = {
    "aclose": Closer("asynchronous aclose", can_be_closed, close_adapter),
    "close": Closer("synchronous close", _has_close, _close_synchronously),
}
