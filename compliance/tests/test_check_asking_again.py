"""What is wrong with who asks again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks.faults import retries as asking_again
from art_compliance.dialects import DIALECTS
from art_compliance.provider import Asked, Drop, Request, Send
from art_sdk import OpenAIAdapter
from trials import reason_of

CUT = "a stream that was cut off after its first tokens was asked for"
REFUSED = "a stream that was refused with 400 was asked for"
EARLY = "s after an answer 429 with Retry-After: 1"


def found(monkeypatch: pytest.MonkeyPatch, times: list[list[float]], *, streams: bool) -> list[str]:
    asked, waiting = [], iter(times)

    def tell(_: Any, make: Any, *, streamed: bool) -> list[float]:
        asked.append((make.__name__, streamed))
        return next(waiting)

    monkeypatch.setattr(asking_again, "_times", tell)
    subject = SimpleNamespace(has_call=True, capabilities=("streaming",) if streams else ())
    trial: Any = SimpleNamespace(
        subject=subject, with_answer=lambda _: trial, once=lambda _: None, require=lambda *_: None
    )
    told = [one.message for one in asking_again.are_asked_again_with_care.run(trial)]
    first = [("_cut", True), ("_refused", True)] if streams else []
    assert asked == [*first, ("_busy", False), *([("_busy", True)] if streams else [])]
    return told


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ([[0.0], [0.0], [0.0, 1.0], [0.0]], []),
        ([[0.0], [0.0], [5.0, 5.96], [5.0, 5.96, 5.97]], []),
        ([[0.0], [0.0], [5.0, 5.94], [0.0]], [f"asked again 0.94 {EARLY}"]),
        ([[0.0], [0.0], [0.0], [0.0, 0.5, 1.5]], [f"asked again 0.50 {EARLY}"]),
        ([[0.0, 0.1], [0.0], [0.0], [0.0]], [f"{CUT} 2 times"]),
        ([[0.0], [0.0, 0.1, 0.2], [0.0], [0.0]], [f"{REFUSED} 3 times"]),
        ([[], [0.0], [0.0], [0.0]], [f"{CUT} 0 times"]),
    ],
)
def test_of_who_asks_again_is_wrong(monkeypatch: pytest.MonkeyPatch, times: list[list[float]], told: list[str]):
    assert found(monkeypatch, times, streams=True) == told


def test_who_does_not_stream_is_judged_by_whole_answers(monkeypatch: pytest.MonkeyPatch):
    assert found(monkeypatch, [[0.0, 0.5]], streams=False) == [f"asked again 0.50 {EARLY}"]


def test_who_cannot_be_called_is_not_judged():
    class Silent(OpenAIAdapter):
        call = None

    assert reason_of("faults.are-asked-again-with-care", Silent) == "the adapter has no call"


OPENAI = DIALECTS["openai-chat"]
ASKED = Asked(OPENAI, Request("POST", "/v1/chat/completions", {}, b""), {"stream": True})


def test_what_is_answered():
    events = OPENAI.streams.write(asking_again.ANSWER, ASKED.payload)
    steps = asking_again._cut(ASKED, 1).steps or ()
    assert steps == (*map(Send, events[: (len(events) + 1) // 2]), Drop())
    assert len(events) % 2 == 1
    even = Asked(OPENAI, ASKED.request, {"stream": True, "stream_options": {"include_usage": True}})
    cut = asking_again._cut(even, 1).steps or ()
    more = OPENAI.streams.write(asking_again.ANSWER, even.payload)
    assert (len(more) % 2, cut) == (0, (*map(Send, more[: len(more) // 2]), Drop()))
    refused, busy = asking_again._refused(ASKED, 1), asking_again._busy(ASKED, 1)
    assert (refused.status, refused.body) == (400, OPENAI.answers.write_error(400, "written error 400"))
    assert (busy.status, busy.body) == (429, OPENAI.answers.write_error(429, "written error 429"))
    assert busy.headers == (("retry-after", "1"),)
    assert asking_again._busy(ASKED, 2).status == 200
    assert asking_again._cut(ASKED, 1).status == 200


def test_the_times_are_those_of_the_requests():
    made: list[int] = []

    def call(prompt: Any, options: dict[str, Any], answer: Any) -> None:
        assert (prompt, options["stream"]) == (["p"], True)
        answer(ASKED)
        answer(ASKED)

    scenario = SimpleNamespace(prompt=["p"], call_options=dict)
    trial: Any = SimpleNamespace(subject=SimpleNamespace(call=call), scenario=scenario)
    first, second = asking_again._times(trial, lambda _, count: made.append(count), streamed=True)  # type: ignore[func-returns-value]
    assert first <= second
    assert made == [1, 2]
    trial.subject.call = lambda *_: None
    assert asking_again._times(trial, asking_again._busy, streamed=True) == [0.0]
