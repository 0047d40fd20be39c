"""Preflight: can the suite work with this adapter at all? A failure here is the harness's, and stops the run."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.requirements import is_json
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Sent


@check(
    "preflight.greeting-translates",
    clause="A prompt of one user message becomes a request.",
    once=True,
)
def greeting_translates(trial: Trial) -> Iterator[Problem]:
    """The simplest prompt there is."""
    seen = trial.observation
    if not isinstance(seen, Sent):
        yield Problem(str(seen))
    elif not is_json(seen.payload):
        text = f"translate must return JSON data and returned a {type(seen.payload).__name__}"
        yield Problem(text)


@check(
    "preflight.answer-is-read",
    clause="The loopback provider's written answer is read: an event with a message, and its text in it.",
    requires="call",
    once=True,
)
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """The way there and back."""
    answered = trial.subject.call(trial.scenario.prompt, trial.scenario.call_options())
    if not isinstance(answered, Answered):
        yield Problem(str(answered))
    elif answered.error is not None and trial.subject.dialect is not None:
        yield Problem(f"call gave an ERROR event: {answered.error.get('message')}")
    elif trial.subject.dialect is not None and answered.text != WRITTEN_TEXT:
        told = ", ".join(answered.kinds) or "no events"
        text = f"expected END with the text {WRITTEN_TEXT!r}, got {answered.text!r} after {told}"
        yield Problem(text)
