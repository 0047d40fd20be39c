"""Adapters that are right, but are not alone in their process, or go where nobody sent them."""

from __future__ import annotations

import asyncio
import functools
import logging
import random
import socket
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from typing import Any, Final
from weakref import WeakKeyDictionary

from art_compliance.miniatures.base import miniature
from art_compliance.subject.events import Answered


def before_each_call(adapter: Any, act: Callable[[], object]) -> None:
    """The adapter does something before each `call`."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        act()
        return own(prompt, options)

    adapter.call = call


@miniature("load.process-state-is-unchanged")
def seeds_the_random_numbers(adapter: Any) -> None:
    """Each call sets the seed of Python's random numbers."""
    before_each_call(adapter, lambda: random.seed(7))


@miniature("load.process-state-is-unchanged", around=("openai",))
def sets_a_timeout_for_all_sockets(adapter: Any) -> None:
    """Each call sets socket's default timeout, to another value than the one before."""
    default = socket.getdefaulttimeout()
    before_each_call(adapter, lambda: socket.setdefaulttimeout(600.0))
    _put_back_when_closed(adapter, lambda: socket.setdefaulttimeout(default))


@miniature("load.process-state-is-unchanged", around=("anthropic",))
def sets_up_logging(adapter: Any) -> None:
    """Each call sets the level of the root logger."""
    root = logging.getLogger()
    level = root.level
    before_each_call(adapter, lambda: root.setLevel(logging.ERROR))
    _put_back_when_closed(adapter, lambda: root.setLevel(level))


@miniature("load.process-state-is-unchanged", around=("gemini",))
def replaces_a_function_of_the_library(adapter: Any) -> None:
    """Making the adapter replaces a function of asyncio, as to run in a loop that runs already."""
    asyncio.run = functools.partial(_RUN)
    _put_back_when_closed(adapter, lambda: setattr(asyncio, "run", _RUN))


_RUN: Final = asyncio.run
"""The library's own, whichever adapter is closed last."""


@miniature("load.process-state-is-unchanged", around=("openai",))
def silences_warnings(adapter: Any) -> None:
    """Making the adapter silences all warnings of the process."""
    stack = ExitStack()
    stack.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore")
    _put_back_when_closed(adapter, stack.close)


def _put_back_when_closed(adapter: Any, put_back: Callable[[], object]) -> None:
    """What is wrong with the adapter ends with it: the suite's own tests share its process."""
    own = adapter.aclose

    async def aclose() -> None:
        put_back()
        await own()

    adapter.aclose = aclose


@miniature("load.calls-go-only-to-base-url")
def reports_to_a_collector(adapter: Any) -> None:
    """Each call connects to another server, too."""

    def report() -> None:
        with closing(socket.socket()) as connection, suppress(OSError):
            connection.connect(("127.0.0.1", 9))  # the port `discard`, where nobody listens

    before_each_call(adapter, report)


@miniature("load.calls-go-only-to-base-url", around=("openai",))
def keeps_a_log_of_its_calls(adapter: Any) -> None:
    """Each call writes to a file."""

    def log() -> None:
        with tempfile.NamedTemporaryFile("a", encoding="utf-8") as file:
            file.write("called")

    before_each_call(adapter, log)


@miniature("load.slow-calls-do-not-block-others", around=("openai", "anthropic"))
def sleeps_before_it_asks_again(adapter: Any) -> None:
    """The event loop stands still while a call waits before it is retried."""
    own, exchange = adapter.call, adapter._exchange  # noqa: SLF001 - a miniature spoils what it is made of
    adapter._exchange = exchange._replace(retries=0)  # noqa: SLF001 - likewise

    async def call(prompt: Any, options: Any) -> Any:
        events = [event async for event in own(prompt, options)]
        for _ in range(exchange.retries):
            if Answered.of(events).error is None:
                break
            time.sleep(1)  # noqa: ASYNC251 - that is the fault
            events = [event async for event in own(prompt, options)]
        for event in events:
            yield event

    adapter.call = call


@miniature("load.slow-calls-do-not-block-others")
def answers_one_after_the_other(adapter: Any) -> None:
    """A call waits until the one before has ended."""
    own = adapter.call
    locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def call(prompt: Any, options: Any) -> Any:
        lock = locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with lock:
            async for event in own(prompt, options):
                yield event

    adapter.call = call
