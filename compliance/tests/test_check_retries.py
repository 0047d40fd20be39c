"""What is wrong with an adapter that asks again."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from art_compliance.miniatures.base import Events, change_events
from art_compliance.subject.events import Answered
from art_sdk import CAPABILITIES, OpenAIAdapter
from trials import answer_events, assert_each_has, messages_of, reason_of, scripted, spoiled, translator

CARE = "faults.are-asked-again-with-care"
CUT = "2 requests for a stream that was cut off after its first tokens"
CUT_REFUSAL = "2 requests after a 401 answer whose body was cut off"
REFUSED = "2 requests for a stream that was refused with 400"


class Unstreamed(OpenAIAdapter):
    capabilities = CAPABILITIES - {"streaming"}


def asks_again(*statuses: int | None, seconds: float = 0.0, make: type = OpenAIAdapter) -> Any:
    """An adapter that asks once more, after so many seconds, where its answer is so."""

    def spoil(adapter: Any) -> None:
        own = adapter.call

        async def call(prompt: Any, options: Any) -> Any:
            events = [event async for event in own(prompt, options)]
            error = Answered.of(events).error
            if error is not None and error.get("status") in statuses:
                await asyncio.sleep(seconds)
                events = [event async for event in own(prompt, options)]
            for event in events:
                yield event

        adapter.call = call

    return spoiled(spoil, make)


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (OpenAIAdapter, []),
        (asks_again(400), [REFUSED]),
        (asks_again(None, 200), [CUT]),
        (asks_again(401), [CUT_REFUSAL]),
        (asks_again(401, make=Unstreamed), [CUT_REFUSAL]),
        (asks_again(429), ["retried 0.", "retried 0."]),
        (asks_again(429, seconds=0.5, make=Unstreamed), ["retried 0."]),
        (asks_again(400, make=Unstreamed), []),
        (partial(Unstreamed, retries=1), []),
        (scripted(answer_events()), ["sent no request"]),
    ],
)
def test_what_is_wrong_with_asking_again_is_found(make: Any, fragments: list[str]):
    assert_each_has(messages_of(CARE, make, dialect="openai-chat"), fragments)


def test_what_is_answered():
    seen: list[Events] = []
    adapter = spoiled(lambda one: change_events(one, lambda events: (seen.append(events), events)[1]))
    assert messages_of(CARE, adapter) == []
    texts = ["".join(event.get("text", "") for event in events) for events in seen]
    whole, cut, *others = texts
    assert 0 < len(cut) < len(whole)
    assert whole.startswith(cut)
    assert others == [""] * 6
    errors = [event["error"] for events in seen[2:] for event in events if event["type"] == "ERROR"]
    assert [error["status"] for error in errors] == [400, 401, 429, 429, 503, 503]
    words = [error.get("provider_message") for error in errors]
    assert words == ["written error 400", None, *["written error 429"] * 2, *["written error 503"] * 2]
    assert [error["retry_after"] for error in errors[2:]] == [1.0, 1.0, None, None]


def test_an_adapter_without_a_call_is_not_asked():
    assert "no call" in reason_of(CARE, translator(lambda *_: {}, capabilities={"tools"}))
