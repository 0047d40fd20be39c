"""Faults: an adapter retries only before the first token, only where it may help, and after Retry-After."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from art_compliance.checks.answerers import by_text, cutting, giving, http_date, refusing
from art_compliance.checks.base import check
from art_compliance.checks.faults.applying import ANSWER, can_stream, good_stream
from art_compliance.checks.limits import (
    PATIENCE_WITH_SLOW_CALLS,
    REQUESTS_A_SECOND,
    RETRY_AFTER,
    RETRY_AFTER_TOO_LONG,
    RETRY_SLACK,
    SET_RETRIES,
)
from art_compliance.checks.streamed import STREAMED, options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Drop, Response
from art_compliance.provider.faults import find_fault
from art_compliance.subject.host.interrupting import CannotDo

_Delay = Callable[[], tuple[str, str]]
"""Makes the header that tells a client how long to wait."""


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
    yield from _in_haste(question, streams=streams)
    yield from _with_retries(question)


def _in_haste(trial: Trial, *, streams: bool) -> Iterator[Problem]:
    """Many requests to a provider that cannot answer, and requests that are not the one that failed."""
    for what, answerer in _BUSY.items():
        for streamed in whole_and_streamed(can_stream=streams and what == _BUSIEST):
            again = _asked(trial, answerer, streamed=streamed)
            yield from again.haste(what)
            yield from again.changes(f"a {what} answer" if what.isdigit() else "a dropped connection")
    if "complete" in trial.subject.methods:
        again = _asked(trial, _BUSY[_BUSIEST], method="complete")
        yield from (fault.after("by complete: ") for fault in again.haste(_BUSIEST))


def _with_retries(trial: Trial) -> Iterator[Problem]:
    """What an adapter that is made with retries, where its factory takes them, does after each form of a delay."""
    name = trial.subject.settings.get("retries")
    if name is not None:
        with suppress(CannotDo), trial.subject.opening_with({name: SET_RETRIES}):
            yield from _early(trial, trial.subject.call_together_with)
            return
    yield from _early(trial, trial.subject.call_together)


def _early(trial: Trial, call_together: Callable[..., object]) -> Iterator[Problem]:
    """A request that comes again before the end of a delay. An adapter may give up: it need not wait so long."""
    for delays in (_DELAYS, _TOO_LONG):
        came = _asked_together(trial, call_together, {what: write for what, write, _ in delays})
        for what, _, seconds in delays:
            times = came[what]
            if len(times) > 1 and times[1] - times[0] < seconds - RETRY_SLACK:
                yield Problem(f"retried {times[1] - times[0]:.2f} s after a 429 answer with {what}")


def _asked_together(
    trial: Trial, call_together: Callable[..., object], delays: Mapping[str, _Delay]
) -> dict[str, list[float]]:
    """When the requests of concurrent calls came, each of which gets its delay at first. Their prompts name it."""
    came: dict[str, list[float]] = {what: [] for what in delays}
    answerer = by_text({what: _noting(came[what], _busy_at_first(write)) for what, write in delays.items()})
    options = options_for(trial, streamed=False)
    calls = [([{"role": "user", "content": what}], options, "call") for what in delays]
    call_together(calls, answerer, seconds=PATIENCE_WITH_SLOW_CALLS)
    return came


def _noting(times: list[float], answerer: Answerer) -> Answerer:
    """Answers as this one does, and notes when."""

    def answer(asked: Asked) -> Response:
        times.append(time.monotonic())
        return answerer(asked)

    return answer


def _as_date() -> tuple[str, str]:
    return "retry-after", http_date(RETRY_AFTER + 2)


_DELAYS: Final[tuple[tuple[str, _Delay, float], ...]] = (
    ("a Retry-After that is a date", _as_date, RETRY_AFTER),
    (
        f"retry-after-ms: {RETRY_AFTER * 1000}",
        lambda: ("retry-after-ms", f"{RETRY_AFTER * 1000}"),
        RETRY_AFTER,
    ),
)
"""A delay in words, its header, and the seconds that must pass. A date has whole seconds, and may be rounded down."""

_TOO_LONG: Final[tuple[tuple[str, _Delay, float], ...]] = (
    (
        f"Retry-After: {RETRY_AFTER_TOO_LONG:g}",
        lambda: ("retry-after", f"{RETRY_AFTER_TOO_LONG:g}"),
        RETRY_AFTER_TOO_LONG,
    ),
)
"""A delay after the others: an adapter may have all its calls wait for it."""


class _Requests(NamedTuple):
    """The adapter's requests of one call: when each came (seconds of the monotonic clock), and what it asked for."""

    times: list[float]
    contents: list[Any]

    def haste(self, what: str) -> Iterator[Problem]:
        """That many requests came within a second."""
        hasty = sum(at - self.times[0] < 1.0 for at in self.times)
        if hasty > REQUESTS_A_SECOND:
            yield Problem(f"the adapter sent {hasty} requests within a second to a provider that answers {what} to all")

    def changes(self, after: str) -> Iterator[Problem]:
        """That a later request is not the first one: another model, fewer messages, no tools."""
        if any(one != self.contents[0] for one in self.contents):
            yield Problem(f"after {after}, the retried request differs from the one that failed")


def _asked(trial: Trial, answerer: Answerer, *, streamed: bool = False, method: str = "call") -> _Requests:
    found = _Requests([], [])

    def answer(asked: Asked) -> Response:
        found.times.append(time.monotonic())
        found.contents.append((asked.request.target, asked.payload))
        return answerer(asked)

    trial.subject.call_by(method, trial.scenario.prompt, options_for(trial, streamed=streamed), answer)
    return found


def _cut_refusal(asked: Asked) -> Response:
    return find_fault("cut-refusal").make(ANSWER, asked)


def _in_seconds() -> tuple[str, str]:
    return "retry-after", str(RETRY_AFTER)


def _busy_at_first(delay: _Delay = _in_seconds) -> Answerer:
    """A 429 with a delay to the first request, an answer to the others."""
    is_busy = iter((True,))

    def answer(asked: Asked) -> Response:
        if not next(is_busy, False):
            return asked.answer(ANSWER)
        return replace(refusing(429)(asked), headers=(delay(),))

    return answer


def _refusing_with(words: str) -> Answerer:
    """A refusal with status 400 in these words."""
    return lambda asked: Response(400, asked.dialect.answers.write_error(400, words))


_BUSIEST: Final = "503"
_BUSY: Final[Mapping[str, Answerer]] = {
    _BUSIEST: refusing(503),
    **{str(status): refusing(status) for status in (500, 502, 504, 529)},
    "nothing": giving(Response(200, steps=(Drop(),))),
}
"""What a provider that cannot answer does, by the words for it."""

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
