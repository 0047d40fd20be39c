"""Faults: an adapter retries only before the first token, only where it may help, and after Retry-After."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from art_compliance.checks.answerers import cutting, refusing
from art_compliance.checks.base import check
from art_compliance.checks.faults.applying import ANSWER, can_stream, good_stream
from art_compliance.checks.streamed import STREAMED, options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Response
from art_compliance.provider.faults import find_fault


@check(
    "faults.are-asked-again-with-care",
    clause="The adapter retries only before the first token, only where that may help, and only after Retry-After.",
    requires="call",
    once=True,
)
def are_asked_again_with_care(trial: Trial) -> Iterator[Problem]:
    """A retry after the first token costs twice, and an early retry makes the provider refuse for longer."""
    question = trial.with_answer(ANSWER)
    streams = trial.once(can_stream)
    if streams:
        question.require(*STREAMED)
        trial.once(good_stream)
    for what, answerer, streamed in _NEVER_AGAIN if streams else _NEVER_AGAIN[-1:]:
        count = len(_times(question, answerer, streamed=streamed))
        if not count:
            yield Problem("the adapter sent no request to the provider")
            return
        if count > 1:
            yield Problem(f"the adapter sent {count} requests {what}")
    for streamed in whole_and_streamed(can_stream=streams):
        times = _times(question, _busy_at_first(), streamed=streamed)
        if len(times) > 1 and times[1] - times[0] < _WAIT - _SLACK:
            yield Problem(f"retried {times[1] - times[0]:.2f} s after a 429 answer with Retry-After: {_WAIT}")
    for streamed in whole_and_streamed(can_stream=streams):
        times = _times(question, refusing(503), streamed=streamed)
        hasty = sum(at - times[0] < 1.0 for at in times)
        if hasty > _MOST_A_SECOND:
            yield Problem(f"the adapter sent {hasty} requests within a second to a provider that answers 503 to all")


_MOST_A_SECOND: Final = 4
_WAIT: Final = 1
_SLACK: Final = 0.05


def _times(trial: Trial, answerer: Answerer, *, streamed: bool) -> list[float]:
    """The times of the adapter's requests, in seconds of the monotonic clock."""
    times: list[float] = []

    def answer(asked: Asked) -> Response:
        times.append(time.monotonic())
        return answerer(asked)

    trial.subject.call(trial.scenario.prompt, options_for(trial, streamed=streamed), answer)
    return times


def _cut_refusal(asked: Asked) -> Response:
    return find_fault("cut-refusal").make(ANSWER, asked)


def _busy_at_first() -> Answerer:
    """A 429 with Retry-After to the first request, an answer to the others."""
    is_busy = iter((True,))

    def answer(asked: Asked) -> Response:
        if not next(is_busy, False):
            return asked.answer(ANSWER)
        return replace(refusing(429)(asked), headers=(("retry-after", str(_WAIT)),))

    return answer


_NEVER_AGAIN: Final[tuple[tuple[str, Answerer, bool], ...]] = (
    ("for a stream that was cut off after its first tokens", cutting(ANSWER), True),
    ("for a stream that was refused with 400", refusing(400), True),
    ("after a 401 answer whose body was cut off", _cut_refusal, False),
)
"""What must not be asked again, as a finding says it, and whether the call is streamed."""
