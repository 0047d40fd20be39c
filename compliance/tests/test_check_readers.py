"""Which readers of an answer an adapter may not disturb, and which refused options it may not drop."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from art_compliance import certify
from art_compliance.run.selection import Selection
from art_sdk import CallOptions, OpenAIAdapter, PromptTranslationFailed
from trials import findings_of, messages_of, reason_of

pytestmark = pytest.mark.once

ANYWHERE, SLOW = "load.events-are-read-anywhere", "load.slow-readers-are-left-alone"
REFUSED = "response.refused-options-are-not-dropped"


class AddsThreads(OpenAIAdapter):
    """Its synchronous events can be read on the thread alone that read the first one."""

    def call_sync(self, prompt: Any, options: Any) -> Iterator[Any]:
        first: list[int] = []
        for event in super().call_sync(prompt, options):
            first.append(threading.get_ident())
            yield event
            if threading.get_ident() != first[0]:
                raise RuntimeError("another thread")


class CallsAlone:
    """Has nothing but a synchronous `call`."""

    dialect, capabilities = OpenAIAdapter.dialect, OpenAIAdapter.capabilities
    losses, repairs = OpenAIAdapter.losses, OpenAIAdapter.repairs

    def __init__(self, **settings: Any) -> None:
        self.own = OpenAIAdapter(**settings)

    def call(self, prompt: Any, options: Any) -> Iterator[Any]:
        return self.own.call_sync(prompt, options)

    async def aclose(self) -> None:
        await self.own.aclose()


class Impatient(CallsAlone):
    """Takes the reader's time for that of the provider, whatever the limit."""

    def call(self, prompt: Any, options: Any) -> Iterator[Any]:
        for event in super().call(prompt, options):
            began = time.monotonic()
            yield event
            if time.monotonic() - began > 0.5:
                raise TimeoutError("too slow")


def test_events_may_be_read_on_several_threads():
    assert findings_of(ANYWHERE, OpenAIAdapter) == findings_of(ANYWHERE, CallsAlone) == ()
    (message,) = messages_of(ANYWHERE, AddsThreads)
    assert message.startswith("call_sync, each event read on a thread of its own: it raised RuntimeError: another")


def test_a_reader_may_be_slower_than_the_time_limits():
    assert findings_of(SLOW, OpenAIAdapter) == findings_of(SLOW, CallsAlone) == ()
    found = messages_of(SLOW, Impatient)
    assert [message.partition("=")[0] for message in found] == [
        f"call, with the time limit {limit} " for limit in ("first_byte", "between_bytes", "whole_call")
    ]


def test_an_adapter_may_refuse_time_limits():
    class RefusesLimits(OpenAIAdapter):
        def translate(self, prompt: Any, options: CallOptions) -> Any:
            if options.timeouts is not None:
                raise PromptTranslationFailed("no time limits")
            return super().translate(prompt, options)

    assert "refuses the option timeouts" in reason_of(SLOW, RefusesLimits)


def test_an_option_that_the_adapter_refuses_itself_is_not_tried():
    class RefusesTemperatures(OpenAIAdapter):
        def translate(self, prompt: Any, options: CallOptions) -> Any:
            if options.temperature is not None:
                raise PromptTranslationFailed("no temperature")
            return super().translate(prompt, options)

    assert findings_of(REFUSED, RefusesTemperatures) == ()


class Cyclic(OpenAIAdapter):
    def call_sync(self, prompt: Any, options: Any) -> Iterator[Any]:
        yield from cyclic_events(super().call_sync(prompt, options))

    def call(self, prompt: Any, options: Any) -> Any:
        return cyclic_events(super().call_sync(prompt, options))


def cyclic_events(events: Iterator[Any]) -> Iterator[Any]:
    own: dict[str, Any] = {"type": "TOKEN", "text": "w"}
    own["self"] = own
    yield own
    yield from events


@pytest.mark.parametrize("where", ["apart", "here"])
def test_an_event_without_an_end_fails_the_adapter(where: str):
    report = certify(Cyclic, selection=Selection(checks=("translation.is-total",)), isolated=where == "apart")
    assert [(one.check, one.verdict) for one in report.failures] == [("preflight.answer-is-read", "fail")]
    assert "the data of an event contains itself" in report.failures[0].findings[0].message


class MadeOnTheMainThread(OpenAIAdapter):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("made on another thread")


def test_an_adapter_is_made_on_the_main_thread_of_its_process():
    report = certify(MadeOnTheMainThread, selection=Selection(checks=("translation.is-total",)))
    assert report.failures == report.harness_errors == []
