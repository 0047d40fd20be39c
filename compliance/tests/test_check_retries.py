"""What is wrong with an adapter that asks again."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from art_compliance.miniatures.base import Events, as_data, change_events
from art_compliance.subject.events import Answered
from art_sdk import CAPABILITIES, OpenAIAdapter
from trials import answer_events, assert_each_has, messages_of, reason_of, scripted, spoiled, translator

CARE = "faults.retries-are-careful"
CUT = "2 requests for a stream that was cut off after its first tokens"
CUT_REFUSAL = "2 requests after a 401 answer whose body was cut off"
REFUSED = "2 requests for a stream that was refused with 400"
TOO_LONG = "2 requests after the provider said that the prompt is too long"
NO_OPTION = "2 requests after the provider refused an option"


class Unstreamed(OpenAIAdapter):
    capabilities = CAPABILITIES - {"streaming"}


def asks_otherwise(status: int, *, seconds: float = 0.0, make: type = OpenAIAdapter) -> Any:
    """As `asks_again`, with a temperature that the first request does not have."""
    return asks_again(status, seconds=seconds, make=make, options={"temperature": 0.5})


def asks_again(
    *statuses: int | None, seconds: float = 0.0, make: type = OpenAIAdapter, options: dict[str, Any] | None = None
) -> Any:
    """An adapter that asks once more, after so many seconds, with these options too, where its answer is so."""
    more = options or {}

    def spoil(adapter: Any) -> None:
        own = adapter.call

        async def call(prompt: Any, options: Any) -> Any:
            events = [event async for event in own(prompt, options)]
            error = Answered.of(events).error
            if error is not None and error.get("status") in statuses:
                await asyncio.sleep(seconds)
                events = [event async for event in own(prompt, {**as_data(options), **more})]
            for event in events:
                yield event

        adapter.call = call

    return spoiled(spoil, make)


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (OpenAIAdapter, []),
        (asks_again(400), [REFUSED, TOO_LONG, NO_OPTION]),
        (asks_again(404), ["refused with 404"]),
        (asks_again(None, 200), [CUT]),
        (asks_again(401), [CUT_REFUSAL]),
        (asks_again(401, make=Unstreamed), [CUT_REFUSAL]),
        (asks_again(429), ["retried 0.", "retried 0.", "Retry-After: 900"]),
        (asks_again(429, seconds=0.5, make=Unstreamed), ["retried 0.", "Retry-After: 900"]),
        (asks_again(400, make=Unstreamed), [TOO_LONG, NO_OPTION]),
        (asks_otherwise(500), ["a 500 answer, the retried request"]),
        (asks_otherwise(503), ["a 503 answer, the retried request"] * 2),
        (
            asks_otherwise(429, seconds=1.1, make=Unstreamed),
            ["a 429 answer, the retried request", "Retry-After: 900"],
        ),
        (partial(Unstreamed, retries=1), []),
        (scripted(answer_events()), ["sent no request"]),
    ],
)
def test_what_is_wrong_with_asking_again_is_found(make: Any, fragments: list[str]):
    assert_each_has(messages_of(CARE, make, dialect="openai-chat"), fragments)


STATUSES = [400, 404, 401, 400, 400, 429, 429, 503, 503, 500, 502, 504, 529, None, 503, 429]
"""Of the errors, in their order: None is a connection that was dropped."""


def test_what_is_answered():
    seen: list[Events] = []
    adapter = spoiled(lambda one: change_events(one, lambda events: (seen.append(events), events)[1]))
    assert messages_of(CARE, adapter) == []
    texts = ["".join(event.get("text", "") for event in events) for events in seen]
    whole, cut, *others = texts
    assert 0 < len(cut) < len(whole)
    assert whole.startswith(cut)
    assert others == [*[""] * 15, whole, whole, ""]  # two delays are waited for
    errors = [event["error"] for events in seen[2:] for event in events if event["type"] == "ERROR"]
    assert [error.get("status") for error in errors] == STATUSES
    words = [error.get("provider_message") for error in errors]
    too_long, no_option = words.pop(3), words.pop(3)
    assert ("maximum context length" in too_long, "Unsupported parameter" in no_option) == (True, True)
    assert words == [
        "written error 400",
        "written error 404",
        None,
        *["written error 429"] * 2,
        *["written error 503"] * 2,
        *[f"written error {status}" for status in (500, 502, 504, 529)],
        None,
        "written error 503",
        "written error 429",
    ]
    assert [error.get("retry_after") for error in errors[5:]] == [1.0, 1.0, *[None] * 8, 900.0]


def test_an_adapter_without_a_call_is_not_asked():
    assert "no call" in reason_of(CARE, translator(lambda *_: {}, capabilities={"tools"}))
