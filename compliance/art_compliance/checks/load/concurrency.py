"""Load: calls that run at the same time through one adapter do not affect each other, and leave nothing behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from art_compliance.checks.answerers import refusing
from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    CALLS_AT_ONCE,
    LEAST_CALLS_AT_ONCE,
    PATIENCE_WITH_MANY,
    SHOWN_OF_CALLS,
    WORK_AT_ONCE,
)
from art_compliance.checks.load.numbered import answer_to, ask_number, echo, number_in, why_not_its_own
from art_compliance.checks.replies import PROVIDER_ERROR, missing_words
from art_compliance.checks.trial import Trial
from art_compliance.dialects.recorded import arguments_of
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Drop, Pause, Response, Send, answering_with
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.host.collecting import is_folded
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Refused, Reply, Sent
from art_sdk import FunctionCall, ToolCall


@check(
    "load.calls-at-once-do-not-mix",
    clause="Each of concurrent calls gets its own whole answer, even if others fail or another adapter is closed.",
    requires=("dialect", "call"),
    once=True,
)
def calls_at_once_do_not_mix(trial: Trial) -> Iterator[Problem]:
    """Otherwise one user reads another user's answer."""
    methods, tools = trial.subject.call_methods, _own_tools(trial)
    numbers = range(_how_many(trial))
    calls = [(*_ask(trial, number, tools), methods[number // 4 % len(methods)]) for number in numbers]

    def answer(asked: Asked) -> Response:
        number = number_in(asked)
        if tools is None or not _is_to_call(number):
            return _echo_most(asked)
        written = WrittenAnswer(tool_calls=_calls_of(number, tools), finish="tool_calls")
        return trial.subject.with_sent_names(answering_with(written), calls[number][1])(asked)

    replies = trial.subject.call_together(calls, answer, seconds=PATIENCE_WITH_MANY)
    wrong: list[Problem] = []
    for number, (reply, (_, _, method)) in enumerate(zip(replies, calls, strict=True)):
        fault = _fault(trial, number, reply, tools, method)
        if fault is not None:
            wrong.append(fault.after(f"call {number}{'' if method == 'call' else f', by {method}'}: "))
    yield from wrong[:SHOWN_OF_CALLS]
    if len(wrong) > SHOWN_OF_CALLS:
        is_contract = all(fault.finding_class == "contract" for fault in wrong)
        text = f"{len(wrong)} of {len(numbers)} concurrent calls gave a wrong answer"
        yield Problem(text, finding_class="contract" if is_contract else None)
    if not wrong and trial.subject.bridged is None and trial.subject.speaks is None:
        yield from _disturbed(trial)


def _disturbed(trial: Trial) -> Iterator[Problem]:
    """What is wrong with a stream in whose midst its reader closes another adapter, or makes a call on its thread."""
    if "streaming" not in trial.subject.capabilities:
        return
    calls = [ask_number(trial, number, streamed=True) for number in range(2)]
    own = ("call_sync", "complete_sync")
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("call_around_another", "while another adapter is closed", {"method": method})
        for method in trial.subject.call_methods
        if method in ("call", "call_sync")
    ]
    kinds += [
        ("call_around_its_own", f"whose reader calls {other} meanwhile", {"method": "call_sync", "other_method": other})
        for other in own
        if {"call_sync", other} <= {*trial.subject.call_methods}
    ]
    for verb, words, more in kinds:
        with trial.subject.answering(_pausing), suppress(CannotDo):
            reply = trial.subject.attempt(verb, calls=calls, **more)
            if (reason := why_not_its_own(0, reply)) is not None:
                yield Problem(f"a stream by {more['method']} {words}: {reason}")


def _pausing(asked: Asked) -> Response:
    """The answer to the number; that to the first one rests in its middle."""
    good = echo(asked)
    if number_in(asked) or good.steps is None:
        return good
    middle = len(good.steps) // 2
    return replace(good, steps=(*good.steps[:middle], Pause(0.1), *good.steps[middle:]))


def _how_many(trial: Trial) -> int:
    """Fewer where a call takes much work, as one does that makes a client: together they would run into time limits."""
    prompt, options = ask_number(trial, 0)
    with trial.subject.answering(echo):
        costs = [trial.subject.attempt("cost", prompt=prompt, options=options, method="call") for _ in range(2)]
    cost = min((one for one in costs if isinstance(one, float)), default=0.0)
    return CALLS_AT_ONCE if cost * CALLS_AT_ONCE <= WORK_AT_ONCE else max(int(WORK_AT_ONCE / cost), LEAST_CALLS_AT_ONCE)


def _own_tools(trial: Trial) -> OwnTools | None:
    """The tools of each call that is answered with calls; None where the adapter takes none.

    For an adapter that renames tools, two calls' tools are easily sent under one name.
    """
    if "tools" not in trial.subject.capabilities:
        return None
    is_odd = "renames_tools" in trial.subject.repairs
    odd = OwnTools(odd=True)
    return odd if is_odd and isinstance(trial.observe(*_ask(trial, 2, odd)), Sent) else OwnTools(odd=False)


class OwnTools(NamedTuple):
    """How the tools of a call with a number are named: by that number, or in a way that providers reject."""

    odd: bool

    def of(self, number: int) -> list[dict[str, Any]]:
        """Two tools, with schemas of their own."""
        schema = {"type": "object", "properties": {f"at_{number}": {"type": "string"}}}
        return [{"name": name, "description": f"For {number}.", "inputSchema": schema} for name in self.names(number)]

    def names(self, number: int) -> list[str]:
        """Their names."""
        own = f"{'./'[number % 2]}{number // 10}" if self.odd else f"_{number}"
        return [f"{verb}{own}" for verb in ("look", "listen")]


def _ask(trial: Trial, number: int, tools: OwnTools | None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Prompt and options of a call with a number; with tools if it is answered with calls."""
    prompt, options = ask_number(trial, number)
    return prompt, options if tools is None or not _is_to_call(number) else {**options, "tools": tools.of(number)}


def _is_to_fail(number: int) -> bool:
    """One in ten. The other calls must not notice."""
    return number % 10 == 9


def _is_to_be_refused(number: int) -> bool:
    """One in twenty. Of the others that fail, half get no answer, and half are cut off if they are streamed."""
    return number % 20 == 19


def _is_to_get_no_answer(number: int) -> bool:
    return number % 40 == 29


def _words_to(number: int) -> str:
    return f"The question number {number} was refused, and no other than {number}."


def _is_to_call(number: int) -> bool:
    """One in five is answered with calls of tools."""
    return number % 5 == 2


def _calls_of(number: int, tools: OwnTools) -> tuple[ToolCall, ...]:
    """A call of each of its tools."""
    names = enumerate(tools.names(number))
    return tuple(
        ToolCall(f"call_{number}_{at}", FunctionCall(name, f'{{"at_{number}": "place {at}"}}')) for at, name in names
    )


def _echo_most(asked: Asked) -> Response:
    number = number_in(asked)
    if not _is_to_fail(number):
        return echo(asked)
    if _is_to_get_no_answer(number):
        return Response(200, steps=(Pause(0.05), Drop()))
    if not asked.wants_stream or _is_to_be_refused(number):
        return refusing(400, _words_to(number))(asked)
    begun = Send(asked.dialect.streams.write(_BEGUN, asked.payload)[0])
    return Response(200, content_type=asked.dialect.streams.content_type, steps=(begun, Pause(0.05), Drop()))


_BEGUN: Final = WrittenAnswer(content="This answer never comes to its end.")


def _fault(trial: Trial, number: int, reply: Reply, tools: OwnTools | None, method: str) -> Problem | None:
    """What is wrong with the reply to one of the calls."""
    if tools is not None and _is_to_call(number):
        return _wrong_call(trial, number, reply, tools, method)
    return _wrong_whole(number, reply) if is_folded(method) else _wrong(trial, number, reply)


def _wrong_whole(number: int, reply: Reply) -> Problem | None:
    """As `_wrong`, of a method that gives a whole answer: it raises where another yields an ERROR."""
    if isinstance(reply, Refused) and _is_to_fail(number) and reply.code == PROVIDER_ERROR:
        words = {"message": reply.message, **reply.facts}
        return next(missing_words(words, _words_to(number)), None) if _is_to_be_refused(number) else None
    if not isinstance(reply, Answered):
        return Problem(str(reply), finding_class="contract")
    if _is_to_fail(number):
        return Problem(f"it should have failed, but gave {show(reply.text)}")
    return None if reply.text == answer_to(number) else Problem(f"its answer is {show(reply.text)}")


def _wrong(trial: Trial, number: int, reply: Reply) -> Problem | None:
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
    return _wrong_ids(trial, number, reply)


def _wrong_call(trial: Trial, number: int, reply: Reply, tools: OwnTools, method: str) -> Problem | None:
    """As `_wrong`, of an answer with calls: by their arguments, since some adapters make the ids anew."""
    if not isinstance(reply, Answered):
        return Problem(str(reply), finding_class="contract")
    if reply.error is not None:
        return Problem(f"an ERROR event: {reply.error.get('message')}", finding_class="contract")
    own = [call.function for call in _calls_of(number, tools)]
    wanted = [[one.name, json.loads(one.arguments)] for one in own]
    for calls in (reply.calls,) if is_folded(method) else (reply.event_calls, reply.calls):
        found = [_name_and_arguments(call) for call in calls]
        if found != wanted:
            return Problem(f"its calls are {show(found)} instead of {show(wanted)}")
    return None if is_folded(method) else _wrong_ids(trial, number, reply)


def _name_and_arguments(call: dict[str, Any]) -> list[Any]:
    function: dict[str, Any] = call.get("function") or {}
    return [function.get("name"), arguments_of(str(function.get("arguments")))]


def _wrong_ids(trial: Trial, number: int, reply: Answered) -> Problem | None:
    wanted = trial.ids(f"{number}")
    ids = {tuple(str(event.get(name)) for name in wanted) for event in reply.events}
    own = tuple(wanted.values())
    text = f"its events have the ids {show(sorted(ids - {own}))}"
    return None if ids == {own} else Problem(text, finding_class="contract")
