"""Load: many calls that are closed or cancelled midway use nothing up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    CANCELLED_AT_ONCE,
    CANCELLED_CALLS,
    CLOSED_CALLS,
    LEFTOVERS_CLOSED_WITHIN,
    TOLERATED_LEFTOVERS,
)
from art_compliance.checks.load.leftovers import count_open, wait_until_closed
from art_compliance.checks.load.numbered import answer_to, ask_number, echo
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.stream import closing
from art_compliance.checks.streamed import STREAMS
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Hang, Response
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Crashed, Refused, raised


@check(
    "load.closed-calls-free-their-resources",
    clause="After many calls that were closed or cancelled midway, nothing of them is left, and the next call works.",
    finding_class="contract",
    requires=STREAMS,
    once=True,
)
def closed_calls_free_their_resources(trial: Trial) -> Iterator[Problem]:
    """Users press stop, all day, and clients go away."""
    for method in ("call", "call_sync"):
        if method not in trial.subject.methods:
            continue
        try:
            yield from _after_many(trial, method, f"{CLOSED_CALLS} closed", _close_many)
        except CannotDo as error:
            if method == "call":  # not an iterator, which nobody can close
                raise NotApplicable(str(error)) from error
    if closing.cancelling_ends_the_call.reported_by(trial) is None:
        for method in ("call", "complete"):
            if method in trial.subject.methods:
                with suppress(CannotDo):
                    yield from _after_many(trial, method, f"{CANCELLED_CALLS} cancelled", _cancel_many)


EndMany = Callable[[Trial, str], Refused | Crashed | None]
"""Ends so many calls by a method midway, until one fails. Raises CannotDo."""


def _after_many(trial: Trial, method: str, those: str, end_many: EndMany) -> Iterator[Problem]:
    """What is left after many calls, and whether the next one works. Raises CannotDo."""
    by = "" if method == "call" else f" of {method}"
    after = f"after {those} calls{by}"
    before = count_open(trial)
    failed = end_many(trial, method)
    if failed is not None:
        yield Problem(f"after some of {those} calls{by}, the next one raised {raised(failed)}")
        return
    left = wait_until_closed(trial, before, tolerated=TOLERATED_LEFTOVERS, seconds=LEFTOVERS_CLOSED_WITHIN)
    for name, count in left.items():
        yield Problem(f"{after} there are {count} more {name} than before")
    reply = trial.subject.call_by(method, *ask_number(trial, 2), echo)
    if not isinstance(reply, Answered) or reply.text != answer_to(2):
        wrong = show(reply.text) if isinstance(reply, Answered) else str(reply)
        yield Problem(f"{after}, the next one gives {wrong}")


def _close_many(trial: Trial, method: str) -> Refused | Crashed | None:
    """Each after its first token."""
    prompt, options = ask_number(trial, 1)
    with trial.subject.answering(echo):
        for _ in range(CLOSED_CALLS):
            closed = trial.subject.attempt("close_early", prompt=prompt, options=options, method=method)
            if isinstance(closed, Crashed) and closed.timed_out:
                raise CannotDo("closing a call hangs: see stream.closing-ends-the-call")
            if isinstance(closed, (Refused, Crashed)):
                return closed
    return None


def _cancel_many(trial: Trial, method: str) -> Refused | Crashed | None:
    """Some at a time: of `call` in the middle of a stream, of others while they wait for the head of the answer."""
    in_stream = method == "call"
    call = (*ask_number(trial, 1, streamed=in_stream), method)
    with trial.subject.answering(closing.hang_after_half(trial) if in_stream else _hang):
        for _ in range(CANCELLED_CALLS // CANCELLED_AT_ONCE):
            came = trial.subject.attempt("cancel_together", calls=[call] * CANCELLED_AT_ONCE, after_token=in_stream)
            if isinstance(came, (Refused, Crashed)):
                return came
    return None


def _hang(_: Asked) -> Response:
    """Says nothing, not even that an answer begins."""
    return Response(200, steps=(Hang(),))
