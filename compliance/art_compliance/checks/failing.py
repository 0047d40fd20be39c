"""Response and stream: an answer that failed after its status 200 is an error, in whichever form it says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.answer_laws import same_arguments
from art_compliance.checks.answerers import half_of
from art_compliance.checks.kinds import Kind, call_as, meets, of_both_stages
from art_compliance.checks.replies import error_of, missing_words, wrong_failure
from art_compliance.checks.streamed import has_finish, text_in
from art_compliance.checks.trial import Trial
from art_compliance.checks.unfinished import kept_of_thoughts
from art_compliance.dialects import Dialect
from art_compliance.dialects.variations import Events, FailureForm
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Response, Send
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_sdk import FunctionCall, ToolCall

_STATUSES: Final = (503, 500, 529, 504, 429, 400)
"""What an answer may say though it began; the forms that are not the provider's usual one say the first."""

_WORDS: Final = "written failure of an answer"


def _failures_are_errors(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """The status came before the failure; who looks for one form alone takes half an answer for a whole one."""
    if kind == "response":
        yield from _of_whole_answers(trial)
        return
    for form, status in _forms(trial):
        for where, answer in _ANSWERS.items():
            if answer.tool_calls and "tools" not in trial.subject.capabilities:
                continue
            failing = _Failing(form, status, answer, where)
            faults = list(_wrong_stream(trial, failing))
            yield from (fault.after(f"a stream with {form.words} {where}: ") for fault in faults)
            if faults:
                break
    yield from kept_of_thoughts(trial)


def _of_whole_answers(trial: Trial) -> Iterator[Problem]:
    """What is wrong with the replies to whole answers that failed. Their words may be lost: OpenAI's client does so."""
    for form, status in _forms(trial):
        if form.whole is not None:
            faults = wrong_failure(trial, call_as(trial, "response", _failing_whole(form, status)))
            yield from (fault.after(f"an answer with {form.words}: ") for fault in faults)


def _forms(trial: Trial) -> Iterator[tuple[FailureForm, int]]:
    """Each form, with a status. The provider's own error comes in each of its kinds: who knows one may miss another."""
    dialect = trial.dialect
    whole, events = dialect.answers.write_error, dialect.streams.write_error
    kinds = {(whole(status, ""), events(status, "")): status for status in reversed(_STATUSES)}
    for status in reversed(kinds.values()):
        yield (
            FailureForm(
                words=f"its usual error {status}",
                whole=lambda _, status, words: json.loads(whole(status, words)),
                events=lambda _, status, words: (events(status, words),),
            ),
            status,
        )
    yield from ((form, _STATUSES[0]) for form in dialect.answers.failures if meets(trial, form))


def _failing_whole(form: FailureForm, status: int) -> Answerer:
    def answer(asked: Asked) -> Response:
        body: dict[str, Any] = json.loads(asked.dialect.answers.write(_TEXT))
        said = body if form.whole is None else form.whole(body, status, _WORDS)
        return Response(200, json.dumps(said).encode(), headers=asked.dialect.answers.error_headers(status, _WORDS))

    return answer


class _Failing:
    """Streams an answer up to some place, and then says in this form that it failed."""

    def __init__(self, form: FailureForm, status: int, answer: WrittenAnswer, where: str) -> None:
        self.form, self.status, self.answer = form, status, answer
        self._where = where
        self.begun: Events = ()

    def __call__(self, asked: Asked) -> Response:
        events = asked.events(self.answer)
        self.begun = events[: self._place(asked.dialect, events)]
        failed = self.form.events(self.begun, self.status, _WORDS)
        steps = tuple(map(Send, (*self.begun, *failed)))
        return Response(200, content_type=asked.dialect.streams.content_type, steps=steps)

    def _place(self, dialect: Dialect, events: Events) -> int:
        if self._where == _AT_FIRST:
            return 0
        if self._where != _AT_LAST:
            return half_of(events)
        streams = dialect.streams
        return next(
            at for at, event in enumerate(events) if has_finish([event], streams.finish_fields, streams.finish_events)
        )


def _wrong_stream(trial: Trial, failing: _Failing) -> Iterator[Problem]:
    """What is wrong with the reply to a stream that fails."""
    stop = {"stop": [_STOP]} if "stop" in trial.subject.capabilities else {}
    reply = call_as(trial, "stream", failing, **stop)
    arrived = text_in(failing.answer, failing.begun, trial.dialect.streams.text_fields)
    faults = list(wrong_failure(trial, reply, arrived))
    if not faults and failing.form.says_words:
        faults += missing_words(error_of(reply), _WORDS)
    yield from faults
    given = reply.event_calls if isinstance(reply, Answered) else []
    for call in given:
        function: dict[str, Any] = call.get("function") or {}
        arguments = function.get("arguments")
        known = (one.function.arguments for one in failing.answer.tool_calls)
        if not any(same_arguments(trial.dialect.answers, one, arguments) for one in known):
            yield Problem(f"the call {call} is passed on incomplete")


_STOP: Final = "STOP"
_TEXT: Final = WrittenAnswer(content=f"a <b, [c, {{d, `e: it fails before {_STOP[:-1]}")
"""It has what some adapters hold back until they know how it goes on: the beginnings of tags, of JSON, of code, and of
a stop sequence (https://github.com/vercel/ai/pull/15583)."""

_CALLS: Final = WrittenAnswer(
    tool_calls=(
        ToolCall("call_failing1", FunctionCall("look", '{"at":"the one side"}')),
        ToolCall("call_failing2", FunctionCall("look", '{"at":"the other side, which is not seen as a whole"}')),
    ),
    finish="tool_calls",
)
_AT_FIRST: Final = "before its first token"
_AT_LAST: Final = "in place of its end"
_ANSWERS: Final = {
    _AT_FIRST: _TEXT,
    "in the middle of its text": _TEXT,
    _AT_LAST: _TEXT,
    "in the middle of its calls": _CALLS,
}
"""Where the answer fails, and which one."""

FAILING_CHECKS: Final = of_both_stages(
    "failures-in-any-form-are-errors",
    "An answer that fails after its status 200 ends with ERROR and END, in every form; what END keeps can go back.",
    _failures_are_errors,
)
