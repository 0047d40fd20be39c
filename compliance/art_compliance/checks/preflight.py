"""Preflight: can the suite work with this adapter at all? A failure here is a harness error and stops the run.

One that hangs, exits or raises what is no Exception is not made wrongly for the suite: it has failed.
"""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.replies import why_unread
from art_compliance.checks.requirements import is_json, require_polite
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Sent


@check(
    "preflight.greeting-translates",
    clause="The adapter translates a prompt of one user message.",
    once=True,
)
def greeting_translates(trial: Trial) -> Iterator[Problem]:
    """The simplest prompt there is."""
    seen = trial.observation
    require_polite(seen)
    if not isinstance(seen, Sent):
        yield Problem(str(seen))
    elif not is_json(seen.payload):
        yield Problem(f"translate must return JSON data, but returned a {type(seen.payload).__name__}")


@check(
    "preflight.answer-is-read",
    clause="The adapter reads the loopback provider's answer: its text is in END's message.",
    requires="call",
    once=True,
)
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """The suite can reach the adapter's provider, and the adapter its answer."""
    reply = trial.subject.call(trial.scenario.prompt, trial.scenario.call_options())
    require_polite(reply)
    is_known = trial.subject.dialect is not None
    reason = why_unread(reply)
    if not isinstance(reply, Answered) or (is_known and reason is not None):
        yield Problem(str(reason))
    elif is_known and reply.text != WRITTEN_TEXT:
        kinds = ", ".join(reply.kinds) or "no events"
        yield Problem(f"expected END with the text {show(WRITTEN_TEXT)}, got {show(reply.text)} after {kinds}")
