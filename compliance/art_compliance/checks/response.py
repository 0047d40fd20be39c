"""Response: a written answer is read whole, told in order, and can be appended to the prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from art_compliance.answered import Answered
from art_compliance.checks.base import Check, check
from art_compliance.checks.conservation import as_finding
from art_compliance.checks.trial import NotApplicable, Trial
from art_compliance.comparison import describe_change
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Finding
from art_compliance.normal_form import same_json
from art_compliance.pointers import leaves
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.provider.server import Response
from art_compliance.subjects import Crashed, Refused, Sent
from art_sdk import ARTError, parse_prompt
from art_sdk.json_data import is_array, is_object
from art_sdk.stream import AFTER, EndEvent, ErrorEvent, MetadataEvent, State, TokenEvent, ToolCallEvent


@check("response.answer-is-read", clause="An answer as the provider sends it is read without an error.")
def answer_is_read(trial: Trial) -> Iterator[Finding]:
    """Everything else about the answer depends on it."""
    unread = _explain_unread(trial.heard)
    if unread is not None:
        yield Finding(check="response.answer-is-read", message=unread)


def _explain_unread(heard: Answered | Refused | Crashed) -> str | None:
    """Why there is no answer to look at, or None where there is one."""
    if not isinstance(heard, Answered):
        return str(heard)
    return None if heard.error is None else f"call gave an ERROR event: {heard.error.get('message')}"


@check(
    "response.every-prompt-is-answered",
    clause="Whatever the prompt and the options, the answer to it is read: in order, with its ids, its text whole.",
    on_every_prompt=True,
)
def every_prompt_is_answered(trial: Trial) -> Iterator[Finding]:
    """A reader that works for one question alone is of no use in the second round."""
    name = "response.every-prompt-is-answered"
    _ = trial.dialect
    if not (trial.subject.has_call and isinstance(trial.arrived, Sent)):
        message = "no call arrived"
        raise NotApplicable(message)
    heard = trial.watched.heard
    if not isinstance(heard, Answered) or heard.error is not None:
        yield Finding(check=name, message=f"the answer is not read: {_explain_unread(heard)}")
        return
    faults = [*wrong_order(heard), *wrong_ids(trial, heard)]
    if not heard.text == heard.told_text == WRITTEN_TEXT:
        faults.append(f"the text {WRITTEN_TEXT!r} became {heard.text!r}, and {heard.told_text!r} in the tokens")
    for fault in faults:
        yield Finding(check=name, message=fault)


def _on_answer(name: str, clause: str) -> Callable[[Callable[[Trial, Answered], Iterator[str]]], Check]:
    """Declares a check that looks at the scenario's answer as it was read, and tells what is wrong in words."""

    def declare(look: Callable[[Trial, Answered], Iterator[str]]) -> Check:
        @check(name, clause=clause)
        def run(trial: Trial) -> Iterator[Finding]:
            for message in look(trial, trial.answered):
                yield Finding(check=name, message=message)

        return run

    return declare


_KINDS: Final[dict[str, type[Any]]] = {
    "TOKEN": TokenEvent,
    "TOOL_CALL": ToolCallEvent,
    "METADATA": MetadataEvent,
    "ERROR": ErrorEvent,
    "END": EndEvent,
}


@_on_answer(
    "response.events-keep-their-order",
    "The events are (TOKEN or TOOL_CALL)*, then METADATA, then one END, which is the last.",
)
def events_keep_their_order(_: Trial, answered: Answered) -> Iterator[str]:
    """By the table that the fold follows, too."""
    return wrong_order(answered)


def wrong_order(answered: Answered) -> Iterator[str]:
    """Where the events leave the order that they must come in."""
    state: State = "answering"
    for number, kind in enumerate(answered.kinds):
        after = AFTER.get((state, _KINDS[kind])) if kind in _KINDS else None
        if after is None:
            yield f"event {number} is {kind}, which may not come when {state}: {', '.join(answered.kinds)}"
            return
        state = after
    if state != "ended":
        yield f"the events stop before END: {', '.join(answered.kinds) or 'there are none'}"


@_on_answer(
    "response.events-carry-their-ids",
    "Every event carries the thread_id of the call, and one trace_id and session_id.",
)
def events_carry_their_ids(trial: Trial, answered: Answered) -> Iterator[str]:
    """Whoever reads several streams at once tells them apart by these."""
    yield from wrong_ids(trial, answered)
    given = {"trace_id": "trace-7f3a", "session_id": "session-7f3a"}
    asked = trial.require_answered(trial.call(trial.written, **given))
    for name, value in given.items():
        found = {event.get(name) for event in asked.events}
        if found != {value}:
            yield f"the call's {name} is {value!r}, the events have {', '.join(sorted(map(repr, found)))}"


def wrong_ids(trial: Trial, answered: Answered) -> Iterator[str]:
    """The first event without the call's thread_id, and trace ids that are not one."""
    options = trial.scenario.call_options()
    for number, event in enumerate(answered.events):
        if event.get("thread_id") != options["thread_id"]:
            yield f"event {number} ({event.get('type')}) has the thread_id {event.get('thread_id')!r}"
            return
    traces = {event.get("trace_id") for event in answered.events}
    if len(traces) > 1 or None in traces:
        yield f"the events of one call have the trace ids {', '.join(sorted(map(repr, traces)))}"


@_on_answer(
    "response.text-is-whole",
    "The tokens, joined, and the message's content are the answer's text, character for character.",
)
def text_is_whole(trial: Trial, answered: Answered) -> Iterator[str]:
    """Neither trimmed, nor repeated, nor mixed with anything else."""
    written = trial.written.content or ""
    for what, found in (("the tokens", answered.told_text), ("the message's content", answered.text or "")):
        if found != written:
            yield f"{what} changed: {describe_change(written, str(found))}"


@_on_answer(
    "response.calls-are-whole",
    "Every call of the answer is told once, by TOOL_CALL and in the message, with its id, name and arguments.",
)
def calls_are_whole(trial: Trial, answered: Answered) -> Iterator[str]:
    """Arguments that are no JSON are passed on as the text that they are."""
    for what, found in (("TOOL_CALL", answered.told_calls), ("the message's tool_calls", answered.calls)):
        yield from (f"{what}: {wrong}" for wrong in _wrong_calls(trial, found))


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


@_on_answer(
    "response.thinking-stands-apart",
    "The model's reasoning is told by tokens of the thinking type, and is no part of the message's content.",
)
def thinking_stands_apart(trial: Trial, answered: Answered) -> Iterator[str]:
    """Reasoning that is taken for the answer is shown to users."""
    thinking = trial.written.thinking
    if not thinking:
        message = "the answer has no reasoning"
        raise NotApplicable(message)
    if thinking.strip() in f"{answered.text} {answered.told_text}":
        yield "the reasoning stands in the answer's text"
    if answered.told_thinking != thinking:
        yield f"the thinking tokens are not the reasoning: {describe_change(thinking, answered.told_thinking)}"


@_on_answer("response.finish-is-told", "END and METADATA say why the answer ended.")
def finish_is_told(trial: Trial, answered: Answered) -> Iterator[str]:
    """An answer that was cut must not pass for a whole one."""
    right = {trial.written.finish} | ({"stop"} if trial.written.is_refusal else set[str]())
    for what, found in (("END", answered.finish), ("METADATA", answered.metadata.get("stop_reason"))):
        if found not in right:
            yield f"{what} says {found!r}, the answer ended by {trial.written.finish!r}"


@_on_answer("response.usage-is-told", "METADATA has the answer's token counts, as the standard defines them.")
def usage_is_told(trial: Trial, answered: Answered) -> Iterator[str]:
    """`input_tokens` is the whole prompt, what caches gave included; `output_tokens` all that was generated."""
    for name in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        wanted, found = getattr(trial.written, name), answered.metadata.get(name)
        may_be_left_out = name in ("thinking_tokens", "cached_tokens") and found is None
        if wanted is not None and not may_be_left_out and not (type(found) is int and found == wanted):
            yield f"{name} is {found!r}, the answer says {wanted}"


@_on_answer("response.message-is-standard", "END's message is an assistant message of the standard form, unnamed.")
def message_is_standard(_: Trial, answered: Answered) -> Iterator[str]:
    """What is appended goes to every adapter, not to the one that read it alone."""
    message = answered.message
    try:
        parse_prompt([message])
    except ARTError as error:
        yield error.message
    if message.get("role") != "assistant":
        yield f"its role is {message.get('role')!r}"
    if message.get("name") is not None:
        yield f"it has the name {message['name']!r}, which nobody gave it"


@check(
    "response.answer-can-be-appended",
    clause="The message of END, its calls answered, is appended to the prompt, and translates.",
)
def answer_can_be_appended(trial: Trial) -> Iterator[Finding]:
    """The next turn of every agent."""
    name, message = "response.answer-can-be-appended", trial.answered.message
    if trial.written.thinking and "reasoning" not in trial.subject.capabilities:
        reason = "not declared: reasoning"
        raise NotApplicable(reason)
    if len(trial.written.tool_calls) > 1 and "parallel_tools" not in trial.subject.capabilities:
        reason = "not declared: parallel_tools"
        raise NotApplicable(reason)
    if not (message.get("content") or message.get("tool_calls")):
        reason = "the answer says nothing"
        raise NotApplicable(reason)
    prompt = [*trial.scenario.prompt, message, *_next_turn(message)]
    seen = trial.observe(prompt)
    if not isinstance(seen, Sent):
        if not _is_broken(trial):
            yield Finding(check=name, message=f"appended, {seen}", path=f"$[{len(trial.scenario.prompt)}]")
        return
    try:
        decoded = trial.decode(seen)
    except DecodeFailed as error:
        yield Finding(check=name, message=f"appended, it cannot be decoded: {error}", pointer=error.pointer)
        return
    for difference in trial.compare(decoded, prompt, trial.scenario.call_options(), seen).differences:
        if difference.loss not in trial.subject.losses:
            yield as_finding(name, difference)


@check(
    "response.signatures-go-back",
    clause="What the provider wants back with its reasoning stands in the next request, to the letter.",
)
def signatures_go_back(trial: Trial) -> Iterator[Finding]:
    """Without it a tool loop of a thinking model ends in 400."""
    signature, said = trial.written.signature, trial.answered.message
    if signature is None or "reasoning" not in trial.subject.capabilities:
        reason = "the answer has no signature" if signature is None else "not declared: reasoning"
        raise NotApplicable(reason)
    sent = trial.observe_sent([*trial.scenario.prompt, said, *_next_turn(said)])
    sent_back = [leaf for _, leaf in leaves(sent.payload)]
    signed = (signature, trial.written.thinking) if trial.dialect.wants_thinking else (signature,)
    for text in signed:
        if text not in sent_back:
            message = f"{text!r} is not sent back with the message that it came with"
            yield Finding(check="response.signatures-go-back", message=message, path=f"$[{len(trial.scenario.prompt)}]")


def _is_broken(trial: Trial) -> bool:
    """Whether a call was cut in the middle of its arguments: some providers have no place for such a call."""
    return any(_cut(call.function.arguments) for call in trial.written.tool_calls)


def _cut(arguments: str) -> bool:
    try:
        return not is_object(json.loads(arguments or "{}"))
    except ValueError:
        return True


def _next_turn(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    if not calls:
        return [{"role": "user", "content": "Go on."}]
    return [{"role": "tool_result", "tool_call_id": call["id"], "content": "done"} for call in calls]


@check(
    "response.context-marks-the-tokens",
    clause="The call contexts AGENT_THOUGHT and FINAL_SYNTHESIS stand before the type of every token.",
)
def context_marks_the_tokens(trial: Trial) -> Iterator[Finding]:
    """What is thought and what is said go to different places."""
    for context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS"):
        heard = trial.require_answered(trial.call(trial.written, call_context=context))
        right = {f"{context}_LLM_RESPONSE", f"{context}_LLM_THINKING"}
        wrong = {str(event.get("token_type")) for event in heard.of_kind("TOKEN")} - right
        if wrong:
            text = f"with the call context {context}, tokens have the type {', '.join(sorted(wrong))}"
            yield Finding(check="response.context-marks-the-tokens", message=text)
        elif (heard.told_text, heard.told_thinking) != (trial.answered.told_text, trial.answered.told_thinking):
            text = f"with the call context {context}, other tokens are told"
            yield Finding(check="response.context-marks-the-tokens", message=text)


@check(
    "response.unknown-fields-are-ignored",
    clause="Fields that the provider adds one day change nothing of what is read.",
)
def unknown_fields_are_ignored(trial: Trial) -> Iterator[Finding]:
    """Providers add fields without asking."""
    name, first = "response.unknown-fields-are-ignored", trial.answered
    body = json.loads(trial.dialect.write_response(trial.written))
    heard = trial.call_with(Response(200, json.dumps(_with_new_fields(body)).encode()))
    if not isinstance(heard, Answered) or heard.error is not None:
        yield Finding(check=name, message=f"with unknown fields it is not read: {_explain_unread(heard)}")
    elif (heard.text, heard.calls, heard.finish) != (first.text, first.calls, first.finish):
        yield Finding(check=name, message="with unknown fields another answer is read")


def _with_new_fields(value: Any) -> Any:
    """Every object with one field more; but a call's arguments are the caller's own."""
    if is_object(value):
        kept = {key: item if key in _CALLERS_OWN else _with_new_fields(item) for key, item in value.items()}
        return {**kept, "x_new_field": {"since": 2027}}
    return [_with_new_fields(item) for item in value] if is_array(value) else value


_CALLERS_OWN: Final = frozenset({"args", "input", "arguments"})
