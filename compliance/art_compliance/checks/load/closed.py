"""Load: many calls that are closed midway use nothing up."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.limits import CLOSED_CALLS, LEFTOVERS_CLOSED_WITHIN, TOLERATED_LEFTOVERS
from art_compliance.checks.load.leftovers import count_open, wait_until_closed
from art_compliance.checks.load.numbered import answer_to, ask_number, echo
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import STREAMS
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Crashed, Refused, raised


@check(
    "load.closed-calls-free-their-resources",
    clause="After many calls that were closed midway, nothing of them is left, and the next call works as before.",
    finding_class="contract",
    requires=STREAMS,
    once=True,
)
def closed_calls_free_their_resources(trial: Trial) -> Iterator[Problem]:
    """Users press stop, all day."""
    for method in ("call", "call_sync"):
        if method in trial.subject.methods:
            yield from _after_closing(trial, method)


def _after_closing(trial: Trial, method: str) -> Iterator[Problem]:
    by = "" if method == "call" else f" of {method}"
    after = f"after {CLOSED_CALLS} closed calls{by}"
    before = count_open(trial)
    try:
        failed = _close_many(trial, method)
    except CannotDo as error:
        if method == "call":
            raise NotApplicable(str(error)) from error
        return  # such as an iterator, which nobody can close
    if failed is not None:
        yield Problem(f"after some of {CLOSED_CALLS} closed calls{by}, the next one raised {raised(failed)}")
        return
    left = wait_until_closed(trial, before, tolerated=TOLERATED_LEFTOVERS, seconds=LEFTOVERS_CLOSED_WITHIN)
    for name, count in left.items():
        yield Problem(f"{after} there are {count} more {name} than before")
    reply = trial.subject.call_by(method, *ask_number(trial, 2), echo)
    if not isinstance(reply, Answered) or reply.text != answer_to(2):
        wrong = show(reply.text) if isinstance(reply, Answered) else str(reply)
        yield Problem(f"{after}, the next one gives {wrong}")


def _close_many(trial: Trial, method: str) -> Refused | Crashed | None:
    """Closes so many calls, each after its first token, until one fails. Raises CannotDo."""
    prompt, options = ask_number(trial, 1)
    with trial.subject.answering(echo):
        for _ in range(CLOSED_CALLS):
            closed = trial.subject.attempt("close_early", prompt=prompt, options=options, method=method)
            if isinstance(closed, Crashed) and closed.timed_out:
                raise CannotDo("closing a call hangs: see stream.closing-ends-the-call")
            if isinstance(closed, (Refused, Crashed)):
                return closed
    return None
