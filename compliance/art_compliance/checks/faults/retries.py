"""Faults: an adapter retries only before the first token, only where it may help, and after Retry-After."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from art_compliance.checks.answerers import cutting, refusing
from art_compliance.checks.base import check
from art_compliance.checks.faults.applying import ANSWER, can_stream, good_stream
from art_compliance.checks.limits import REQUESTS_A_SECOND, RETRY_AFTER, RETRY_SLACK
from art_compliance.checks.streamed import STREAMED, options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Response
from art_compliance.provider.faults import find_fault


@check(
    "faults.retries-are-careful",
    clause="Retries repeat the same request, before the first token, if they can help, after Retry-After.",
    requires="call",
    once=True,
)
def retries_are_careful(trial: Trial) -> Iterator[Problem]:
    """A retry after the first token costs twice, and an early retry makes the provider refuse for longer."""
    question = trial.with_answer(ANSWER)
    streams = trial.once(can_stream)
    if streams:
        question.require(*STREAMED)
        trial.once(good_stream)
    for what, answerer, streamed in _NEVER_AGAIN:
        if streamed and not streams:
            continue
        count = len(_asked(question, answerer, streamed=streamed).times)
        if not count:
            yield Problem("the adapter sent no request to the provider")
            return
        if count > 1:
            yield Problem(f"the adapter sent {count} requests {what}")
    for streamed in whole_and_streamed(can_stream=streams):
        again = _asked(question, _busy_at_first(), streamed=streamed)
        times = again.times
        if len(times) > 1 and times[1] - times[0] < RETRY_AFTER - RETRY_SLACK:
            yield Problem(f"retried {times[1] - times[0]:.2f} s after a 429 answer with Retry-After: {RETRY_AFTER}")
        yield from again.changes("a 429 answer")
    for streamed in whole_and_streamed(can_stream=streams):
        again = _asked(question, refusing(503), streamed=streamed)
        times = again.times
        hasty = sum(at - times[0] < 1.0 for at in times)
        if hasty > REQUESTS_A_SECOND:
            yield Problem(f"the adapter sent {hasty} requests within a second to a provider that answers 503 to all")
        yield from again.changes("a 503 answer")
    yield from _asked(question, refusing(500), streamed=False).changes("a 500 answer")


class _Requests(NamedTuple):
    """The adapter's requests of one call: when each came (seconds of the monotonic clock), and what it asked for."""

    times: list[float]
    contents: list[Any]

    def changes(self, after: str) -> Iterator[Problem]:
        """That a later request is not the first one: another model, fewer messages, no tools."""
        if any(one != self.contents[0] for one in self.contents):
            yield Problem(f"after {after}, the retried request differs from the one that failed")


def _asked(trial: Trial, answerer: Answerer, *, streamed: bool) -> _Requests:
    found = _Requests([], [])

    def answer(asked: Asked) -> Response:
        found.times.append(time.monotonic())
        found.contents.append((asked.request.target, asked.payload))
        return answerer(asked)

    trial.subject.call(trial.scenario.prompt, options_for(trial, streamed=streamed), answer)
    return found


def _cut_refusal(asked: Asked) -> Response:
    return find_fault("cut-refusal").make(ANSWER, asked)


def _busy_at_first() -> Answerer:
    """A 429 with Retry-After to the first request, an answer to the others."""
    is_busy = iter((True,))

    def answer(asked: Asked) -> Response:
        if not next(is_busy, False):
            return asked.answer(ANSWER)
        return replace(refusing(429)(asked), headers=(("retry-after", str(RETRY_AFTER)),))

    return answer


def _refusing_with(words: str) -> Answerer:
    """A refusal with status 400 in these words."""
    return lambda asked: Response(400, asked.dialect.answers.write_error(400, words))


_NEVER_AGAIN: Final[tuple[tuple[str, Answerer, bool], ...]] = (
    ("for a stream that was cut off after its first tokens", cutting(ANSWER), True),
    ("for a stream that was refused with 400", refusing(400), True),
    ("for a call that was refused with 404", refusing(404), False),
    ("after a 401 answer whose body was cut off", _cut_refusal, False),
    (
        "after the provider said that the prompt is too long; the caller decides what to leave out",
        _refusing_with(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. "
            "Please reduce the length of the messages."
        ),
        False,
    ),
    (
        "after the provider refused an option; the caller decides whether to leave it out",
        _refusing_with("Unsupported parameter: 'temperature' is not supported with this model."),
        False,
    ),
)
"""What must not be asked again, as a finding says it, and whether the call is streamed."""
