"""Live: a call to the real provider. It runs only on request, and with a key."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.answer_laws import wrong_ids, wrong_order
from art_compliance.checks.base import check
from art_compliance.checks.replies import why_unread
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.subject.events import Answered
from art_sdk import ARTError, parse_prompt


@check(
    "live.call-is-answered",
    clause="The real provider accepts the request; its answer is read in order, into a message, with token counts.",
)
def call_is_answered(trial: Trial) -> Iterator[Problem]:
    """Findings show neither the key nor whose account it was."""
    for message in _faults(trial):
        yield Problem(trial.scrubbed(message))


def _faults(trial: Trial) -> Iterator[str]:
    reply = trial.live_reply
    reason = why_unread(reply)
    if reason is not None or not isinstance(reply, Answered):
        yield str(reason)
    else:
        yield from wrong_order(reply)
        yield from wrong_ids(trial, reply)
        yield from _miscounted(reply)
        try:
            parse_prompt([*trial.scenario.prompt, reply.message])
        except ARTError as error:
            yield f"END's message is not a standard message: {error.message}"


def _miscounted(reply: Answered) -> Iterator[str]:
    for name in ("input_tokens", "output_tokens"):
        count = reply.metadata.get(name)
        if not isinstance(count, int) or count <= 0:
            yield f"{name} is {count!r}, but every provider counts them"
