"""Calls that end early: closed after their first token, or cancelled while they wait for the next one."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Final, Literal

import anyio

from art_compliance.subject.deadlines import stopping
from art_compliance.subject.events import event_data

BREATH: Final = 0.03
"""Seconds after its first token by which an adapter waits for the next bytes."""

Cancelled = Literal["cancelled", "ended before", "went on"]
"""What came of a call that was to be cancelled."""


class CannotDo(Exception):
    """The adapter's call is of a kind that cannot be used in this way."""


def _is_token(event: Any) -> bool:
    return event_data(event).get("type") == "TOKEN"


def close_early(result: Any) -> float:
    """Closes a generator after its first token, and returns how many seconds that took. Raises CannotDo."""
    close = getattr(result, "close", None)
    if close is None:
        raise CannotDo(_NOT_CLOSABLE)
    for event in result:
        if _is_token(event):
            break
    began = time.perf_counter()
    close()
    return time.perf_counter() - began


@stopping
async def close_early_async(result: Any) -> float:
    """As `close_early`, for an asynchronous generator."""
    if inspect.isawaitable(result):
        result = await result
    close = getattr(result, "aclose", None)
    if close is None:
        raise CannotDo(_NOT_CLOSABLE)
    async for event in result:
        if _is_token(event):
            break
    began = time.perf_counter()
    await close()
    return time.perf_counter() - began


_NOT_CLOSABLE: Final = "the events cannot be closed: call does not return a generator"


@stopping
async def cancel_scope_early(result: Any) -> Cancelled:
    """Cancels a scope, which cancels its task until that ends, while the call waits for its second token."""
    has_token = anyio.Event()
    came: Cancelled = "cancelled"
    failed: list[Exception] = []

    async def read() -> None:
        nonlocal came
        try:
            await _read_all(result, has_token.set)
        except Exception as error:  # noqa: BLE001 - the group would raise it with others that it has not
            failed.append(error)
            has_token.set()
        came = "went on" if group.cancel_scope.cancel_called else "ended before"

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        with anyio.move_on_after(1):
            await has_token.wait()
        await anyio.sleep(BREATH)
        group.cancel_scope.cancel()
    if failed:
        raise failed[0]
    return came


@stopping
async def cancel_task_early(result: Any, after: float = BREATH) -> Cancelled:
    """Cancels a task, once, while the call waits for its first token, `after` so many seconds."""
    task = asyncio.ensure_future(_read_all(result, _ignore))
    if await _ends(task, after):
        task.result()  # raises what the call raised
        return "ended before"
    task.cancel()
    if await _ends(task, _OBEYS):
        if task.cancelled():
            return "cancelled"
        task.result()  # likewise
        return "went on"
    while not await _ends(task, BREATH):  # the suite goes on without it
        task.cancel()
    return "went on"


_OBEYS: Final = 2.0
"""Seconds in which a task that was cancelled may end on a busy machine; most end at once."""


async def _ends(task: asyncio.Future[None], seconds: float) -> bool:
    return bool((await asyncio.wait({task}, timeout=seconds))[0])


async def _read_all(result: Any, on_token: Callable[[], None]) -> None:
    if inspect.isawaitable(result):
        result = await result
        if not hasattr(result, "__aiter__"):  # a whole answer
            return
    async for event in result:
        if _is_token(event):
            on_token()


def _ignore() -> None:
    """Nobody waits for the token."""
