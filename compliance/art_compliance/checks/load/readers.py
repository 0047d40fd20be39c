"""Load: whoever reads the events of an answer, wherever, and however slowly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.limits import OTHER_TIME_LIMITS, PATIENCE_WITH_LIMITS, READERS_PAUSE, TIME_LIMIT
from art_compliance.checks.load.numbered import ask_number, echo, why_not_its_own
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Refused


@check(
    "load.events-are-read-anywhere",
    clause="Each event of an answer can be read in another task, or on another thread.",
    finding_class="contract",
    requires=("dialect", "call", "sent", "python"),
    once=True,
)
def events_are_read_anywhere(trial: Trial) -> Iterator[Problem]:
    """A web framework reads a response on any thread of its pool, and `wait_for` has each step in a task of its own."""
    for method in _methods_of(trial):
        prompt, options = _ask(trial, 0)
        if why_not_its_own(0, trial.subject.call_by(method, prompt, options, echo)) is not None:
            continue  # it fails however it is read, which other checks find
        with trial.subject.answering(echo):
            reply = trial.subject.attempt("call_by_steps", prompt=prompt, options=options, method=method)
        if (wrong := why_not_its_own(0, reply)) is not None:
            where = "on a thread" if method == "call_sync" else "in a task"
            yield Problem(f"{method}, each event read {where} of its own: {wrong}")


@check(
    "load.slow-readers-are-left-alone",
    clause="No time limit interrupts what reads an answer, and only `whole_call` may end a call whose reader is slow.",
    finding_class="contract",
    requires=("dialect", "call", "sent", "python", "own_settings"),
    once=True,
)
def slow_readers_are_left_alone(trial: Trial) -> Iterator[Problem]:
    """A deadline that is still open at a `yield` cancels the caller: https://peps.python.org/pep-0789."""
    wrong = _wrong_ways(trial, list(product(_methods_of(trial), _LIMITS)), READERS_PAUSE)
    fail = _wrong_ways(trial, [*wrong], 0)  # however quick their reader is, which other checks find
    again = _wrong_ways(trial, [way for way in wrong if way not in fail], READERS_PAUSE)  # a busy machine is late
    for (method, limit), reason in again.items():
        slow = f"{method}, with the time limit {limit} = {TIME_LIMIT} s and a reader that pauses for longer"
        yield Problem(f"{slow}: {reason}")


def _wrong_ways(trial: Trial, ways: list[tuple[str, str]], pause: float) -> dict[tuple[str, str], str]:
    """Of these methods, each with the limit that is short, those that fail a reader with this pause, and why."""
    found: dict[tuple[str, str], str] = {}
    calls = [
        (*_ask(trial, number, timeouts={**_LONG, limit: TIME_LIMIT}), method)
        for number, (method, limit) in enumerate(ways)
    ]
    replies = trial.subject.call_slowly(calls, echo, pause=pause, seconds=PATIENCE_WITH_LIMITS)
    for number, (way, reply) in enumerate(zip(ways, replies, strict=True)):
        if isinstance(reply, Refused):
            raise NotApplicable(f"the adapter refuses the option timeouts ({reply.code})")
        is_over = way[1] == "whole_call" and isinstance(reply, Answered) and reply.error is not None
        if not is_over and (reason := why_not_its_own(number, reply)) is not None:
            found[way] = reason
    return found


_LIMITS: Final = ("first_byte", "between_bytes", "whole_call")
_LONG: Final = dict.fromkeys(("connect", *_LIMITS), OTHER_TIME_LIMITS)


def _methods_of(trial: Trial) -> list[str]:
    """Those that give events."""
    return [method for method in ("call", "call_sync") if method in trial.subject.call_methods]


def _ask(trial: Trial, number: int, **more: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    prompt, options = ask_number(trial, number, streamed=True)
    return prompt, {**options, **more}
