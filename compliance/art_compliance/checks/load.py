"""Load: many calls at once through one adapter are as many calls one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.answered import Answered
from art_compliance.checks.base import check
from art_compliance.checks.trial import NotApplicable, Trial
from art_compliance.findings import Finding
from art_compliance.provider import Asked, Response
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subjects import Crashed, Refused


@check(
    "load.calls-at-once-do-not-mix",
    clause="Of many calls at once, each gets its own answer, whole, under its own ids.",
    once=True,
)
def calls_at_once_do_not_mix(trial: Trial) -> Iterator[Finding]:
    """One user's words in another's chat."""
    name = "load.calls-at-once-do-not-mix"
    _ = trial.dialect
    if not trial.subject.has_call:
        message = "the adapter has no call"
        raise NotApplicable(message)
    asked = [_ask(trial, number) for number in range(AT_ONCE)]
    heard = trial.subject.call_together(asked, _echo, seconds=_PATIENCE)
    wrong = [f"call {number}: {fault}" for number, one in enumerate(heard) if (fault := _wrong(number, one))]
    for fault in wrong[:_SHOWN]:
        yield Finding(check=name, message=fault)
    if len(wrong) > _SHOWN:
        yield Finding(check=name, message=f"{len(wrong)} of {AT_ONCE} calls at once are not answered as they should be")


AT_ONCE: Final = 200
"""Calls that are under way together."""

_PATIENCE: Final = 20.0
_SHOWN: Final = 5
_MARK: Final = re.compile(r"question number (\d+)\.")


def _ask(trial: Trial, number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    streams = "streaming" in trial.subject.capabilities and number % 4
    ids = {"thread_id": f"thread-{number}", "trace_id": f"trace-{number}", "session_id": f"session-{number}"}
    prompt = [{"role": "user", "content": f"question number {number}."}]
    return prompt, {**trial.scenario.call_options(), **ids, **({"stream": True} if streams else {})}


def _echo(asked: Asked) -> Response:
    found = _MARK.search(str(asked.payload))
    return asked.answer(WrittenAnswer(content=_answer(int(found[1]) if found else -1)))


def _answer(number: int) -> str:
    return f"This is the answer to the question number {number}, and to no other question than {number}."


def _wrong(number: int, heard: Answered | Refused | Crashed) -> str | None:
    if not isinstance(heard, Answered):
        return str(heard)
    if heard.error is not None:
        return f"an ERROR event: {heard.error.get('message')}"
    if not heard.text == heard.told_text == _answer(number):
        return f"it was answered {heard.text!r}, and {heard.told_text!r} in the tokens"
    ids = {(event.get("thread_id"), event.get("trace_id"), event.get("session_id")) for event in heard.events}
    own = (f"thread-{number}", f"trace-{number}", f"session-{number}")
    return None if ids == {own} else f"its events have the ids {sorted(map(str, ids - {own}))}"
