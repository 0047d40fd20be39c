"""Faults: whatever goes wrong between provider and client becomes an error, shows no key and leaves nothing behind."""

from __future__ import annotations

import gc
import io
import logging
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from typing import Any, Final, NamedTuple

from art_compliance.checks.base import check
from art_compliance.checks.faults.applying import Case, call, cases, good, good_stream, options_for
from art_compliance.checks.faults.time_limits import wait
from art_compliance.checks.replies import differences, why_unread, wrong_failure, wrong_status_error
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import Asked, Response, Send
from art_compliance.provider.faults import RETRY_AFTER
from art_compliance.quoting import shorten
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply


class Seen(NamedTuple):
    """A fault, and the reply to it."""

    case: Case
    reply: Reply


class FaultRun(NamedTuple):
    """Every fault that does not hang, each with its reply, and what was logged and printed meanwhile."""

    seen: list[Seen]
    logs: str


def _run(trial: Trial) -> FaultRun:
    with _captured_logs() as logs:
        seen = [Seen(case, call(trial, case)) for case in cases(trial) if not case.fault.hangs]
    return FaultRun(seen, logs.getvalue())


@contextmanager
def _captured_logs() -> Generator[io.StringIO]:
    """Captures what is logged at any level, and what is printed."""
    root, written = logging.getLogger(), io.StringIO()
    handler, before = logging.StreamHandler(written), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(written), redirect_stderr(written):
            yield written
    finally:
        root.setLevel(before)
        root.removeHandler(handler)


@check(
    "faults.are-told-as-errors",
    clause="A broken answer ends with ERROR and END, after what arrived; never with an exception.",
    requires=("dialect", "call"),
    once=True,
)
def are_told_as_errors(trial: Trial) -> Iterator[Problem]:
    """Callers can tell a fault from an answer by the events."""
    for case, reply in trial.once(_run).seen:
        if case.expects == "error" or (case.expects == "either" and why_unread(reply) is not None):
            for fault in (*wrong_failure(trial, reply), *_wrong_error(case, reply)):
                yield Problem(f"{case}: {fault}")


def _wrong_error(case: Case, reply: Reply) -> Iterator[str]:
    """What is missing from the ERROR of a fault with a status."""
    status = case.fault.status
    if status is not None:
        error = (reply.error or {}) if isinstance(reply, Answered) else {}
        words = f"written error {status}" if case.fault.id == f"status-{status}" else None
        yield from wrong_status_error(error, status, words=words, retry_after=RETRY_AFTER)


@check(
    "faults.benign-ones-change-nothing",
    clause="Odd but valid answers are read whole: with comments, unknown events, any line ends, at any pace.",
    requires=("dialect", "call"),
    once=True,
)
def benign_ones_change_nothing(trial: Trial) -> Iterator[Problem]:
    """Proxies and providers add such things without notice."""
    seen = [one for one in trial.once(_run).seen if one.case.expects != "error"]
    for case, reply in seen:
        faults: list[str] = []
        if not isinstance(reply, Answered):
            faults = [str(reply)] if case.expects == "whole" else []
        elif case.expects == "whole" or reply.error is None:
            whole = trial.once(good_stream if case.streamed else good)
            faults = [f"the answer differs in {one}" for one in differences(reply, whole)]
        yield from (Problem(f"{case}: {one}") for one in faults)


@check(
    "faults.leave-nothing-behind",
    clause="Faults leave no socket, file, thread or task behind.",
    requires=("dialect", "call"),
    once=True,
)
def leave_nothing_behind(trial: Trial) -> Iterator[Problem]:
    """A service that leaks a little with each fault stops after a day of faults."""
    short = [case for case in cases(trial) if not case.fault.hangs and case.fault.id not in _LONG]
    trial.once(_run)  # from here on, pools and threads that are kept on purpose exist
    before = _count_open(trial)
    for case in short:
        call(trial, case)
    ends = time.monotonic() + 1
    while (left := _grown(trial, before)) and time.monotonic() < ends:
        gc.collect()
        time.sleep(0.02)
    for what, count in left.items():
        yield Problem(f"after {len(short)} faults there are {count} more {what} than before")


_LONG: Final = frozenset({"long-page", "long-page-502", "long-body", "slow", "byte-by-byte"})
_TOLERATED: Final = 3
"""A pool may grow by chance."""


def _count_open(trial: Trial) -> dict[str, int]:
    counted = {"threads": threading.active_count(), "tasks": trial.subject.caller.count_tasks()}
    with suppress(OSError):  # some systems cannot say
        counted["open sockets and files"] = len(os.listdir("/dev/fd"))  # noqa: PTH208 - a count, no paths
    return counted


def _grown(trial: Trial, before: dict[str, int]) -> dict[str, int]:
    now = _count_open(trial)
    grown = {name: now[name] - count for name, count in before.items()}
    return {name: count for name, count in grown.items() if count > _TOLERATED}


@check(
    "faults.show-no-key",
    clause="Whatever goes wrong, no event, exception or log shows the API key.",
    requires=("dialect", "call"),
    once=True,
)
def show_no_key(trial: Trial) -> Iterator[Problem]:
    """Faults are what people log."""
    run = trial.once(_run)
    for case, reply in (*run.seen, *_with_the_key(trial), *trial.once(wait)):
        shown: Any = reply.events if isinstance(reply, Answered) else str(reply)
        if any(TEST_KEY in str(leaf) for _, leaf in leaves(shown)):
            yield Problem(f"{case}: {'an event' if isinstance(reply, Answered) else 'the exception'} shows the key")
    for line in run.logs.splitlines():
        if TEST_KEY in line:
            hidden = line.replace(TEST_KEY, "[the key]")
            yield Problem(f"a log shows the key: {shorten(hidden)}")
            return


def _with_the_key(trial: Trial) -> Iterator[tuple[str, Reply]]:
    """Streams that fail with an error text in which the provider repeats the key."""
    if "streaming" not in trial.subject.capabilities:
        return
    words, options = f"Incorrect API key provided: {TEST_KEY}", options_for(trial, streamed=True)
    dialect = trial.dialect
    event = Response(
        200, content_type=dialect.streams.content_type, steps=(Send(dialect.streams.write_error(401, words)),)
    )
    for what, response in (
        ("status 401 that repeats the key (streamed)", Response(401, dialect.answers.write_error(401, words))),
        ("an error event that repeats the key", event),
    ):
        yield what, trial.subject.call(trial.scenario.prompt, options, partial(_answer_with, response))


def _answer_with(response: Response, _: Asked) -> Response:
    return response
