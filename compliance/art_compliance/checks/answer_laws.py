"""Laws of every answer, whether it comes whole or as a stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final, NamedTuple

from msgspec import Struct

from art_compliance.checks.base import Check, check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import is_json_of, keeps_json
from art_compliance.dialects.base import Answers
from art_compliance.findings import FindingClass, Problem
from art_compliance.quoting import describe_change, show, show_both
from art_compliance.subject.events import Answered
from art_sdk import ARTError, parse_prompt
from art_sdk.stream import AFTER, EndEvent, ErrorEvent, MetadataEvent, State, TokenEvent, ToolCallEvent


class Reading(NamedTuple):
    """The scenario's answer as the adapter read it. `ask_again` gets the same answer with further options."""

    trial: Trial
    answered: Answered
    ask_again: Callable[..., Answered]


LookAtReading = Callable[[Reading], Iterator[Problem]]


class AnswerLaw(Struct, frozen=True):
    """A law of answers: its name without the stage, its clause, its class, and the function that yields what breaks it.

    `finding_class` is as in `Check`.
    """

    name: str
    clause: str
    finding_class: FindingClass
    look: LookAtReading


def law(name: str, clause: str, finding_class: FindingClass = "loss") -> Callable[[LookAtReading], AnswerLaw]:
    """Declares a law."""
    return lambda look: AnswerLaw(name, clause, finding_class, look)


def check_of(stage: str, one: AnswerLaw, read: Callable[[Trial], Reading]) -> Check:
    """The check of a law in a stage."""
    name = f"{stage}.{one.name}"

    @check(name, clause=one.clause, finding_class=one.finding_class)
    @wraps(one.look)
    def run(trial: Trial) -> Iterator[Problem]:
        yield from one.look(read(trial))

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
    "contract",
)
def events_keep_their_order(reading: Reading) -> Iterator[Problem]:
    """By the table that `fold` follows, too."""
    return wrong_order(reading.answered)


def _due(state: State) -> str:
    """Which events may come in this state, for a sentence."""
    due = [kind for kind, event in _KINDS.items() if (state, event) in AFTER]
    return f"expected {' or '.join(due)}" if due else "nothing may follow END"


def wrong_order(answered: Answered) -> Iterator[Problem]:
    """What is wrong with the order of the events."""
    state: State = "answering"
    for number, kind in enumerate(answered.kinds):
        after = AFTER.get((state, _KINDS[kind])) if kind in _KINDS else None
        if after is None:
            text = f"event {number} is {kind}; {_due(state)}: {', '.join(answered.kinds)}"
            yield Problem(text, finding_class="contract")
            return
        state = after
    if state != "ended":
        text = f"the events stop before END: {', '.join(answered.kinds) or 'no events'}"
        yield Problem(text, finding_class="contract")


@law(
    "events-carry-their-ids",
    "Every event carries the thread_id of the call, and one trace_id and session_id.",
    "contract",
)
def events_carry_their_ids(reading: Reading) -> Iterator[Problem]:
    """They tell concurrent streams apart."""
    yield from wrong_ids(reading.trial, reading.answered)
    given = {kind: reading.trial.id_of("marked", kind) for kind in ("trace_id", "session_id")}
    again = reading.ask_again(**given)
    for name, value in given.items():
        found = {show(event.get(name)) for event in again.events}
        if found != {show(value)}:
            yield Problem(f"the call's {name} is {show(value)}, but the events have {', '.join(sorted(found))}")


def wrong_ids(trial: Trial, answered: Answered) -> Iterator[Problem]:
    """What is wrong with the ids of the events."""
    options = trial.options
    for number, event in enumerate(answered.events):
        if event.get("thread_id") != options["thread_id"]:
            text = f"event {number} ({event.get('type')}) has the thread_id {show(event.get('thread_id'))}"
            yield Problem(text, finding_class="contract")
            return
    traces = {show(event.get("trace_id")) for event in answered.events}
    if len(traces) > 1 or "null" in traces:
        text = f"the events of one call have the trace ids {', '.join(sorted(traces))}"
        yield Problem(text, finding_class="contract")


@law(
    "text-is-whole",
    "The joined tokens and the message's content are both the answer's text, character for character.",
)
def text_is_whole(reading: Reading) -> Iterator[Problem]:
    """Neither trimmed, nor repeated, nor mixed with anything else."""
    written = reading.trial.written.content or ""
    for what, found in (
        ("the tokens", reading.answered.token_text),
        ("the message's content", reading.answered.text or ""),
    ):
        if found != written:
            yield Problem(f"{what} changed: {describe_change(written, found)}")


@law(
    "calls-are-whole",
    "Every call of the answer comes once as TOOL_CALL and once in the message, with its id, name and arguments.",
)
def calls_are_whole(reading: Reading) -> Iterator[Problem]:
    """Arguments that are not JSON are passed on as text."""
    for what, found in (
        ("TOOL_CALL", reading.answered.event_calls),
        ("the message's tool_calls", reading.answered.calls),
    ):
        yield from (problem.after(f"{what}: ") for problem in _wrong_calls(reading.trial, found))


def _wrong_calls(trial: Trial, found: list[dict[str, Any]]) -> Iterator[Problem]:
    written = trial.written.tool_calls
    has_own_ids = trial.written.without_ids or "call_ids" in trial.subject.losses
    if len(found) != len(written):
        yield Problem(f"{len(found)} calls, but the answer has {len(written)}")
        return
    for call, own in zip(found, written, strict=True):
        function: dict[str, Any] = call.get("function") or {}
        if function.get("name") != own.function.name:
            one, other = show_both(own.function.name, function.get("name"))
            yield Problem(f"the tool {one} became {other}")
        if not has_own_ids and call.get("id") != own.id:
            one, other = show_both(own.id, call.get("id"))
            yield Problem(f"the id {one} became {other}")
        if not same_arguments(trial.dialect.answers, own.function.arguments, function.get("arguments")):
            change = describe_change(own.function.arguments, function.get("arguments"))
            yield Problem(f"the arguments changed: {change}")
    if has_own_ids:
        yield from _wrong_own_ids(trial, [str(call.get("id") or "") for call in found])


def _wrong_own_ids(trial: Trial, ids: list[str]) -> Iterator[Problem]:
    """Ids that the adapter made, because the provider gave none or it has declared the loss of ids."""
    known = json.dumps(trial.scenario.prompt)
    if not all(ids) or len(set(ids)) != len(ids) or any(json.dumps(one) in known for one in ids):
        text = f"calls without ids need new ids that are unique in the conversation; these are {show(ids)}"
        yield Problem(text, finding_class="contract")


def same_arguments(answers: Answers, written: str, found: Any) -> bool:
    """Whether the arguments of a call are equal as JSON values; as text where one of them is not JSON.

    Where the provider sends an empty text, that is as good as an empty object. Where it knows doubles alone, numbers
    are equal if their values are.
    """
    if not isinstance(found, str):
        return False
    try:
        value = json.loads(found if written else found or "{}")
        is_same = keeps_json(json.loads(written or "{}"), value)
    except ValueError:
        return written == found
    return is_same or (answers.doubles and is_json_of(written, value))


@law(
    "thinking-is-separate",
    "The model's reasoning comes as tokens of the thinking type, and is not part of the message's content.",
)
def thinking_is_separate(reading: Reading) -> Iterator[Problem]:
    """Users must not see reasoning as the answer."""
    thinking = reading.trial.written.thinking
    if not thinking:
        raise NotApplicable("the answer has no reasoning")
    if thinking.strip() in f"{reading.answered.text} {reading.answered.token_text}":
        yield Problem("the reasoning is part of the answer's text")
    is_expected = "reasoning" in reading.trial.subject.capabilities or reading.answered.thinking_text
    if is_expected and (text := _text_before_thinking(reading.answered)):
        yield Problem(f"the token {show(text)} of the answer comes before the reasoning", finding_class="contract")
    if is_expected and reading.answered.thinking_text != thinking:
        yield Problem(f"the thinking tokens differ: {describe_change(thinking, reading.answered.thinking_text)}")


def _text_before_thinking(answered: Answered) -> str:
    """The answer's text that comes before the last piece of its reasoning, which the provider sends first."""
    tokens = [(str(event.get("token_type")), str(event.get("text"))) for event in answered.of_kind("TOKEN")]
    last = max((at for at, (kind, _) in enumerate(tokens) if kind.endswith("LLM_THINKING")), default=0)
    return "".join(text for kind, text in tokens[:last] if kind.endswith("LLM_RESPONSE"))


@law(
    "finish-is-reported",
    "END and METADATA say why the answer ended.",
    "contract",
)
def finish_is_reported(reading: Reading) -> Iterator[Problem]:
    """A truncated answer must not look like a whole one."""
    finish = reading.trial.written.finish
    right = {finish} | ({"stop"} if reading.trial.written.is_refusal else set[str]())
    for what, found in (("END", reading.answered.finish), ("METADATA", reading.answered.metadata.get("stop_reason"))):
        if str(found) not in right:
            looks_whole = finish in _CUT and str(found) in _WHOLE
            text = f"{what} says {show(found)}, but the answer ended with {show(finish)}"
            yield Problem(text, finding_class="loss" if looks_whole else None)


_CUT: Final = frozenset({"length", "content_filter"})
_WHOLE: Final = frozenset({"stop", "tool_calls"})
"""The finish reasons of answers that were cut off, and of whole ones."""


@law(
    "usage-is-reported",
    "METADATA has the answer's token counts, as the standard defines them.",
    "contract",
)
def usage_is_reported(reading: Reading) -> Iterator[Problem]:
    """`input_tokens` counts the whole prompt, cached tokens included; `output_tokens` counts all that was generated."""
    for name in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        wanted, found = getattr(reading.trial.written, name), reading.answered.metadata.get(name)
        may_be_left_out = (name in ("thinking_tokens", "cached_tokens") or not wanted) and found is None
        if wanted is not None and not may_be_left_out and not (type(found) is int and found == wanted):
            yield Problem(f"{name} is {show(found)}, but the answer says {wanted}")


@law(
    "message-is-standard",
    "END's message is an assistant message of the standard, without a name.",
    "contract",
)
def message_is_standard(reading: Reading) -> Iterator[Problem]:
    """Once appended to the prompt, it may go to any other adapter."""
    message = reading.answered.message
    try:
        parse_prompt([message])
    except ARTError as error:
        yield Problem(error.message)
    if message.get("content") is None and not message.get("tool_calls"):
        yield Problem("its content is null, although it has no calls; without a text it is empty")
    if message.get("role") != "assistant":
        yield Problem(f"its role is {show(message.get('role'))}")
    if message.get("name") is not None:
        yield Problem(f"it has a name, {show(message['name'])}, which the provider did not send")


@law(
    "context-marks-the-tokens",
    "With the call contexts AGENT_THOUGHT and FINAL_SYNTHESIS, every token's type begins with the context.",
    "contract",
)
def context_marks_the_tokens(reading: Reading) -> Iterator[Problem]:
    """Applications show thoughts and answers in different places."""
    plain = reading.answered
    for context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS"):
        marked = reading.ask_again(call_context=context)
        right = {f"{context}_LLM_RESPONSE", f"{context}_LLM_THINKING"}
        wrong = {str(event.get("token_type")) for event in marked.of_kind("TOKEN")} - right
        if wrong:
            yield Problem(f"with the call context {context}, tokens have the type {', '.join(sorted(wrong))}")
        elif (marked.token_text, marked.thinking_text) != (plain.token_text, plain.thinking_text):
            yield Problem(f"with the call context {context}, the text of the tokens is different", finding_class="loss")


ANSWER_LAWS: Final = (
    events_keep_their_order,
    events_carry_their_ids,
    text_is_whole,
    calls_are_whole,
    thinking_is_separate,
    finish_is_reported,
    usage_is_reported,
    message_is_standard,
)
