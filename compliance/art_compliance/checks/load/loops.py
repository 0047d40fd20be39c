"""Load: an adapter is not bound to the event loop, the thread or the call that uses it first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, pairwise
from typing import Final

from art_compliance.checks.answerers import busy
from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    CALLS_IN_LOOPS,
    LOOPS_WITH_CALLS,
    PATIENCE_WITH_SLOW_CALLS,
    RETRY_AFTER,
    RETRY_SLACK,
    SHARED_PAUSE,
    SLOW_PAUSE,
)
from art_compliance.checks.load.numbered import answer_to, ask_number, echo, in_every_way, number_in, why_not_its_own
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import Way, ways_of
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Pause, Response, Send, delayed
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.subject import AskingBy


@check(
    "load.every-loop-and-thread-works",
    clause="By every method an adapter works in successive event loops and concurrent threads, and by those without a "
    "loop inside a loop.",
    finding_class="contract",
    requires=("dialect", "call", "python"),
    once=True,
)
def every_loop_and_thread_works(trial: Trial) -> Iterator[Problem]:
    """A script calls `asyncio.run` again and again; a server has many threads; a notebook has a loop that runs."""
    calls = in_every_way(trial, CALLS_IN_LOOPS)
    found = [*_each_on_its_own(trial, calls)]
    yield from found or _together_in_loops(trial)
    for number, (prompt, options, method) in enumerate(calls):
        if not method.endswith("_sync"):
            continue
        with trial.subject.answering(echo):
            reply = trial.subject.attempt("call_in_running_loop", prompt=prompt, options=options, method=method)
        if (wrong := why_not_its_own(number, reply)) is not None:
            kind = ", streamed" if options.get("stream") else ""
            yield Problem(f"{method}, in a thread whose event loop runs{kind}: {wrong}")


def _each_on_its_own(trial: Trial, calls: list[AskingBy]) -> Iterator[Problem]:
    """The first call that fails of those that have an event loop each, and of those that have a thread each."""
    for how, at_once in (("event loop", False), ("thread", True)):
        replies = trial.subject.call_in_own_loops(calls, echo, at_once=at_once)
        for number, ((_, options, method), reply) in enumerate(zip(calls, replies, strict=True)):
            wrong = why_not_its_own(number, reply)
            if wrong is not None:
                where = "at the same time" if at_once else "one after the other"
                way = f"with a new adapter{_by(Way(method, bool(options.get('stream'))))}"
                yield Problem(f"{how} {number + 1} of {len(calls)}, {where}, {way}: {wrong}")
                break


def _together_in_loops(trial: Trial) -> Iterator[Problem]:
    """Concurrent calls in one event loop, then in the next: a lock belongs to the loop in which one waited for it."""
    for way in (one for one in ways_of(trial) if not one.method.endswith("_sync")):
        numbered = [ask_number(trial, number, streamed=way.streamed) for number in range(CALLS_IN_LOOPS)]
        try:
            loops = trial.subject.call_together_in_own_loops([numbered] * LOOPS_WITH_CALLS, way.method, echo)
        except CannotDo:
            continue
        for number, replies in enumerate(loops, start=1):
            wrongs = filter(None, map(why_not_its_own, count(), replies))
            if (wrong := next(wrongs, None)) is not None:
                where = f"event loop {number} of {len(loops)}, one after the other"
                yield Problem(f"concurrent calls in {where}, with a new adapter{_by(way)}: {wrong}")
                return


def _by(way: Way) -> str:
    """The words for another method than `call`."""
    return "" if way.method == "call" else f", by {way}"


@check(
    "load.slow-calls-do-not-block-others",
    clause="A slow answer to one call delays no other calls, nor does the wait before it is retried.",
    finding_class="contract",
    requires=("dialect", "call", "python"),
    once=True,
)
def slow_calls_do_not_block_others(trial: Trial) -> Iterator[Problem]:
    """A stream may take minutes: a lock around the whole call makes all users wait for one."""
    for method in trial.subject.call_methods:
        came = _times_of_requests(trial, method)
        if all(later - earlier >= SLOW_PAUSE for earlier, later in pairwise(came)):
            by = "" if method == "call" else f" by {method}"
            took = f"{CALLS_IN_LOOPS} concurrent calls{by}, answered in {SLOW_PAUSE:g} s each, were sent one after"
            yield Problem(f"{took} the other; run calls concurrently")
            return
    if (waited := _waited_for_a_retry(trial)) is not None:
        yield Problem(
            f"a call took {waited:.2f} s beside one that waited {RETRY_AFTER} s before it was retried, although it was "
            f"answered in {SLOW_PAUSE:g} s; let the event loop go on while a call waits"
        )


@check(
    "load.equal-calls-are-each-made",
    clause="Each of some concurrent calls with the same prompt and options is made, and gets an answer of its own.",
    requires=("dialect", "call"),
    once=True,
)
def equal_calls_are_each_made(trial: Trial) -> Iterator[Problem]:
    """Whoever asks a model several times wants several answers. A provider bills each, and the caller counts them."""
    for method in trial.subject.call_methods:
        numbers = count()

        def answer(asked: Asked, numbers: Iterator[int] = numbers) -> Response:
            return delayed(asked.answer(WrittenAnswer(content=answer_to(next(numbers)))), SHARED_PAUSE)

        prompt, options = ask_number(trial, 0)
        calls = [(prompt, options, method)] * CALLS_IN_LOOPS
        replies = trial.subject.call_together(calls, answer, seconds=PATIENCE_WITH_SLOW_CALLS)
        texts = [one.text for one in replies if isinstance(one, Answered) and one.error is None]
        if len(set(texts)) < len(texts):
            by = "" if method == "call" else f" by {method}"
            yield Problem(
                f"of {CALLS_IN_LOOPS} concurrent calls{by} that are equal, some get the answer to another one"
            )
            return


def _times_of_requests(trial: Trial, method: str) -> list[float]:
    """When each request of some concurrent calls came, which are answered slowly."""
    came: list[float] = []

    def answer(asked: Asked) -> Response:
        came.append(time.monotonic())
        return _echo_slowly(asked)

    calls = [(*ask_number(trial, number), method) for number in range(CALLS_IN_LOOPS)]
    replies = trial.subject.call_together(calls, answer, seconds=PATIENCE_WITH_SLOW_CALLS)
    if any(why_not_its_own(number, reply) for number, reply in enumerate(replies)) or len(came) != CALLS_IN_LOOPS:
        raise NotApplicable("concurrent calls fail: see load.calls-at-once-do-not-mix")
    return came


def _echo_slowly(asked: Asked) -> Response:
    response = echo(asked)
    first, *others = response.steps or (Send(response.body),)
    return Response(200, content_type=response.content_type, steps=(first, Pause(SLOW_PAUSE), *others))


def _waited_for_a_retry(trial: Trial) -> float | None:
    """The seconds of a call that waited while another one did, before it was retried. None if it did not wait."""
    name = trial.subject.settings.get("retries")
    if name is None:
        return None
    with suppress(CannotDo), trial.subject.opening_with({name: 1}):
        if _seconds_beside_a_retry(trial) >= _BLOCKED:
            again = _seconds_beside_a_retry(trial)  # a busy machine is late, too
            return again if again >= _BLOCKED else None
    return None


_BLOCKED: Final = RETRY_AFTER - RETRY_SLACK


def _seconds_beside_a_retry(trial: Trial) -> float:
    """How long a call took that began just before another one, which was retried. 0 if nothing was retried."""
    numbers: list[int] = []

    def answer(asked: Asked) -> Response:
        numbers.append(number := number_in(asked))
        if number == 0:
            return _echo_slowly(asked)
        return echo(asked) if numbers.count(number) > 1 else busy(asked)

    calls = [(*ask_number(trial, number), "call") for number in range(2)]
    beside, _ = trial.subject.call_together_with(calls, answer, seconds=PATIENCE_WITH_SLOW_CALLS)
    return beside.at[-1] if isinstance(beside, Answered) and beside.at and len(numbers) > len(calls) else 0.0
