"""Faults: an adapter retries only before the first token, only where it may help, and after Retry-After."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from art_compliance.checks.base import check
from art_compliance.checks.faults.applying import ANSWER, good_stream, options_for
from art_compliance.checks.streamed import STREAMED
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Drop, Response, Send

Make = Callable[[Asked, int], Response]
"""Answers a request, given the request and its attempt number, from 1."""


@check(
    "faults.are-asked-again-with-care",
    clause="The adapter retries only before the first token, only where that may help, and only after Retry-After.",
    requires="call",
    once=True,
)
def are_asked_again_with_care(trial: Trial) -> Iterator[Problem]:
    """A retry after the first token costs twice, and an early retry makes the provider refuse for longer."""
    question = trial.with_answer(ANSWER)
    streams = "streaming" in trial.subject.capabilities
    if streams:
        question.require(*STREAMED)
        trial.once(good_stream)
        for what, make in (("cut off after its first tokens", _cut), ("refused with 400", _refused)):
            count = len(_times(question, make, streamed=True))
            if count != 1:
                yield Problem(f"the adapter sent {count} requests for a stream that was {what}")
    for streamed in (False, True)[: 1 + streams]:
        first, *others = _times(question, _busy, streamed=streamed)
        if others and others[0] - first < _WAIT - _SLACK:
            yield Problem(f"retried {others[0] - first:.2f} s after a 429 answer with Retry-After: {_WAIT}")


_WAIT: Final = 1
_SLACK: Final = 0.05


def _times(trial: Trial, make: Make, *, streamed: bool) -> list[float]:
    """The times of the adapter's requests, in seconds of the monotonic clock."""
    times: list[float] = []

    def answer(asked: Asked) -> Response:
        times.append(time.monotonic())
        return make(asked, len(times))

    trial.subject.call(trial.scenario.prompt, options_for(trial, streamed=streamed), answer)
    return times or [0.0]


def _cut(asked: Asked, _: int) -> Response:
    events = asked.dialect.streams.write(ANSWER, asked.payload)
    return Response(
        200, content_type=asked.dialect.streams.content_type, steps=(*map(Send, events[: -(-len(events) // 2)]), Drop())
    )


def _refused(asked: Asked, _: int) -> Response:
    return Response(400, asked.dialect.answers.write_error(400, "written error 400"))


def _busy(asked: Asked, count: int) -> Response:
    """A 429 with Retry-After to the first request, an answer to the others."""
    if count > 1:
        return asked.answer(ANSWER)
    body = asked.dialect.answers.write_error(429, "written error 429")
    return Response(429, body, headers=(("retry-after", str(_WAIT)),))
