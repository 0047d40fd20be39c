"""Preflight: can the suite work with this adapter at all? A failure here is a harness error and stops the run.

One that hangs, exits, raises what is not an Exception, changes what its process shares, or reads another text than the
provider's, is not made wrongly for the suite: it has failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from art_compliance.checks.arriving import describe_arrivals
from art_compliance.checks.base import check
from art_compliance.checks.limits import SHOWN_OF_A_PROMPT
from art_compliance.checks.replies import why_unread
from art_compliance.checks.requirements import Misbehaved, NotApplicable, require_polite
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.quoting import shorten, show
from art_compliance.subject.events import KINDS, Answered
from art_compliance.subject.factories import with_article
from art_compliance.subject.observations import Crashed, Observation, Reply, Sent
from art_sdk.json_data import is_array, is_object
from art_sdk.sendable import find_unsendable


@check(
    "preflight.greeting-translates",
    clause="The adapter translates a prompt of one user message.",
    once=True,
)
def greeting_translates(trial: Trial) -> Iterator[Problem]:
    """The simplest prompt there is."""
    seen = trial.observation
    require_polite(seen)
    if isinstance(seen, Sent):
        wrong = _wrong_payload(seen.payload)
    elif trial.subject.has_translate:
        wrong = f"translate: {seen}"
    else:  # the call failed: preflight.answer-is-read says more
        wrong = None
    if wrong:
        yield Problem(wrong)


def _wrong_payload(payload: Any) -> str | None:
    """Why the payload is not a request body, which is a JSON object in every dialect."""
    if is_object(payload):
        found = find_unsendable(payload)
        return None if found is None else f"translate must return JSON data; at {found.path}, {found.reason}"
    if payload is None:
        return "translate must return a JSON object (a dict), but returned nothing (None)"
    advice = {
        "coroutine": "; translate must not be async",
        "str": "; return the data, not its JSON text",
        "bytes": "; return the data, not its JSON text",
    }.get(type(payload).__name__, "")
    return f"translate must return a JSON object (a dict), but returned {with_article(payload)}{advice}"


@check(
    "preflight.answer-is-read",
    clause="The adapter reads the loopback provider's answer: its text is in END's message.",
    requires="call",
    once=True,
)
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """The suite can reach the adapter's provider, and the adapter its answer."""
    if trial.subject.has_translate and not _is_translated(trial.observation):
        raise NotApplicable("the prompt is not translated: see preflight.greeting-translates")
    before = trial.subject.request_count
    reply = trial.subject.call(trial.scenario.prompt, trial.options)
    require_polite(reply)
    arrived = trial.subject.seen_since(before)
    wrong = _wrong_reply(reply, is_known=trial.subject.dialect is not None)
    if not wrong and arrived:
        return
    sent = describe_arrivals(trial.subject, arrived)
    if wrong and not sent and _is_read_wrongly(reply):
        raise Misbehaved(wrong)
    text = "; ".join(filter(None, (sent, wrong)))
    if changed := _changed(trial):
        raise Misbehaved(f"{text}; the adapter changed {', '.join(changed)}")
    yield Problem(text)


def _is_read_wrongly(reply: Reply) -> bool:
    """Whether a provider that was reached is not what is wrong: the call gave another text, or raised by mistake."""
    if isinstance(reply, Answered):
        return reply.error is None and bool(reply.text)
    return isinstance(reply, Crashed)


def _changed(trial: Trial) -> list[str]:
    """Some of what the adapter changed that all code of its process shares: what fails then is its own fault."""
    if trial.subject.bridged is not None or trial.subject.speaks is not None:
        return []
    changed = trial.subject.attempt("changed_surroundings")
    return [*map(str, changed[:SHOWN_OF_A_PROMPT])] if is_array(changed) else []


def _is_translated(seen: Observation) -> bool:
    return isinstance(seen, Sent) and _wrong_payload(seen.payload) is None


def _wrong_reply(reply: Reply, *, is_known: bool) -> str | None:
    """What is wrong with the reply. The suite writes no answers for an unknown dialect."""
    reason = why_unread(reply)
    if not isinstance(reply, Answered):
        return f"call: {reason}"
    if reply.kinds and not KINDS.intersection(reply.kinds):
        return f"event 0 has the type {shorten(reply.kinds[0])}; the types are {', '.join(sorted(KINDS))}"
    if not is_known or (reason is None and reply.text == WRITTEN_TEXT):
        return None
    if reason is not None:
        return reason
    kinds = ", ".join(reply.kinds) or "no events"
    return f"expected END with the text {show(WRITTEN_TEXT)}, got {show(reply.text)} after {kinds}"
