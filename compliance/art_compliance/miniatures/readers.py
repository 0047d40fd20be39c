"""Adapters that are right for a reader who takes every event at once, in one task."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Any, Final

import anyio

from art_compliance.miniatures.base import as_data, failed, miniature, retell

_CURRENT: Final[ContextVar[Any]] = ContextVar("current_call", default=None)


@miniature("load.events-are-read-anywhere", around=("openai", "anthropic", "gemini"))
def notes_the_call_in_its_context(adapter: Any) -> None:
    """A context variable that is set for a call is reset where its last event is read."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> AsyncIterator[Any]:
        token = _CURRENT.set(options)
        try:
            async for event in own(prompt, options):
                yield event
        finally:
            _CURRENT.reset(token)

    adapter.call = call


@miniature("load.events-are-read-anywhere", around=("openai", "bedrock"))
def notes_the_synchronous_call_in_its_context(adapter: Any) -> None:
    """As above, for `call_sync`, whose events a web server reads on several threads."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Iterator[Any]:
        token = _CURRENT.set(options)
        try:
            yield from own(prompt, options)
        finally:
            _CURRENT.reset(token)

    adapter.call_sync = call_sync


@miniature("load.events-are-read-anywhere", around=("openai", "mistral"))
def reads_in_one_cancel_scope(adapter: Any) -> None:
    """A scope that is open from the first event to the last can be left only by the task that entered it."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> AsyncIterator[Any]:
        with anyio.CancelScope():
            async for event in own(prompt, options):
                yield event

    adapter.call = call


@miniature("stream.closing-ends-the-call", around=("cohere", "anthropic"))
def ends_a_thought_when_it_is_closed(adapter: Any) -> None:
    """A call that is closed while the model thinks yields a last token, which ends the thought for the display."""

    async def ended(given: Any) -> AsyncIterator[Any]:
        thought = None
        try:
            async for event in given:
                thought = event if str(as_data(event).get("token_type")).endswith("LLM_THINKING") else None
                yield event
        finally:
            if thought is not None:
                yield thought

    retell(adapter, ended)


@miniature("load.slow-readers-are-left-alone", around=("openai", "anthropic", "gemini"))
def bounds_its_yields(adapter: Any) -> None:
    """The time limit of the whole call cancels whatever its reader awaits meanwhile."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> AsyncIterator[Any]:
        limits: dict[str, Any] = as_data(options).get("timeouts") or {}
        try:
            async with asyncio.timeout(limits.get("whole_call")):
                async for event in own(prompt, {**as_data(options), "timeouts": {**limits, "whole_call": None}}):
                    yield event
        except TimeoutError:
            for event in failed("the call took too long"):
                yield event

    adapter.call = call


@miniature("load.slow-readers-are-left-alone", around=("openai", "cohere"))
def counts_the_readers_time(adapter: Any) -> None:
    """The time between two events counts as time between bytes, though the reader spent it."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Iterator[Any]:
        limits: dict[str, Any] = as_data(options).get("timeouts") or {}
        limit = limits.get("between_bytes")
        for event in own(prompt, options):
            began = time.monotonic()
            yield event
            if limit is not None and time.monotonic() - began > limit:
                yield from failed("no byte came in time")
                return

    adapter.call_sync = call_sync
