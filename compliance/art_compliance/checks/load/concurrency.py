"""Load: calls that run at the same time through one adapter do not affect each other, and leave nothing behind."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count, islice
from math import inf
from typing import Any, Final

from art_compliance.checks.answerers import refusing
from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    BYTES_A_CALL,
    CALLS_AT_ONCE,
    CALLS_BEFORE_MEMORY,
    CALLS_PER_MEASURE,
    MEMORY_ROUNDS,
    PATIENCE_WITH_MANY,
    SHOWN_OF_CALLS,
)
from art_compliance.checks.replies import missing_words
from art_compliance.checks.trial import Trial
from art_compliance.dialects.recorded import arguments_of
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Drop, Pause, Response, Send, in_one_write
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_sdk import FunctionCall, ToolCall


@check(
    "load.calls-at-once-do-not-mix",
    clause="Each of many concurrent calls gets its own whole answer, with its own ids, even if others fail.",
    requires=("dialect", "call"),
    once=True,
)
def calls_at_once_do_not_mix(trial: Trial) -> Iterator[Problem]:
    """Otherwise one user reads another user's answer."""
    calls = [ask_number(trial, number) for number in range(CALLS_AT_ONCE)]
    has_calls = "tools" in trial.subject.capabilities
    answer = _echo_with_calls if has_calls else _echo_most
    replies = trial.subject.call_together(calls, answer, seconds=PATIENCE_WITH_MANY)
    numbered = (
        (number, _wrong_call(number, one) if has_calls and _is_to_call(number) else _wrong(number, one))
        for number, one in enumerate(replies)
    )
    wrong = [fault.after(f"call {number}: ") for number, fault in numbered if fault is not None]
    yield from wrong[:SHOWN_OF_CALLS]
    if len(wrong) > SHOWN_OF_CALLS:
        is_contract = all(fault.finding_class == "contract" for fault in wrong)
        text = f"{len(wrong)} of {CALLS_AT_ONCE} concurrent calls gave a wrong answer"
        yield Problem(text, finding_class="contract" if is_contract else None)


_IDS: Final = ("thread_id", "trace_id", "session_id")
_MARK: Final = re.compile(r"question number (\d+)\.")


def ask_number(trial: Trial, number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Prompt and options of a call with a number, three out of four of them streamed."""
    streams = "streaming" in trial.subject.capabilities and number % 4
    ids = {"thread_id": f"thread-{number}", "trace_id": f"trace-{number}", "session_id": f"session-{number}"}
    prompt = [{"role": "user", "content": f"question number {number}."}]
    return prompt, {**trial.scenario.call_options(), **ids, **({"stream": True} if streams else {})}


def echo(asked: Asked) -> Response:
    """The answer to the number that the request has."""
    found = _MARK.search(str(asked.payload))
    return asked.answer(WrittenAnswer(content=answer_to(int(found[1]) if found else -1)))


def _is_to_fail(number: int) -> bool:
    """One in ten. The other calls must not notice."""
    return number % 10 == 9


def _is_to_be_refused(number: int) -> bool:
    """One in twenty. Of those that fail, the others are cut off if they are streamed."""
    return number % 20 == 19


def _words_to(number: int) -> str:
    return f"The question number {number} was refused, and no other than {number}."


def _is_to_call(number: int) -> bool:
    """One in five is answered with calls of tools."""
    return number % 5 == 2


def _echo_with_calls(asked: Asked) -> Response:
    found = _MARK.search(str(asked.payload))
    if found is None or not _is_to_call(int(found[1])):
        return _echo_most(asked)
    return asked.answer(WrittenAnswer(tool_calls=_calls_of(int(found[1])), finish="tool_calls"))


def _calls_of(number: int) -> tuple[ToolCall, ...]:
    names = (f"call_{number}_{side}" for side in ("one", "two"))
    return tuple(ToolCall(name, FunctionCall("look", f'{{"at": "{name}"}}')) for name in names)


def _echo_most(asked: Asked) -> Response:
    found = _MARK.search(str(asked.payload))
    if found is None or not _is_to_fail(number := int(found[1])):
        return echo(asked)
    if not asked.wants_stream or _is_to_be_refused(number):
        return refusing(400, _words_to(number))(asked)
    begun = Send(asked.dialect.streams.write(_BEGUN, asked.payload)[0])
    return Response(200, content_type=asked.dialect.streams.content_type, steps=(begun, Pause(0.05), Drop()))


_BEGUN: Final = WrittenAnswer(content="This answer never comes to its end.")


def answer_to(number: int) -> str:
    """The text of that answer."""
    return f"This is the answer to the question number {number}, and to no other question than {number}."


def _wrong(number: int, reply: Reply) -> Problem | None:
    if not isinstance(reply, Answered):
        return Problem(str(reply), finding_class="contract")
    if _is_to_fail(number):
        text = f"it should have failed, but ended with {show(reply.finish)}: {show(reply.text)}"
        if reply.finish != "error":
            return Problem(text)
        return next(missing_words(reply.error or {}, _words_to(number)), None) if _is_to_be_refused(number) else None
    if reply.error is not None:
        return Problem(f"an ERROR event: {reply.error.get('message')}", finding_class="contract")
    if not reply.text == reply.token_text == answer_to(number):
        return Problem(f"its answer is {show(reply.text)}, and {show(reply.token_text)} in the tokens")
    return _wrong_ids(number, reply)


def _wrong_call(number: int, reply: Reply) -> Problem | None:
    """As `_wrong`, of an answer with calls: by their arguments, since some adapters make the ids anew."""
    if not isinstance(reply, Answered):
        return Problem(str(reply), finding_class="contract")
    if reply.error is not None:
        return Problem(f"an ERROR event: {reply.error.get('message')}", finding_class="contract")
    wanted = [json.loads(call.function.arguments) for call in _calls_of(number)]
    for calls in (reply.event_calls, reply.calls):
        found = [_arguments_in(call) for call in calls]
        if found != wanted:
            return Problem(f"its calls have the arguments {show(found)} instead of {show(wanted)}")
    return _wrong_ids(number, reply)


def _arguments_in(call: dict[str, Any]) -> Any:
    function: dict[str, Any] = call.get("function") or {}
    return arguments_of(str(function.get("arguments")))


def _wrong_ids(number: int, reply: Answered) -> Problem | None:
    ids = {tuple(str(event.get(name)) for name in _IDS) for event in reply.events}
    own = (f"thread-{number}", f"trace-{number}", f"session-{number}")
    text = f"its events have the ids {show(sorted(ids - {own}))}"
    return None if ids == {own} else Problem(text, finding_class="contract")


@check(
    "load.memory-stays-flat",
    clause="The adapter keeps no memory of finished calls.",
    finding_class="contract",
    requires=("dialect", "call", "python"),
    once=True,
)
def memory_stays_flat(trial: Trial) -> Iterator[Problem]:
    """A service makes millions of calls."""
    numbers = count()
    _call_many(trial, numbers, CALLS_BEFORE_MEMORY)
    with _measuring(trial):
        _call_many(trial, numbers, CALLS_BEFORE_MEMORY)
        grown = _least_left_by_a_call(trial, numbers)
    if grown > BYTES_A_CALL:
        yield Problem(f"each call leaves {grown:,.0f} bytes behind, measured over {CALLS_PER_MEASURE} calls in a row")


def _call_many(trial: Trial, numbers: Iterator[int], how_many: int) -> None:
    """Calls with prompts that never repeat; some fail."""
    for number in islice(numbers, how_many):
        trial.subject.call(*ask_number(trial, number), refusing(400) if number % 4 == 1 else _echo_at_once)


def _echo_at_once(asked: Asked) -> Response:
    """As `echo`, with the body in one write: that is cheap, and makes the same events."""
    return in_one_write(echo(asked))


def _least_left_by_a_call(trial: Trial, numbers: Iterator[int]) -> float:
    """What is kept of a call is left in every round. A cache that fills, such as the interpreter's, ends growing."""
    grown = inf
    for _ in range(MEMORY_ROUNDS):
        grown = min(grown, _left_by_a_call(trial, numbers))
        if grown <= BYTES_A_CALL:
            break
    return grown


def _left_by_a_call(trial: Trial, numbers: Iterator[int]) -> float:
    before = _traced(trial)
    _call_many(trial, numbers, CALLS_PER_MEASURE)
    return (_traced(trial) - before) / CALLS_PER_MEASURE


def _traced(trial: Trial) -> int:
    trial.subject.forget()
    traced = trial.subject.attempt("traced")
    return traced if isinstance(traced, int) else 0


@contextmanager
def _measuring(trial: Trial) -> Generator[None]:
    """Has Python count what is allocated; leaves the counting on where it was on."""
    was_on = trial.subject.attempt("trace_memory")
    try:
        yield
    finally:
        if was_on is False:
            trial.subject.attempt("stop_tracing")
