"""Load: calls that run at the same time through one adapter do not affect each other, and leave nothing behind."""

from __future__ import annotations

import gc
import re
import tracemalloc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Drop, Pause, Response, Send
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply


@check(
    "load.calls-at-once-do-not-mix",
    clause="Each of many concurrent calls gets its own whole answer, with its own ids, even if others fail.",
    requires=("dialect", "call"),
    once=True,
)
def calls_at_once_do_not_mix(trial: Trial) -> Iterator[Problem]:
    """Otherwise one user reads another user's answer."""
    calls = [_ask(trial, number) for number in range(AT_ONCE)]
    replies = trial.subject.call_together(calls, _echo_most, seconds=_PATIENCE)
    wrong = [f"call {number}: {fault}" for number, one in enumerate(replies) if (fault := _wrong(number, one))]
    for fault in wrong[:_SHOWN]:
        yield Problem(fault)
    if len(wrong) > _SHOWN:
        yield Problem(f"{len(wrong)} of {AT_ONCE} concurrent calls gave a wrong answer")


AT_ONCE: Final = 200
"""How many calls run at the same time."""

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


def _is_to_fail(number: int) -> bool:
    """One in ten. The other calls must not notice."""
    return number % 10 == 9


def _echo_most(asked: Asked) -> Response:
    found = _MARK.search(str(asked.payload))
    if found is None or not _is_to_fail(int(found[1])):
        return _echo(asked)
    begun = Send(asked.dialect.streams.write(_BEGUN, asked.payload)[0])
    cut = Response(200, content_type=asked.dialect.streams.content_type, steps=(begun, Pause(0.05), Drop()))
    return cut if asked.wants_stream else Response(400, asked.dialect.answers.write_error(400, "written error 400"))


_BEGUN: Final = WrittenAnswer(content="This answer never comes to its end.")


def _answer(number: int) -> str:
    return f"This is the answer to the question number {number}, and to no other question than {number}."


def _wrong(number: int, reply: Reply) -> str | None:
    if not isinstance(reply, Answered):
        return str(reply)
    if _is_to_fail(number):
        return (
            None
            if reply.finish == "error"
            else f"it should have failed, but ended with {reply.finish!r}: {reply.text!r}"
        )
    if reply.error is not None:
        return f"an ERROR event: {reply.error.get('message')}"
    if not reply.text == reply.token_text == _answer(number):
        return f"its answer is {reply.text!r}, and {reply.token_text!r} in the tokens"
    ids = {(event.get("thread_id"), event.get("trace_id"), event.get("session_id")) for event in reply.events}
    own = (f"thread-{number}", f"trace-{number}", f"session-{number}")
    return None if ids == {own} else f"its events have the ids {sorted(map(str, ids - {own}))}"


@check(
    "load.memory-stays-flat",
    clause="The adapter keeps nothing of a call that has ended.",
    requires=("dialect", "call"),
    once=True,
)
def memory_stays_flat(trial: Trial) -> Iterator[Problem]:
    """A service makes millions of calls."""
    _call_many(trial, _WARM_UP)
    with _measuring():
        _call_many(trial, _WARM_UP)
        grown = _left_by_a_call(trial)
        if grown > _MOST_A_CALL:  # a cache that fills once, such as the interpreter's, does not grow again
            grown = min(grown, _left_by_a_call(trial))
    if grown > _MOST_A_CALL:
        yield Problem(f"each call leaves {grown:,.0f} bytes behind, measured over {_MEASURED} calls in a row")


_WARM_UP: Final = 30
_MEASURED: Final = 120
_MOST_A_CALL: Final = 300
"""Bytes. An adapter that keeps the events of its calls leaves some thousands per call."""


def _call_many(trial: Trial, count: int) -> None:
    for number in range(count):
        trial.subject.call(*_ask(trial, number), _echo)


def _left_by_a_call(trial: Trial) -> float:
    before = _traced(trial)
    _call_many(trial, _MEASURED)
    return (_traced(trial) - before) / _MEASURED


def _traced(trial: Trial) -> int:
    trial.subject.forget()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@contextmanager
def _measuring() -> Generator[None]:
    """Has Python count what is allocated; leaves the counting on where it was on."""
    was_on = tracemalloc.is_tracing()
    if not was_on:
        tracemalloc.start()
    try:
        yield
    finally:
        if not was_on:
            tracemalloc.stop()
