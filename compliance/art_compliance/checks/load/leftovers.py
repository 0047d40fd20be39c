"""Load: calls that have ended, and adapters that were closed, leave no thread, process, socket or file behind."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator

from art_compliance.checks.base import check
from art_compliance.checks.everything import RichCall, calls_with_everything, make
from art_compliance.checks.limits import LEFTOVERS_CLOSED_WITHIN, TOLERATED_LEFTOVERS, USES_BEFORE_LEFTOVERS
from art_compliance.checks.load.numbered import ask_number, echo
from art_compliance.checks.trial import Trial
from art_compliance.findings import HarnessError, Problem
from art_compliance.subject.host.interrupting import CannotDo
from art_sdk.json_data import is_object


@check(
    "load.nothing-stays-behind",
    clause="Finished calls and closed adapters leave no thread, process, socket or file behind.",
    finding_class="contract",
    requires=("dialect", "call"),
    once=True,
    last=True,
)
def nothing_stays_behind(trial: Trial) -> Iterator[Problem]:
    """A service that makes an adapter per customer runs out of them."""
    for use, what, each in (
        (_call, "calls", len(trial.subject.call_methods)),
        (_open_and_close, "adapters were made, called and closed", 1),
        (_open_and_close_synchronous, "adapters were made, called by call_sync and closed with close", 1),
    ):
        try:
            left = _left_by(trial, use)
        except _NotClosed as error:
            yield Problem(f"closing an adapter failed: {error}")
            return
        for name, count in left.items():
            yield Problem(f"after {USES_BEFORE_LEFTOVERS * each} {what} there are {count} more {name} than before")
    yield from _left_when_closed(trial)


def _left_when_closed(trial: Trial) -> Iterator[Problem]:
    """What was started once, when the adapter was imported or made, does not grow: it is seen at the end."""
    try:
        left = trial.subject.leave()
    except HarnessError as error:
        left = [str(error)]
    yield from (Problem(f"when the adapter is closed, {what}") for what in left)


class _NotClosed(Exception):
    """An adapter cannot be closed; the text says why."""


Use = Callable[[Trial, int], bool]
"""Uses the adapter so many times. Returns whether it can be used so."""


def _left_by(trial: Trial, use: Use) -> dict[str, int]:
    """What each of many uses leaves. What grows once, such as a pool that fills, does not grow again."""
    if not use(trial, 1):
        return {}
    try:
        return _growth(trial, use) and _growth(trial, use)
    finally:
        trial.subject.attempt("forget_closed")


def _growth(trial: Trial, use: Use) -> dict[str, int]:
    before = count_open(trial)
    use(trial, USES_BEFORE_LEFTOVERS)
    return wait_until_closed(trial, before, tolerated=TOLERATED_LEFTOVERS, seconds=LEFTOVERS_CLOSED_WITHIN)


def _call(trial: Trial, many: int) -> bool:
    """So many calls by each method, with whatever the adapter takes."""
    by_method: defaultdict[str, list[RichCall]] = defaultdict(list)
    for call in calls_with_everything(trial):
        by_method[call.method].append(call)
    for number in range(many):
        for calls in by_method.values():
            make(trial, calls[number % len(calls)])
    return True


def _open_and_close(trial: Trial, many: int) -> bool:
    """One that cannot be closed may keep what it has."""
    return _make_and_close(trial, many, trial.subject.call_methods, "aclose")


def _open_and_close_synchronous(trial: Trial, many: int) -> bool:
    """So do programs without an event loop."""
    return "call_sync" in trial.subject.methods and _make_and_close(trial, many, ["call_sync"], "close")


def _make_and_close(trial: Trial, many: int, methods: list[str], closing: str) -> bool:
    calls = [ask_number(trial, number) for number in range(many)]
    with trial.subject.answering(echo):
        try:
            failed = trial.subject.attempt("open_and_close", calls=calls, methods=methods, closing=closing, keep=True)
        except CannotDo:
            return False
    if isinstance(failed, str):
        raise _NotClosed(failed)
    return True


def count_open(trial: Trial, *, collected: bool = True) -> dict[str, int]:
    """How many threads, tasks, processes, sockets and files the adapter's process has; empty where it cannot say.

    With `collected`, garbage is collected first.
    """
    counted = trial.subject.attempt("count_open", collected=collected)
    return counted if is_object(counted) else {}


def wait_until_closed(trial: Trial, before: dict[str, int], *, tolerated: int, seconds: float) -> dict[str, int]:
    """Of what there is, the kinds of which there are more than before, and how many more, when the time is up."""
    ends = time.monotonic() + seconds
    if not _grown(before, count_open(trial, collected=False), tolerated):
        return {}  # and without garbage there is even less
    while left := _grown(before, count_open(trial), tolerated):
        if time.monotonic() > ends:
            break
        time.sleep(0.02)
    return left


def _grown(before: dict[str, int], now: dict[str, int], tolerated: int) -> dict[str, int]:
    grown = {name: now.get(name, 0) - count for name, count in before.items()}
    return {name: count for name, count in grown.items() if count > tolerated}
