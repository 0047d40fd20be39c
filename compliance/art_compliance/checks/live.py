"""Live: the real provider is asked, on request alone and with a key."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.answer_laws import wrong_ids, wrong_order
from art_compliance.checks.base import check
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.subject.events import Answered
from art_sdk import ARTError, parse_prompt


@check(
    "live.call-is-answered",
    clause="The real provider takes the request, and its answer is read: in order, into a message, tokens counted.",
)
def call_is_answered(trial: Trial) -> Iterator[Problem]:
    """No key, and nothing that says whose account it was, stands in a finding."""
    for message in _faults(trial):
        yield Problem(trial.scrubbed(message))


def _faults(trial: Trial) -> Iterator[str]:
    reply = trial.live_reply
    if not isinstance(reply, Answered):
        yield str(reply)
    elif reply.error is not None:
        yield f"call gave an ERROR event: {reply.error.get('message')}"
    else:
        yield from wrong_order(reply)
        yield from wrong_ids(trial, reply)
        yield from _miscounted(reply)
        try:
            parse_prompt([*trial.scenario.prompt, reply.message])
        except ARTError as error:
            yield f"END's message is none of the standard: {error.message}"


def _miscounted(reply: Answered) -> Iterator[str]:
    for name in ("input_tokens", "output_tokens"):
        count = reply.metadata.get(name)
        if not isinstance(count, int) or count <= 0:
            yield f"{name} is {count!r}: every provider counts them"
