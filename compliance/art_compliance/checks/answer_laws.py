"""What holds of every answer that is read, whole or as a stream. Each law tells what is wrong in words."""

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


class Told(NamedTuple):
    """The scenario's answer as it was read; `ask` has it answered again, with further options."""

    trial: Trial
    answered: Answered
    ask: Callable[..., Answered]


Look = Callable[[Told], Iterator[str]]


class Law(Struct, frozen=True):
    """A law: its name without the stage, its clause, and what is wrong by it."""

    name: str
    clause: str
    look: Look


def law(name: str, clause: str) -> Callable[[Look], Law]:
    """Declares a law."""
    return lambda look: Law(name, clause, look)


def check_of(stage: str, one: Law, tell: Callable[[Trial], Told]) -> Check:
    """The check that holds a stage's answers to a law."""
    name = f"{stage}.{one.name}"

    @check(name, clause=one.clause)
    @wraps(one.look)
    def run(trial: Trial) -> Iterator[Problem]:
        yield from (Problem(message) for message in one.look(tell(trial)))

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
    "The events are (TOKEN or TOOL_CALL)*, then METADATA, then one END, which is the last.",
)
def events_keep_their_order(told: Told) -> Iterator[str]:
    """By the table that the fold follows, too."""
    return wrong_order(told.answered)


def wrong_order(answered: Answered) -> Iterator[str]:
    """What is wrong with the order of the events."""
    state: State = "answering"
    for number, kind in enumerate(answered.kinds):
        after = AFTER.get((state, _KINDS[kind])) if kind in _KINDS else None
        if after is None:
            yield f"event {number} is {kind}, which may not come when {state}: {', '.join(answered.kinds)}"
            return
        state = after
    if state != "ended":
        yield f"the events stop before END: {', '.join(answered.kinds) or 'there are none'}"


@law(
    "events-carry-their-ids",
    "Every event carries the thread_id of the call, and one trace_id and session_id.",
)
def events_carry_their_ids(told: Told) -> Iterator[str]:
    """Whoever reads several streams at once tells them apart by these."""
    yield from wrong_ids(told.trial, told.answered)
    given = {"trace_id": "trace-7f3a", "session_id": "session-7f3a"}
    asked = told.ask(**given)
    for name, value in given.items():
        found = {event.get(name) for event in asked.events}
        if found != {value}:
            yield f"the call's {name} is {value!r}, the events have {', '.join(sorted(map(repr, found)))}"


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
    "The tokens, joined, and the message's content are the answer's text, character for character.",
)
def text_is_whole(told: Told) -> Iterator[str]:
    """Neither trimmed, nor repeated, nor mixed with anything else."""
    written = told.trial.written.content or ""
    for what, found in (("the tokens", told.answered.token_text), ("the message's content", told.answered.text or "")):
        if found != written:
            yield f"{what} changed: {describe_change(written, str(found))}"


@law(
    "calls-are-whole",
    "Every call of the answer is told once, by TOOL_CALL and in the message, with its id, name and arguments.",
)
def calls_are_whole(told: Told) -> Iterator[str]:
    """Arguments that are no JSON are passed on as the text that they are."""
    for what, found in (("TOOL_CALL", told.answered.event_calls), ("the message's tool_calls", told.answered.calls)):
        yield from (f"{what}: {wrong}" for wrong in _wrong_calls(told.trial, found))


def _wrong_calls(trial: Trial, found: list[dict[str, Any]]) -> Iterator[str]:
    written = trial.written.tool_calls
    if len(found) != len(written):
        yield f"{len(found)} calls, the answer has {len(written)}"
        return
    for call, own in zip(found, written, strict=True):
        function: dict[str, Any] = call.get("function") or {}
        if function.get("name") != own.function.name:
            yield f"the tool {own.function.name!r} became {function.get('name')!r}"
        if not trial.written.without_ids and call.get("id") != own.id:
            yield f"the id {own.id!r} became {call.get('id')!r}"
        if not _same_arguments(own.function.arguments, function.get("arguments")):
            yield f"the arguments changed: {describe_change(own.function.arguments, str(function.get('arguments')))}"
    if trial.written.without_ids:
        yield from _wrong_own_ids(trial, [str(call.get("id") or "") for call in found])


def _wrong_own_ids(trial: Trial, ids: list[str]) -> Iterator[str]:
    """Ids that the adapter made because the provider gave none."""
    known = json.dumps(trial.scenario.prompt)
    if not all(ids) or len(set(ids)) != len(ids) or any(json.dumps(one) in known for one in ids):
        yield f"calls that come without ids need ids of their own, new in the conversation; these are {ids}"


def _same_arguments(written: str, found: Any) -> bool:
    if not isinstance(found, str):
        return False
    try:
        return same_json(json.loads(written or "{}"), json.loads(found or "{}"))
    except ValueError:
        return written == found


@law(
    "thinking-stands-apart",
    "The model's reasoning is told by tokens of the thinking type, and is no part of the message's content.",
)
def thinking_stands_apart(told: Told) -> Iterator[str]:
    """Reasoning that is taken for the answer is shown to users."""
    thinking = told.trial.written.thinking
    if not thinking:
        message = "the answer has no reasoning"
        raise NotApplicable(message)
    if thinking.strip() in f"{told.answered.text} {told.answered.token_text}":
        yield "the reasoning stands in the answer's text"
    is_to_be_told = "reasoning" in told.trial.subject.capabilities or told.answered.thinking_text
    if is_to_be_told and told.answered.thinking_text != thinking:
        yield f"the thinking tokens are not the reasoning: {describe_change(thinking, told.answered.thinking_text)}"


@law(
    "finish-is-told",
    "END and METADATA say why the answer ended.",
)
def finish_is_told(told: Told) -> Iterator[str]:
    """An answer that was cut must not pass for a whole one."""
    right = {told.trial.written.finish} | ({"stop"} if told.trial.written.is_refusal else set[str]())
    for what, found in (("END", told.answered.finish), ("METADATA", told.answered.metadata.get("stop_reason"))):
        if found not in right:
            yield f"{what} says {found!r}, the answer ended by {told.trial.written.finish!r}"


@law(
    "usage-is-told",
    "METADATA has the answer's token counts, as the standard defines them.",
)
def usage_is_told(told: Told) -> Iterator[str]:
    """`input_tokens` is the whole prompt, what caches gave included; `output_tokens` all that was generated."""
    for name in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        wanted, found = getattr(told.trial.written, name), told.answered.metadata.get(name)
        may_be_left_out = name in ("thinking_tokens", "cached_tokens") and found is None
        if wanted is not None and not may_be_left_out and not (type(found) is int and found == wanted):
            yield f"{name} is {found!r}, the answer says {wanted}"


@law(
    "message-is-standard",
    "END's message is an assistant message of the standard form, unnamed.",
)
def message_is_standard(told: Told) -> Iterator[str]:
    """What is appended goes to every adapter, not to the one that read it alone."""
    message = told.answered.message
    try:
        parse_prompt([message])
    except ARTError as error:
        yield error.message
    if message.get("role") != "assistant":
        yield f"its role is {message.get('role')!r}"
    if message.get("name") is not None:
        yield f"it has the name {message['name']!r}, which nobody gave it"


LAWS: Final = (
    events_keep_their_order,
    events_carry_their_ids,
    text_is_whole,
    calls_are_whole,
    thinking_stands_apart,
    finish_is_told,
    usage_is_told,
    message_is_standard,
)
