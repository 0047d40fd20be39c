"""Runs work in the background of an async generator.

A task group must not stay open while a generator has yielded: its cancel scope would be interleaved with those of the
caller, such as a time limit on each event (https://anyio.readthedocs.io/en/stable/cancellation.html, "Avoiding cancel
scope stack corruption"). So the task is the event loop's own, and ends with the `async with`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import copy_context

import anyio


@asynccontextmanager
async def in_background(work: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    """Runs the work from now on, and cancels it at the end if it is not done. Raises what the work raised."""
    done = anyio.Event()
    errors: list[Exception] = []

    async def run() -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - it is raised where the work was started
            errors.append(error)

    cancel = _start(run, done.set)
    try:
        yield
    finally:
        cancel()
        with anyio.CancelScope(shield=True):
            await done.wait()
    if errors:
        raise errors[0]


def _start(run: Callable[[], Awaitable[None]], on_done: Callable[[], None]) -> Callable[[], object]:
    """Starts a task of the running event loop, and returns what cancels it."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return _start_on_trio(run, on_done)
    task = loop.create_task(_awaited(run))
    task.add_done_callback(lambda _: on_done())
    return task.cancel


async def _awaited(run: Callable[[], Awaitable[None]]) -> None:
    await run()


def _start_on_trio(run: Callable[[], Awaitable[None]], on_done: Callable[[], None]) -> Callable[[], object]:
    import trio  # noqa: PLC0415 - whoever runs on it has it

    scope = trio.CancelScope()

    async def run_in_scope() -> None:
        try:
            with scope:
                await run()
        finally:
            on_done()

    trio.lowlevel.spawn_system_task(run_in_scope, context=copy_context())
    return scope.cancel
