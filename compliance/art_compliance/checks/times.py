"""Response and stream: METADATA has the times of the call, in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.base import Check, check
from art_compliance.checks.limits import FOLDED_WITHIN, SHARE_OF_PAUSE, SILENCE, TIMES_LENIENCE
from art_compliance.checks.replies import why_unread
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.streamed import options_for
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Pause, Response, Send
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.observations import Reply


def _times_check(stage: str, *, streamed: bool) -> Check:
    """The check of a stage."""

    @check(
        f"{stage}.times-are-plausible",
        clause="The times in METADATA, of the whole call and to its first token, are milliseconds and possible.",
        finding_class="contract",
        requires=("dialect", "call", "sent", *(("streaming",) if streamed else ())),
        once=True,
        on_every_prompt=True,
    )
    def times_are_plausible(trial: Trial) -> Iterator[Problem]:
        """People compare providers by them."""
        options, least = options_for(trial, streamed=streamed), SILENCE * 1000 * SHARE_OF_PAUSE if streamed else 0
        yield from _wrong_times(trial.subject.call(trial.scenario.prompt, options, _pausing), least)
        for method in trial.subject.other_methods:
            reply = trial.subject.call_by(method, trial.scenario.prompt, options, _pausing)
            faults = _wrong_times(reply, least) if why_unread(reply) is None else ()
            yield from (fault.after(f"by {method}, ") for fault in faults)

    return times_are_plausible


def _pausing(asked: Asked) -> Response:
    """An answer that begins with a pause."""
    response = asked.answer(_TEXT)
    steps = response.steps or (Send(response.body),)
    return Response(200, content_type=response.content_type, steps=(Pause(SILENCE), *steps))


def _wrong_times(reply: Reply, least_to_first: float) -> Iterator[Problem]:
    answered = require_read(reply)
    total, first = (answered.metadata.get(name) for name in ("total_generation_time_ms", "time_to_first_token_ms"))
    if total is None and first is None:
        raise NotApplicable("METADATA has no times")
    took_ms = (answered.at[-1] if answered.at else FOLDED_WITHIN) * 1000
    most = TIMES_LENIENCE * took_ms
    for name, value, least in (
        ("total_generation_time_ms", total, SILENCE * 1000 * SHARE_OF_PAUSE),
        ("time_to_first_token_ms", first, least_to_first),
    ):
        if value is not None and not (_is_number(value) and least <= value <= most):
            took = f"the answer came after {SILENCE * 1000:g} ms, and its end after {took_ms:.0f} ms"
            yield Problem(f"{name} is {show(value)}; {took}")
            return
    if total is not None and first is not None and first > total:
        yield Problem(f"time_to_first_token_ms is {show(first)}, and total_generation_time_ms only {show(total)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TEXT: Final = WrittenAnswer(content="This answer was written, and it comes late.")

TIMES_CHECKS: Final = (_times_check("response", streamed=False), _times_check("stream", streamed=True))
