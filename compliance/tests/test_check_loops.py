"""What is wrong with an adapter that is bound to one event loop or one thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter
from test_check_load import number_in, text_of
from trials import (
    Event,
    answer_events,
    assert_each_has,
    failure_events,
    messages_of,
    reason_of,
    scripted,
    spoiled,
    translator,
)

SERVED = "load.every-loop-and-thread-works"


def answering(give: Callable[[int], list[Event] | None] = lambda _: None) -> Any:
    """A synchronous adapter whose calls are answered rightly, but for those that `give` gives something for."""
    return scripted(lambda prompt, _: give(number_in(prompt)) or answer_events(text_of(number_in(prompt))))


class Blocking:
    """An adapter with its own event loop inside."""

    dialect = "openai-chat"

    def __init__(self, **settings: Any) -> None:
        self._adapter = OpenAIAdapter(**settings)

    def call(self, prompt: Any, options: Any) -> list[Any]:
        async def run() -> list[Any]:
            return [event async for event in self._adapter.call(prompt, options)]

        return asyncio.run(run())


class NeedsALoop:
    """An adapter whose plain `call` needs a running event loop."""

    dialect = "openai-chat"

    def __init__(self, **settings: Any) -> None:
        self._adapter = OpenAIAdapter(**settings)
        self.aclose = self._adapter.aclose

    def call(self, prompt: Any, options: Any) -> Any:
        asyncio.get_running_loop()
        return self._adapter.call(prompt, options)


@pytest.mark.parametrize("make", [OpenAIAdapter, AnthropicAdapter, GeminiAdapter, Blocking, NeedsALoop, answering()])
def test_an_adapter_that_serves_all_passes(make: Any):
    assert messages_of(SERVED, make) == []


def bound(spoil: Callable[[Any], None]) -> list[str]:
    return messages_of(SERVED, spoiled(spoil))


def test_the_first_call_that_is_not_served_is_named():
    def one_loop(adapter: Any) -> None:
        own, first = adapter.call, list[Any]()

        async def call(prompt: Any, options: Any) -> Any:
            first.append(asyncio.get_running_loop())
            if len(first) > 2 and first[-1] is not first[0]:
                raise RuntimeError("Event loop is closed")
            async for event in own(prompt, options):
                yield event

        adapter.call = call

    assert_each_has(
        bound(one_loop)[:1], ["event loop 5 of 8, one after the other, with a new adapter: it raised RuntimeError"]
    )


def test_a_first_call_at_the_same_time_as_another_is_tried():
    def one_thread(adapter: Any) -> None:
        own, busy = adapter.call, threading.Lock()

        async def call(prompt: Any, options: Any) -> Any:
            if not busy.acquire(blocking=False):
                raise OSError("busy")
            try:
                async for event in own(prompt, options):
                    yield event
                await asyncio.sleep(0.2)
            finally:
                busy.release()

        adapter.call = call

    [message] = bound(one_thread)
    assert "of 8, at the same time, with a new adapter" in message
    assert "it raised OSError: busy" in message


@pytest.mark.parametrize(
    ("failing", "given", "fragment"),
    [
        (1, failure_events(), "call gave an ERROR event: "),
        (2, answer_events("another"), "the answer is not its own"),
    ],
)
def test_an_answer_that_is_none_is_found(failing: int, given: list[Event], fragment: str):
    wrong = messages_of(SERVED, answering(lambda number: given if number == failing else None))
    where = f"event loop {failing + 1} of 4, one after the other, with a new adapter: "
    assert_each_has(wrong, [f"{where}{fragment}", fragment])


def test_an_adapter_without_a_call_is_not_asked():
    assert "no call" in reason_of(SERVED, translator(lambda *_: {}, capabilities={"tools"}, dialect="openai-chat"))


SLOW = "load.slow-calls-do-not-block-others"


def letting(how_many: int) -> Any:
    """An adapter that lets so many calls run at a time."""

    def spoil(adapter: Any) -> None:
        own = adapter.call
        free: list[asyncio.Semaphore] = []

        async def call(prompt: Any, options: Any) -> Any:
            free.extend([] if free else [asyncio.Semaphore(how_many)])
            async with free[0]:
                async for event in own(prompt, options):
                    yield event

        adapter.call = call

    return spoiled(spoil)


@pytest.mark.unmeasured
@pytest.mark.parametrize(("how_many", "words"), [(1, ["one after the other"]), (2, []), (100, [])])
def test_calls_that_wait_for_one_another_are_found(how_many: int, words: list[str]):
    assert_each_has(messages_of(SLOW, letting(how_many)), words)


def test_calls_that_fail_say_nothing_about_waiting():
    assert "at-once" in reason_of(SLOW, answering(lambda number: failure_events() if number == 2 else None))
