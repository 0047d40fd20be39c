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
    heard = trial.heard_live
    if not isinstance(heard, Answered):
        yield str(heard)
    elif heard.error is not None:
        yield f"call gave an ERROR event: {heard.error.get('message')}"
    else:
        yield from wrong_order(heard)
        yield from wrong_ids(trial, heard)
        yield from _miscounted(heard)
        try:
            parse_prompt([*trial.scenario.prompt, heard.message])
        except ARTError as error:
            yield f"END's message is none of the standard: {error.message}"


def _miscounted(heard: Answered) -> Iterator[str]:
    for name in ("input_tokens", "output_tokens"):
        count = heard.metadata.get(name)
        if not isinstance(count, int) or count <= 0:
            yield f"{name} is {count!r}: every provider counts them"
