"""Faults: each time limit of a call ends the calls that it applies to, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from art_compliance.checks.answerers import by_text
from art_compliance.checks.base import check
from art_compliance.checks.faults.applying import ANSWER, Case, cases, good, good_stream
from art_compliance.checks.faults.lateness import Lateness
from art_compliance.checks.limits import OTHER_TIME_LIMITS, PATIENCE_WITH_LIMITS, TIME_LIMIT, TIME_LIMIT_GRACE, WAKE_UPS
from art_compliance.checks.replies import differences, wrong_failure
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import options_for
from art_compliance.checks.trial import Trial
from art_compliance.dialects import Dialect
from art_compliance.findings import Problem
from art_compliance.provider import answering_with
from art_compliance.provider.faults import KEPT_ALIVE, LATE, PAUSED, STEADY
from art_compliance.subject.events import Answered
from art_compliance.subject.host.collecting import is_folded
from art_compliance.subject.observations import Crashed, Refused, Reply


class Waited(NamedTuple):
    """A call that waits, the one time limit that is short, if any, and the method of the call."""

    case: Case
    limit: str | None
    method: str = "call"

    def __str__(self) -> str:
        by = "" if self.method == "call" else f" by {self.method}"
        with_limit = "without time limits" if self.limit is None else f"with the time limit {self.limit}"
        return f"{self.case}{by}, {with_limit}"

    @property
    def words(self) -> str:
        """The call, and what its limit is, or whose could end it."""
        return f"{self} after a call with all" if self.limit is None else f"{self} = {TIME_LIMIT} s"


_ENDS: Final[Mapping[str, tuple[str, ...]]] = {
    "hang-before-head": ("first_byte", "whole_call"),
    "hang-after-head": ("between_bytes", "whole_call"),
    "hang-mid-body": ("between_bytes", "whole_call"),
    "trickle": ("whole_call",),
    "endless-announcements": ("whole_call",),
    "slow-head": ("whole_call",),
    "steady": ("first_byte", "between_bytes"),
    "paused": ("connect",),
    "kept-alive": ("between_bytes",),
}
"""Which limits end a call with this fault. Steady and paused answers take longer than them, but none may end one."""

_BY_EACH_METHOD: Final[Mapping[str, tuple[str, ...]]] = {
    "hang-mid-body": ("between_bytes",),
    "trickle": ("whole_call",),
}
"""As `_ENDS`, for the methods besides `call`. `first_byte` is another check's business."""


class Waiting(NamedTuple):
    """Calls that ran at the same time, with their replies, and how many seconds beyond its limit each may take."""

    replies: list[tuple[Waited, Reply]]
    grace: float


def wait(trial: Trial) -> Waiting:
    """Every fault that hangs, and a steady answer: all at the same time, distinguished by their prompts."""
    known = cases(trial)
    kinds = sorted({case.streamed for case in known})
    steady = [Case(STEADY, streamed, "whole") for streamed in kinds]
    steady += [Case(PAUSED, streamed, "whole") for streamed in kinds if streamed]
    steady += [Case(KEPT_ALIVE, one, "whole") for one in kinds if one and _may_be_kept_alive(trial.dialect)]
    waited = [Waited(case, limit) for case in (*known, *steady) for limit in _ENDS.get(case.fault.id, ())]
    others = [
        Waited(case, limit, method)
        for method in trial.subject.other_methods
        for case in known
        for limit in _BY_EACH_METHOD.get(case.fault.id, ())
    ]
    return _wait_for(trial, [*waited, *others])


def _wait_without_limits(trial: Trial) -> Waiting:
    """Late answers to calls without limits, after a call that had all of them."""
    limits = {"timeouts": dict.fromkeys(_LIMITS, TIME_LIMIT)}
    trial.subject.call(trial.scenario.prompt, {**options_for(trial, streamed=False), **limits}, answering_with(ANSWER))
    kinds = sorted({case.streamed for case in cases(trial)})
    return _wait_for(trial, [Waited(Case(LATE, streamed, "whole"), None) for streamed in kinds])


_LIMITS: Final = ("connect", "first_byte", "between_bytes", "whole_call")


def _may_be_kept_alive(dialect: Dialect) -> bool:
    """Whether its streams may have comments, and the provider's own client can read them."""
    return KEPT_ALIVE.is_for(dialect) and KEPT_ALIVE.id not in dialect.streams.client_failures


def _wait_for(trial: Trial, waited: list[Waited]) -> Waiting:
    by_name = {str(one): one for one in waited}
    answerer = by_text({name: partial(one.case.fault.make, ANSWER) for name, one in by_name.items()})
    with Lateness() as late:
        replies = trial.subject.call_together(
            [([{"role": "user", "content": name}], _limited(trial, one), one.method) for name, one in by_name.items()],
            answerer,
            seconds=PATIENCE_WITH_LIMITS,
        )
    return Waiting(list(zip(waited, replies, strict=True)), TIME_LIMIT_GRACE + WAKE_UPS * late.seconds)


def _limited(trial: Trial, waited: Waited) -> dict[str, Any]:
    if waited.limit is None:
        return options_for(trial, streamed=waited.case.streamed)
    limits = dict.fromkeys(_LIMITS, OTHER_TIME_LIMITS)
    return {**options_for(trial, streamed=waited.case.streamed), "timeouts": {**limits, waited.limit: TIME_LIMIT}}


@check(
    "faults.end-in-time",
    clause="Each limit of the option `timeouts` ends the calls that it applies to with an error, and no others.",
    requires=("dialect", "call", "own_settings"),
    once=True,
)
def end_in_time(trial: Trial) -> Iterator[Problem]:
    """An agent that waits for ever is broken."""
    wrong: list[Waited] = []
    together = trial.once(wait)
    for waited, reply in together.replies:
        if isinstance(reply, Refused) and waited.method == "call":
            raise NotApplicable(f"the adapter refuses the option timeouts ({reply.code})")
        wrong += [waited] if any(_wrong_wait(trial, waited, reply, together.grace)) else []
    before = trial.subject.request_count
    again = _wait_for(trial, wrong)  # a busy machine is late for all of them: once more, with fewer
    for waiting in (again, _wait_without_limits(trial)):
        for waited, reply in waiting.replies:
            number = _exchange_of(trial, waited, before)
            for fault in _wrong_wait(trial, waited, reply, waiting.grace):
                yield fault.after(f"{waited.words}: ").on_exchange(number)


def _exchange_of(trial: Trial, waited: Waited, before: int) -> int | None:
    """The number of the exchange of one of the calls that were made since then: its request has its name."""
    name = str(waited).encode()
    seen = ((number, trial.subject.exchange(number)) for number in range(before + 1, trial.subject.request_count + 1))
    return next((number for number, served in seen if served is not None and name in served.request.body), None)


def _wrong_wait(trial: Trial, waited: Waited, reply: Reply, grace: float) -> Iterator[Problem]:
    """A limit applies to each retry on its own; only `whole_call` is a limit for all of them together."""
    case = waited.case
    if case.expects == "whole" and isinstance(reply, Answered):
        yield from differences(reply, trial.once(good_stream if case.streamed else good))
        return
    if is_folded(waited.method):
        yield from _unended(reply)
        return
    yield from wrong_failure(trial, reply)
    if isinstance(reply, Answered) and waited.limit == "whole_call" and reply.at and reply.at[-1] > TIME_LIMIT + grace:
        yield Problem(f"the call took {reply.at[-1]:.2f} s")


def _unended(reply: Reply) -> Iterator[Problem]:
    """That a method which returns a whole answer did not raise an error in time."""
    if isinstance(reply, Answered) and reply.error is None:
        yield Problem("half of an answer was returned as a whole one", finding_class="loss")
    elif isinstance(reply, Crashed) and reply.timed_out:
        yield Problem(str(reply), finding_class="contract")
