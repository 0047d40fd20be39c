"""Stream: closing or cancelling a call midway ends it at once, and closes the connection."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from art_compliance.checks.answerers import busy, half_of
from art_compliance.checks.base import check
from art_compliance.checks.limits import CLOSED_WITHIN, CONNECTION_CLOSED_WITHIN, RETRY_AFTER
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import STREAMS, require_asked_for, script
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Hang, Response, Send
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Crashed, Refused, raised


@check(
    "stream.closing-ends-the-call",
    clause="Closing the events midway returns at once and closes the connection.",
    finding_class="contract",
    requires=STREAMS,
    once=True,
)
def closing_ends_the_call(trial: Trial) -> Iterator[Problem]:
    """The caller must not pay for the rest of an answer."""
    require_asked_for(trial.with_answer(_TEXT))
    yield from _wrong_closing(trial, _TEXT)
    if "reasoning" in trial.subject.capabilities:
        yield from (one.after("while the model thinks: ") for one in _wrong_closing(trial, _THOUGHT))


def _wrong_closing(trial: Trial, written: WrittenAnswer) -> Iterator[Problem]:
    """What is wrong with a call that is closed after the first token of this answer."""
    with trial.subject.answering(hang_after_half(trial, written)):
        try:
            took = trial.subject.attempt("close_early", **_asking(trial))
        except CannotDo as error:
            raise NotApplicable(str(error)) from error
    if isinstance(took, (Refused, Crashed)):
        yield Problem(f"closing raised {raised(took)}")
        return
    if took > CLOSED_WITHIN:
        yield Problem(f"closing took {took:.2f} s")
    yield from still_connected(trial)


@check(
    "stream.cancelling-ends-the-call",
    clause="A call that is cancelled while it waits ends as cancelled, and closes the connection.",
    finding_class="contract",
    requires=STREAMS,
    once=True,
)
def cancelling_ends_the_call(trial: Trial) -> Iterator[Problem]:
    """Swallowing the cancellation leaves a task that nobody can end."""
    require_asked_for(trial.with_answer(_TEXT))
    with trial.subject.answering(hang_after_half(trial)):
        yield from _wrong_cancelling(trial, "cancelled after its first token", token=True)
    with trial.subject.answering(lambda _: script(trial, [Hang()])):
        yield from _wrong_cancelling(trial, "cancelled while it waits for the answer's head", token=False)
    with trial.subject.answering(lambda _: Response(200, steps=(Hang(),))):
        for method in ("call", "complete") if "complete" in trial.subject.methods else ("call",):
            by = "" if method == "call" else f", by {method}"
            when = f"cancelled while it waits for an unstreamed answer{by}"
            wrong = [*_wrong_cancelling(trial, when, token=False, method=method, stream=False)]
            yield from wrong
            if wrong:
                return
    yield from _retried_anyway(trial)
    if (retries := trial.subject.settings.get("retries")) is not None:
        with suppress(CannotDo), trial.subject.opening_with({retries: 1}):
            yield from _retried_anyway(trial)


def _retried_anyway(trial: Trial) -> Iterator[Problem]:
    """What is wrong with a call that is cancelled while it waits to ask again, if it does."""
    with trial.subject.answering(busy):
        came = trial.subject.attempt("cancel_after", **_asking(trial), seconds=RETRY_AFTER / 2)
        yield from _wrong_ends(trial, _WAITING, came, may_end=True)
        if came == "cancelled" and _asks_again(trial):
            yield Problem(f"{_WAITING}, the call retried anyway")


_WAITING: Final = "cancelled while it waits to ask again"


def _asks_again(trial: Trial) -> bool:
    before, ends = trial.subject.request_count, time.monotonic() + RETRY_AFTER + CONNECTION_CLOSED_WITHIN
    while trial.subject.request_count == before and time.monotonic() < ends:
        time.sleep(CLOSED_WITHIN / 10)
    return trial.subject.request_count > before


def _wrong_cancelling(
    trial: Trial, when: str, *, token: bool, method: str = "call", stream: bool = True
) -> Iterator[Problem]:
    """What is wrong with a call that is cancelled while it waits for its second token, or for its first."""
    asking = _asking(trial, stream=stream)
    try:
        came = trial.subject.attempt("cancel_early", **asking, after_token=token, method=method)
    except CannotDo as error:
        raise NotApplicable(str(error)) from error
    yield from _wrong_ends(trial, when, came)


def _wrong_ends(trial: Trial, when: str, came: Any, *, may_end: bool = False) -> Iterator[Problem]:
    """What is wrong with what came of a call that was cancelled. One that never retries has ended before that."""
    if isinstance(came, (Refused, Crashed)):
        yield Problem(f"{when}, the call raised {raised(came)}")
        return
    if came == "went on" or (came == "ended before" and not may_end):
        yield Problem(f"{when}, the call ran to its end")
    yield from (one.after(f"{when}: ") for one in still_connected(trial))


def _asking(trial: Trial, *, stream: bool = True) -> dict[str, Any]:
    return {"prompt": trial.scenario.prompt, "options": {**trial.options, "stream": stream}}


_TEXT: Final = WrittenAnswer(content="This answer was written, and it comes in pieces.")
_THOUGHT: Final = WrittenAnswer(thinking="First, think about it in several pieces.", content="Yes.")


def hang_after_half(trial: Trial, written: WrittenAnswer = _TEXT) -> Answerer:
    """Streams the first half of an answer, and then nothing more."""

    def hang(asked: Asked) -> Response:
        events = trial.dialect.streams.write(written, asked.payload)
        return script(trial, [*map(Send, events[: half_of(events)]), Hang()])

    return hang


def await_ends(trial: Trial) -> bool:
    """Waits with some patience until the provider has no answer under way. Returns whether it came to that."""
    ends = time.monotonic() + CONNECTION_CLOSED_WITHIN
    while trial.subject.underway and time.monotonic() < ends:
        time.sleep(CLOSED_WITHIN / 50)
    return not trial.subject.underway


def still_connected(trial: Trial) -> Iterator[Problem]:
    """That the provider still sends its answer, after some patience."""
    if not await_ends(trial):
        yield Problem("the connection stays open, and the provider keeps sending")
