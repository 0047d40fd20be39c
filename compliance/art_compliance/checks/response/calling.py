"""Response: every method that calls the provider gives the same answer, and an unknown finish reason is not a stop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.additions import NEW_REASON, PLAIN_ANSWER, wrong_end
from art_compliance.checks.base import check
from art_compliance.checks.replies import differences
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.pointers import look_up
from art_compliance.provider import Response
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import describe_error
from art_sdk.json_data import is_object


@check(
    "response.every-way-to-call-agrees",
    clause="Where the adapter has `call_sync`, `complete` or `complete_sync`, they give the same answer as `call`.",
)
def every_way_to_call_agrees(trial: Trial) -> Iterator[Problem]:
    """People test with one of them and ship another."""
    whole = trial.answered
    methods = [method for method in _METHODS if callable(getattr(trial.subject.adapter, method, None))]
    if not methods:
        raise NotApplicable("the adapter has no other method than call")
    for method in methods:
        try:
            answered = _answer_by(trial, method)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            yield Problem(f"{method} raised {describe_error(error)}")
            continue
        for difference in _relevant(method, answered, whole):
            yield Problem(f"{method} and call differ in {difference}")


_METHODS: Final = ("call_sync", "complete", "complete_sync")
_ONLY_IN_EVENTS: Final = ("the text of the tokens", "the thinking of the tokens", "the calls of TOOL_CALL")


def _answer_by(trial: Trial, method: str) -> Answered:
    given = list(trial.scenario.prompt), dict(trial.scenario.call_options())
    with trial.subject.answering(lambda asked: asked.answer(trial.written)):
        if method == "call_sync":
            return trial.subject.caller.read(*given, method=method)
        folded = trial.subject.caller.ask(*given, method)
        metadata = {"type": "METADATA", "metadata": folded.metadata}
        return Answered.of([metadata, {"type": "END", "message": folded.message, "finish": folded.finish}])


def _relevant(method: str, answered: Answered, whole: Answered) -> Iterator[str]:
    found = differences(answered, whole)
    return found if method == "call_sync" else (one for one in found if not one.startswith(_ONLY_IN_EVENTS))


@check(
    "response.unknown-end-is-no-stop",
    clause="An answer with an unknown finish reason ends with the finish `other`, and its text is whole.",
    once=True,
)
def unknown_end_is_no_stop(trial: Trial) -> Iterator[Problem]:
    """Providers add such reasons, and so far each of them meant that something went wrong."""
    body = json.loads(trial.dialect.answers.write(PLAIN_ANSWER))
    parent, _, step = trial.dialect.answers.finish.rpartition("/")
    holder: Any = look_up(body, parent)
    assert is_object(holder)  # noqa: S101 - the dialect's own answer
    holder[step] = NEW_REASON
    yield from wrong_end(require_read(trial.call_with(Response(200, json.dumps(body).encode()))))
