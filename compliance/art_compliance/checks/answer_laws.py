"""Laws of every answer, whether it comes whole or as a stream. Each law yields what is wrong, in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final, NamedTuple

from msgspec import Struct

from art_compliance.checks.base import Check, check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.findings import Problem
from art_compliance.quoting import describe_change
from art_compliance.subject.events import Answered
from art_sdk import ARTError, parse_prompt
from art_sdk.stream import AFTER, EndEvent, ErrorEvent, MetadataEvent, State, TokenEvent, ToolCallEvent


class Reading(NamedTuple):
    """The scenario's answer as the adapter read it. `ask_again` gets the same answer with further options."""

    trial: Trial
    answered: Answered
    ask_again: Callable[..., Answered]


LookAtReading = Callable[[Reading], Iterator[str]]


class AnswerLaw(Struct, frozen=True):
    """A law of answers: its name without the stage, its clause, and the function that yields what breaks it."""

    name: str
    clause: str
    look: LookAtReading


def law(name: str, clause: str) -> Callable[[LookAtReading], AnswerLaw]:
    """Declares a law."""
    return lambda look: AnswerLaw(name, clause, look)


def check_of(stage: str, one: AnswerLaw, read: Callable[[Trial], Reading]) -> Check:
    """The check of a law in a stage."""
    name = f"{stage}.{one.name}"

    @check(name, clause=one.clause)
    @wraps(one.look)
    def run(trial: Trial) -> Iterator[Problem]:
        yield from (Problem(message) for message in one.look(read(trial)))

    return run


_KINDS: Final[dict[str, type[Any]]] = {
    "TOKEN": TokenEvent,
    "TOOL_CALL": ToolCallEvent,
    "METADATA": MetadataEvent,
    "ERROR": ErrorEvent,
    "END": EndEvent,
}


@law(
    "events-keep-their-order",
    "The events are (TOKEN or TOOL_CALL)*, then METADATA, then one END, which comes last.",
)
def events_keep_their_order(reading: Reading) -> Iterator[str]:
    """By the table that `fold` follows, too."""
    return wrong_order(reading.answered)


def wrong_order(answered: Answered) -> Iterator[str]:
    """What is wrong with the order of the events."""
    state: State = "answering"
    for number, kind in enumerate(answered.kinds):
        after = AFTER.get((state, _KINDS[kind])) if kind in _KINDS else None
        if after is None:
            yield f"event {number} is {kind}, which must not come in the state {state!r}: {', '.join(answered.kinds)}"
            return
        state = after
    if state != "ended":
        yield f"the events stop before END: {', '.join(answered.kinds) or 'no events'}"


@law(
    "events-carry-their-ids",
    "Every event carries the thread_id of the call, and one trace_id and session_id.",
)
def events_carry_their_ids(reading: Reading) -> Iterator[str]:
    """They tell concurrent streams apart."""
    yield from wrong_ids(reading.trial, reading.answered)
    given = {"trace_id": "trace-7f3a", "session_id": "session-7f3a"}
    again = reading.ask_again(**given)
    for name, value in given.items():
        found = {event.get(name) for event in again.events}
        if found != {value}:
            yield f"the call's {name} is {value!r}, but the events have {', '.join(sorted(map(repr, found)))}"


def wrong_ids(trial: Trial, answered: Answered) -> Iterator[str]:
    """What is wrong with the ids of the events."""
    options = trial.scenario.call_options()
    for number, event in enumerate(answered.events):
        if event.get("thread_id") != options["thread_id"]:
            yield f"event {number} ({event.get('type')}) has the thread_id {event.get('thread_id')!r}"
            return
    traces = {event.get("trace_id") for event in answered.events}
    if len(traces) > 1 or None in traces:
        yield f"the events of one call have the trace ids {', '.join(sorted(map(repr, traces)))}"


@law(
    "text-is-whole",
    "The joined tokens and the message's content are both the answer's text, character for character.",
)
def text_is_whole(reading: Reading) -> Iterator[str]:
    """Neither trimmed, nor repeated, nor mixed with anything else."""
    written = reading.trial.written.content or ""
    for what, found in (
        ("the tokens", reading.answered.token_text),
        ("the message's content", reading.answered.text or ""),
    ):
        if found != written:
            yield f"{what} changed: {describe_change(written, str(found))}"


@law(
    "calls-are-whole",
    "Every call of the answer comes once as TOOL_CALL and once in the message, with its id, name and arguments.",
)
def calls_are_whole(reading: Reading) -> Iterator[str]:
    """Arguments that are not JSON are passed on as text."""
    for what, found in (
        ("TOOL_CALL", reading.answered.event_calls),
        ("the message's tool_calls", reading.answered.calls),
    ):
        yield from (f"{what}: {wrong}" for wrong in _wrong_calls(reading.trial, found))


def _wrong_calls(trial: Trial, found: list[dict[str, Any]]) -> Iterator[str]:
    written = trial.written.tool_calls
    if len(found) != len(written):
        yield f"{len(found)} calls, but the answer has {len(written)}"
        return
    for call, own in zip(found, written, strict=True):
        function: dict[str, Any] = call.get("function") or {}
        if function.get("name") != own.function.name:
            yield f"the tool {own.function.name!r} became {function.get('name')!r}"
        if not trial.written.without_ids and call.get("id") != own.id:
            yield f"the id {own.id!r} became {call.get('id')!r}"
        if not same_arguments(own.function.arguments, function.get("arguments")):
            yield f"the arguments changed: {describe_change(own.function.arguments, str(function.get('arguments')))}"
    if trial.written.without_ids:
        yield from _wrong_own_ids(trial, [str(call.get("id") or "") for call in found])


def _wrong_own_ids(trial: Trial, ids: list[str]) -> Iterator[str]:
    """Ids that the adapter made because the provider gave none."""
    known = json.dumps(trial.scenario.prompt)
    if not all(ids) or len(set(ids)) != len(ids) or any(json.dumps(one) in known for one in ids):
        yield f"calls without ids need new ids that are unique in the conversation; these are {ids}"


def same_arguments(written: str, found: Any) -> bool:
    """Whether the arguments of a call are equal as JSON values; as text where one of them is not JSON."""
    if not isinstance(found, str):
        return False
    try:
        return same_json(json.loads(written or "{}"), json.loads(found or "{}"))
    except ValueError:
        return written == found


@law(
    "thinking-stands-apart",
    "The model's reasoning comes as tokens of the thinking type, and is not part of the message's content.",
)
def thinking_stands_apart(reading: Reading) -> Iterator[str]:
    """Users must not see reasoning as the answer."""
    thinking = reading.trial.written.thinking
    if not thinking:
        raise NotApplicable("the answer has no reasoning")
    if thinking.strip() in f"{reading.answered.text} {reading.answered.token_text}":
        yield "the reasoning is part of the answer's text"
    is_expected = "reasoning" in reading.trial.subject.capabilities or reading.answered.thinking_text
    if is_expected and reading.answered.thinking_text != thinking:
        yield f"the thinking tokens differ: {describe_change(thinking, reading.answered.thinking_text)}"


@law(
    "finish-is-told",
    "END and METADATA say why the answer ended.",
)
def finish_is_told(reading: Reading) -> Iterator[str]:
    """A truncated answer must not look like a whole one."""
    right = {reading.trial.written.finish} | ({"stop"} if reading.trial.written.is_refusal else set[str]())
    for what, found in (("END", reading.answered.finish), ("METADATA", reading.answered.metadata.get("stop_reason"))):
        if found not in right:
            yield f"{what} says {found!r}, but the answer ended with {reading.trial.written.finish!r}"


@law(
    "usage-is-told",
    "METADATA has the answer's token counts, as the standard defines them.",
)
def usage_is_told(reading: Reading) -> Iterator[str]:
    """`input_tokens` counts the whole prompt, cached tokens included; `output_tokens` counts all that was generated."""
    for name in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        wanted, found = getattr(reading.trial.written, name), reading.answered.metadata.get(name)
        may_be_left_out = name in ("thinking_tokens", "cached_tokens") and found is None
        if wanted is not None and not may_be_left_out and not (type(found) is int and found == wanted):
            yield f"{name} is {found!r}, but the answer says {wanted}"


@law(
    "message-is-standard",
    "END's message is an assistant message of the standard, without a name.",
)
def message_is_standard(reading: Reading) -> Iterator[str]:
    """Once appended to the prompt, it may go to any other adapter."""
    message = reading.answered.message
    try:
        parse_prompt([message])
    except ARTError as error:
        yield error.message
    if message.get("role") != "assistant":
        yield f"its role is {message.get('role')!r}"
    if message.get("name") is not None:
        yield f"it has a name, {message['name']!r}, which the provider did not send"


@law(
    "context-marks-the-tokens",
    "With the call contexts AGENT_THOUGHT and FINAL_SYNTHESIS, every token's type begins with the context.",
)
def context_marks_the_tokens(reading: Reading) -> Iterator[str]:
    """Applications show thoughts and answers in different places."""
    plain = reading.answered
    for context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS"):
        marked = reading.ask_again(call_context=context)
        right = {f"{context}_LLM_RESPONSE", f"{context}_LLM_THINKING"}
        wrong = {str(event.get("token_type")) for event in marked.of_kind("TOKEN")} - right
        if wrong:
            yield f"with the call context {context}, tokens have the type {', '.join(sorted(wrong))}"
        elif (marked.token_text, marked.thinking_text) != (plain.token_text, plain.thinking_text):
            yield f"with the call context {context}, the tokens have another text"


ANSWER_LAWS: Final = (
    events_keep_their_order,
    events_carry_their_ids,
    text_is_whole,
    calls_are_whole,
    thinking_stands_apart,
    finish_is_told,
    usage_is_told,
    message_is_standard,
)
