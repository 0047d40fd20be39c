"""What the suite observes of an adapter: a request, a refusal, a crash, or an adapter that hangs."""

from __future__ import annotations

import asyncio
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from art_compliance import certify, load_scenarios
from art_compliance.provider import Asked, Response
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.host import calling, collecting
from art_compliance.subject.observations import Crashed, Refused, Sent
from art_compliance.subject.opening import open_subject
from art_sdk import OpenAIAdapter, PromptTranslationFailed
from own_adapters import BlackBox, OwnAdapter, Refusal, TranslateOnly

HELLO = [{"role": "user", "content": "hello"}]
OPTIONS = {"thread_id": "t"}


def test_sent_refused_crashed_and_answered_are_distinguished():
    class Moody(OwnAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            text = prompt[0]["content"]
            if text == "refuse":
                raise Refusal("not this")
            if text == "crash":
                raise KeyError("content")
            return super().translate(prompt, options)

    with open_subject(Moody, name="moody") as subject:
        assert isinstance(subject.translate(HELLO, OPTIONS), Sent)
        refused = subject.translate([{"role": "user", "content": "refuse"}], OPTIONS)
        assert isinstance(refused, Refused)
        assert (refused.code, refused.message) == ("PROMPT_TRANSLATION_FAILED", "not this")
        crashed = subject.send([{"role": "user", "content": "crash"}], OPTIONS)
        assert isinstance(crashed, Crashed)
        assert crashed.error == "KeyError: 'content'"
        assert "in translate" in crashed.where
        answered = subject.call(HELLO, OPTIONS)
        assert isinstance(answered, Answered)
        assert answered.kinds == ("TOKEN", "METADATA", "END")


def test_the_longest_answer_may_come_letter_by_letter():
    texts = [one.answer.content or "" for one in load_scenarios() if one.answer is not None]
    assert 200_000 < max(map(len, texts)) < collecting.MOST_EVENTS


def test_a_call_takes_the_time_in_which_it_returns_its_events_too():
    class Collects(OwnAdapter):
        def call(self, prompt: Any, options: Any) -> Any:
            time.sleep(0.01)
            return list(super().call(prompt, options))

    with open_subject(Collects, name="collects") as subject:
        answered = subject.call(HELLO, OPTIONS)
    assert isinstance(answered, Answered)
    assert answered.at[0] >= 0.01


def test_a_call_that_sends_nothing_is_a_crash():
    class Silent(OwnAdapter):
        def call(self, prompt: Any, options: Any) -> Any:
            return iter(())

    with open_subject(Silent, name="silent") as subject:
        assert subject.send(HELLO, OPTIONS) == Crashed("call ended without a POST to base_url")


def test_a_crash_without_a_request_shows_the_error_event():
    class Failing(OwnAdapter):
        def call(self, prompt: Any, options: Any) -> Any:
            return iter([{"type": "ERROR", "error": {"message": "UnicodeEncodeError: surrogates"}}, {"type": "END"}])

    with open_subject(Failing, name="failing") as subject:
        crashed = Crashed("call ended without a POST to base_url, with the ERROR UnicodeEncodeError: surrogates")
        assert subject.send(HELLO, OPTIONS) == crashed


def test_a_body_that_is_not_json_is_a_crash():
    class Wrong(OwnAdapter):
        def call(self, prompt: Any, options: Any) -> Any:
            with urllib.request.urlopen(f"{self.url}/chat/completions", b"hello=1"):
                return iter(())

    with open_subject(Wrong, name="wrong") as subject:
        seen = subject.send(HELLO, OPTIONS)
    assert isinstance(seen, Crashed)
    assert seen.error.startswith("the request's body is not JSON")


def test_an_error_of_the_sdk_is_a_refusal():
    class Refusing(OpenAIAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            raise PromptTranslationFailed("no")

    with open_subject(Refusing, name="refusing") as subject:
        facts = {"code": "PROMPT_TRANSLATION_FAILED", "message": "no"}
        assert subject.translate(HELLO, OPTIONS) == Refused("PROMPT_TRANSLATION_FAILED", "no", facts=facts)


class Endless(OwnAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        time.sleep(60)


class EndlessCall(BlackBox):
    async def call(self, prompt: Any, options: Any) -> Any:
        await asyncio.sleep(60)
        yield {}


def greet(asked: Asked) -> Response:
    return asked.answer(WrittenAnswer(content="hello"))


def test_concurrent_calls_that_hang_share_one_time_limit():
    with open_subject(EndlessCall, name="endless") as subject:
        began = time.monotonic()
        replies = subject.call_together([(HELLO, OPTIONS, "call")] * 5, greet, seconds=2)
        took = time.monotonic() - began
    assert {str(one) for one in replies} == {"it did not return within 2 s"}
    assert took < 9  # one after the other would take 10 s


class Busy(BlackBox):
    """Its first call works longer than it may, and no other call of its event loop can go on meanwhile."""

    is_first, seconds = True, 0.6

    async def call(self, prompt: Any, options: Any) -> Any:
        if self.is_first:
            self.is_first = False
            time.sleep(self.seconds)  # noqa: ASYNC251 - it must block
        yield {"type": "END", "thread_id": "t", "trace_id": "t", "finish": "stop"}


def test_a_call_that_blocks_the_event_loop_makes_no_other_call_late():
    with open_subject(Busy, name="busy") as subject:
        assert str(subject.call(HELLO, OPTIONS, seconds=0.2)) == "it did not return within 0.2 s"
        assert isinstance(subject.call(HELLO, OPTIONS), Answered)


def test_a_call_after_one_that_blocks_the_event_loop_for_good_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calling, "PATIENCE", 0.1)
    monkeypatch.setattr(Busy, "seconds", 3)
    with open_subject(Busy, name="busy") as subject:
        subject.call(HELLO, OPTIONS, seconds=0.1)
        late = str(subject.call(HELLO, OPTIONS))
    assert late == "it did not begin: an earlier call, which was given up, still blocks the event loop"


class Quitting(OwnAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        sys.exit("enough")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Endless, "it did not return within 0.2 s"),
        (EndlessCall, "it did not return within 0.2 s"),
        (Quitting, "it tried to exit the program: SystemExit: enough"),
    ],
)
def test_an_adapter_that_hangs_or_exits_has_failed(make: Any, message: str):
    report = certify(make, call_seconds=0.2, isolated=False)
    assert (len(report.results), report.harness_errors) == (1, [])
    assert message in report.failures[0].findings[0].message


def test_an_asynchronous_translate_is_a_harness_error():
    class Asynchronous(TranslateOnly):
        async def translate(self, prompt: Any, options: Any) -> Any:
            return {}

    report = certify(Asynchronous, isolated=False)
    assert "but returned a coroutine; translate must not be async" in report.harness_errors[0].findings[0].message
