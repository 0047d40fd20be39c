"""Response: however an adapter is called, the answer is the same, and an end that nobody knows is no good end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import differences
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.pointers import look_up
from art_compliance.provider import Response
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import describe_error
from art_sdk.json_data import is_object


@check(
    "response.every-way-to-call-agrees",
    clause="`call_sync`, `complete` and `complete_sync`, where there are such, say what `call` says.",
)
def every_way_to_call_agrees(trial: Trial) -> Iterator[Problem]:
    """Who tests by one and ships the other is in for a surprise."""
    whole = trial.answered
    ways = [way for way in _WAYS if callable(getattr(trial.subject.adapter, way, None))]
    if not ways:
        message = "there is one way to call it"
        raise NotApplicable(message)
    for way in ways:
        try:
            reply = _hear(trial, way)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            yield Problem(f"{way} raised {describe_error(error)}")
            continue
        for difference in _relevant(way, reply, whole):
            yield Problem(f"{way} and call differ in {difference}")


_WAYS: Final = ("call_sync", "complete", "complete_sync")
_NO_TOKENS: Final = ("the text of the tokens", "the thinking of the tokens", "the calls of TOOL_CALL")


def _hear(trial: Trial, way: str) -> Answered:
    given = list(trial.scenario.prompt), dict(trial.scenario.call_options())
    with trial.subject.answering(lambda asked: asked.answer(trial.written)):
        if way == "call_sync":
            return trial.subject.caller.read(*given, method=way)
        folded = trial.subject.caller.ask(*given, way)
        metadata = {"type": "METADATA", "metadata": folded.metadata}
        return Answered.of([metadata, {"type": "END", "message": folded.message, "finish": folded.finish}])


def _relevant(way: str, reply: Answered, whole: Answered) -> Iterator[str]:
    told = differences(reply, whole)
    return told if way == "call_sync" else (one for one in told if not one.startswith(_NO_TOKENS))


@check(
    "response.unknown-end-is-no-stop",
    clause="An answer that ends for a reason nobody knows yet is told by `other`, its text whole.",
    once=True,
)
def unknown_end_is_no_stop(trial: Trial) -> Iterator[Problem]:
    """Providers add such reasons, and none of them was ever good news."""
    body = json.loads(trial.dialect.answers.write(_ANSWER))
    parent, _, step = trial.dialect.answers.finish.rpartition("/")
    holder: Any = look_up(body, parent)
    assert is_object(holder)  # noqa: S101 - the dialect's own answer
    holder[step] = _WORD
    reply = trial.require_answered(trial.call_with(Response(200, json.dumps(body).encode())))
    if reply.finish != "other" or reply.text != _ANSWER.content:
        message = f"the provider ended by {_WORD!r}; END says {reply.finish!r}, and the text {reply.text!r}"
        yield Problem(message)


_WORD: Final = "a_reason_of_tomorrow"
_ANSWER: Final = WrittenAnswer(content="This answer was written.")
