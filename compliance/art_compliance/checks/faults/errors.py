"""Faults: whatever goes wrong between provider and client becomes an error, shows no key and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from art_compliance.checks.answerers import error_stream, giving
from art_compliance.checks.base import check
from art_compliance.checks.everything import calls_with_everything, make
from art_compliance.checks.faults.applying import Case, call, can_stream, cases, good, good_stream
from art_compliance.checks.faults.growing import Shortened, grow
from art_compliance.checks.faults.time_limits import wait
from art_compliance.checks.limits import FAULTS_CLOSED_WITHIN, TOLERATED_AFTER_FAULTS
from art_compliance.checks.load.leftovers import count_open, wait_until_closed
from art_compliance.checks.replies import differences, error_of, why_unread, wrong_failure, wrong_status_error
from art_compliance.checks.streamed import options_for
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import Response
from art_compliance.provider.faults import LONG, RETRY_AFTER
from art_compliance.quoting import shorten
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_sdk.json_data import is_object


class Seen(NamedTuple):
    """A fault, the reply to it, and how long its body was if the adapter is too slow for the whole.

    `exchange` is the number of the exchange: the last one, where the adapter tried again.
    """

    case: Case
    reply: Reply
    shortened: Shortened | None
    exchange: int

    def with_evidence(self, problem: Problem) -> Problem:
        """A problem of this reply, with the fault in its words and the exchange that it was found on."""
        return problem.after(f"{self.case}: ").on_exchange(self.exchange)


class FaultRun(NamedTuple):
    """Every fault that does not hang, each with its reply, and what was logged and printed meanwhile."""

    seen: list[Seen]
    logs: str
    printed: str


def _run(trial: Trial) -> FaultRun:
    known = cases(trial)
    trial.subject.attempt("capture")
    seen = [_see(trial, case) for case in known if not case.fault.hangs]
    captured = trial.subject.attempt("captured")
    logged, printed = (captured[name] if is_object(captured) else "" for name in ("logged", "printed"))
    return FaultRun(seen, logged + printed, printed)


def _see(trial: Trial, case: Case) -> Seen:
    if case.fault.of_size is None:
        reply, shortened = call(trial, case), None
    else:
        reply, shortened = grow(lambda size: call(trial, case.of_size(size)), LONG)
    return Seen(case, reply, shortened, trial.subject.request_count)


@check(
    "faults.become-errors",
    clause="A broken answer ends with ERROR and END, after what arrived; never with an exception.",
    requires=("dialect", "call"),
    once=True,
)
def become_errors(trial: Trial) -> Iterator[Problem]:
    """Callers can tell a fault from an answer by the events."""
    for seen in trial.once(_run).seen:
        case, reply, shortened, _ = seen
        if case.expects == "error" or (case.expects == "either" and why_unread(reply) is not None):
            for fault in (*wrong_failure(trial, reply), *_wrong_error(case, reply)):
                found = fault.of_class("contract") if case.fault.official_clients_read_it else fault
                yield seen.with_evidence(found)
        if shortened is not None:
            yield seen.with_evidence(Problem(str(shortened), severity="note"))


def _wrong_error(case: Case, reply: Reply) -> Iterator[Problem]:
    """What is missing from the ERROR of a fault with a status, or of a broken connection."""
    status = case.fault.status
    error = error_of(reply)
    if case.fault.id in _BROKEN and error.get("is_retryable") is False:
        yield Problem("is_retryable is false; trying again may help", finding_class="contract")
    if status is not None:
        words = f"written error {status}" if case.fault.id == f"status-{status}" else None
        yield from wrong_status_error(error, status, words=words, retry_after=RETRY_AFTER)


_BROKEN: Final = frozenset({"close-before-head", "reset-before-head"})
"""The faults of a connection that breaks before anything came. Later ones look to some clients like a bad answer."""


@check(
    "faults.benign-faults-change-nothing",
    clause="Odd but valid answers are read whole: with comments, unknown events, any line endings, at any pace.",
    finding_class="loss",
    requires=("dialect", "call"),
    once=True,
)
def benign_faults_change_nothing(trial: Trial) -> Iterator[Problem]:
    """Proxies and providers add such things without notice."""
    seen = [one for one in trial.once(_run).seen if one.case.expects != "error"]
    for one in seen:
        case, reply = one.case, one.reply
        faults: list[Problem] = []
        if not isinstance(reply, Answered):
            faults = [Problem(str(reply), finding_class="contract")] if case.expects == "whole" else []
        elif case.expects == "whole" or reply.error is None:
            whole = trial.once(good_stream if case.streamed else good)
            faults = [fault.after("the answer differs in ") for fault in differences(reply, whole)]
        yield from map(one.with_evidence, faults)


@check(
    "faults.print-nothing",
    clause="A call prints nothing to the standard output, which is the application's, and a good one warns of nothing.",
    finding_class="contract",
    requires=("dialect", "call"),
    once=True,
)
def print_nothing(trial: Trial) -> Iterator[Problem]:
    """A line left over from debugging breaks programs whose output is read, and shows prompts in logs.

    A warning at each call is noise in every log, and an exception where warnings are errors.
    """
    if printed := trial.once(_run).printed.strip():
        first = _without_key(trial, printed.partition("\n")[0])
        yield Problem(f"{len(printed.splitlines())} lines were printed, the first of them {first}")
        return
    captured = trial.once(_captured)
    if printed := str(captured.get("printed", "")).strip():
        first = _without_key(trial, printed.partition("\n")[0])
        yield Problem(f"good calls print {len(printed.splitlines())} lines, the first of them {first}")
    for warning in dict.fromkeys(captured.get("warned", ())):
        yield Problem(f"a good call warns: {_without_key(trial, warning)}")


def _without_key(trial: Trial, text: str) -> str:
    """The text for a message, which must not show the key either."""
    return shorten(text.replace(trial.subject.keys.own, "[the key]"))


def _captured(trial: Trial) -> dict[str, Any]:
    """What good calls with everything log, print and warn of."""
    trial.subject.attempt("capture")
    for one in calls_with_everything(trial):
        if not one.fails:
            make(trial, one)
    captured: Any = trial.subject.attempt("captured")
    return captured if is_object(captured) else {}


@check(
    "faults.leave-nothing-behind",
    clause="Faults leave no socket, file, thread, process or task behind.",
    requires=("dialect", "call"),
    once=True,
)
def leave_nothing_behind(trial: Trial) -> Iterator[Problem]:
    """A service that leaks a little with each fault stops after a day of faults."""
    short = [case for case in cases(trial) if not case.fault.hangs and case.fault.id not in _LONG]
    trial.once(_run)  # from here on, pools and threads that are kept on purpose exist
    before = count_open(trial)
    for case in short:
        call(trial, case)
    for what, count in wait_until_closed(
        trial, before, tolerated=TOLERATED_AFTER_FAULTS, seconds=FAULTS_CLOSED_WITHIN
    ).items():
        yield Problem(f"after {len(short)} faults there are {count} more {what} than before")


_LONG: Final = frozenset({"long-page", "long-page-502", "long-body", "slow", "byte-by-byte"})


@check(
    "faults.show-no-key",
    clause="Whatever goes wrong, no event, exception or log shows the API key.",
    requires=("dialect", "call", "own_settings"),
    once=True,
)
def show_no_key(trial: Trial) -> Iterator[Problem]:
    """Faults are what people log."""
    run = trial.once(_run)
    seen = ((one.case, one.reply) for one in run.seen)
    for case, reply in (*seen, *_with_the_key(trial), *trial.once(wait).replies):
        shown: Any = reply.events if isinstance(reply, Answered) else str(reply)
        if any(trial.subject.keys.own in str(leaf) for _, leaf in leaves(shown)):
            yield Problem(f"{case}: {'an event' if isinstance(reply, Answered) else 'the exception'} shows the key")
    for line in (run.logs + str(trial.once(_captured).get("logged", ""))).splitlines():
        if trial.subject.keys.own in line:
            yield Problem(f"a log shows the key: {_without_key(trial, line)}")
            return


def _with_the_key(trial: Trial) -> Iterator[tuple[str, Reply]]:
    """Streams that fail with an error text in which the provider repeats the key."""
    if not trial.once(can_stream):
        return
    words, options = f"Incorrect API key provided: {trial.subject.keys.own}", options_for(trial, streamed=True)
    dialect = trial.dialect
    for what, response in (
        ("status 401 that repeats the key (streamed)", Response(401, dialect.answers.write_error(401, words))),
        ("an error event that repeats the key", error_stream(dialect, 401, words)),
    ):
        yield what, trial.subject.call(trial.scenario.prompt, options, giving(response))
