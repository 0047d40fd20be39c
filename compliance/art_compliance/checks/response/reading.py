"""Response: a written answer is read whole, told in order, and can be appended to the prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.answer_laws import LAWS, Told, check_of, wrong_ids, wrong_order
from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation.conservation import as_problem
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import WRITTEN_TEXT, Response
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply, Sent
from art_sdk.json_data import is_array, is_object


@check("response.answer-is-read", clause="An answer as the provider sends it is read without an error.")
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """Everything else about the answer depends on it."""
    unread = _explain_unread(trial.reply)
    if unread is not None:
        yield Problem(unread)


def _explain_unread(reply: Reply) -> str | None:
    """Why there is no answer to look at, or None where there is one."""
    if not isinstance(reply, Answered):
        return str(reply)
    return None if reply.error is None else f"call gave an ERROR event: {reply.error.get('message')}"


@check(
    "response.every-prompt-is-answered",
    clause="Whatever the prompt and the options, the answer to it is read: in order, with its ids, its text whole.",
    requires=("dialect", "call"),
    on_every_prompt=True,
)
def every_prompt_is_answered(trial: Trial) -> Iterator[Problem]:
    """A reader that works for one question alone is of no use in the second round."""
    if not isinstance(trial.arrived, Sent):
        message = "no call arrived"
        raise NotApplicable(message)
    reply = trial.watched.reply
    if not isinstance(reply, Answered) or reply.error is not None:
        yield Problem(f"the answer is not read: {_explain_unread(reply)}")
        return
    faults = [*wrong_order(reply), *wrong_ids(trial, reply)]
    if not reply.text == reply.token_text == WRITTEN_TEXT:
        faults.append(f"the text {WRITTEN_TEXT!r} became {reply.text!r}, and {reply.token_text!r} in the tokens")
    for fault in faults:
        yield Problem(fault)


def _told(trial: Trial) -> Told:
    """The scenario's answer, unstreamed."""

    def ask(**options: Any) -> Answered:
        return trial.require_answered(trial.call(trial.written, **options))

    return Told(trial, trial.answered, ask)


HELD_BY_LAWS: Final = tuple(check_of("response", one, _told) for one in LAWS)


@check(
    "response.answer-can-be-appended",
    clause="The message of END, its calls answered, is appended to the prompt, and translates.",
)
def answer_can_be_appended(trial: Trial) -> Iterator[Problem]:
    """The next turn of every agent."""
    message = trial.answered.message
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
            yield Problem(f"appended, {seen}", path=f"$[{len(trial.scenario.prompt)}]")
        return
    try:
        decoded = trial.decode(seen)
    except DecodeFailed as error:
        yield Problem(f"appended, it cannot be decoded: {error}", pointer=error.pointer)
        return
    for difference in trial.compare(decoded, prompt, trial.scenario.call_options(), seen).differences:
        if difference.loss not in trial.subject.losses:
            yield as_problem(difference)


@check(
    "response.signatures-go-back",
    clause="What the provider wants back with its reasoning stands in the next request, to the letter.",
)
def signatures_go_back(trial: Trial) -> Iterator[Problem]:
    """Without it a tool loop of a thinking model ends in 400."""
    signature, said = trial.written.signature, trial.answered.message
    if signature is None or "reasoning" not in trial.subject.capabilities:
        reason = "the answer has no signature" if signature is None else "not declared: reasoning"
        raise NotApplicable(reason)
    dialect = trial.dialect
    wanted = [
        *([signature] if dialect.requests.has_signature else []),
        *([trial.written.thinking] if dialect.requests.has_thinking else []),
    ]
    if not wanted:
        reason = f"nothing goes back with reasoning in {dialect.name}"
        raise NotApplicable(reason)
    sent = trial.observe_sent([*trial.scenario.prompt, said, *_next_turn(said)])
    sent_back = [leaf for _, leaf in leaves(sent.payload)]
    for text in wanted:
        if text not in sent_back:
            message = f"{text!r} is not sent back with the message that it came with"
            yield Problem(message, path=f"$[{len(trial.scenario.prompt)}]")


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
def context_marks_the_tokens(trial: Trial) -> Iterator[Problem]:
    """What is thought and what is said go to different places."""
    for context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS"):
        reply = trial.require_answered(trial.call(trial.written, call_context=context))
        right = {f"{context}_LLM_RESPONSE", f"{context}_LLM_THINKING"}
        wrong = {str(event.get("token_type")) for event in reply.of_kind("TOKEN")} - right
        if wrong:
            text = f"with the call context {context}, tokens have the type {', '.join(sorted(wrong))}"
            yield Problem(text)
        elif (reply.token_text, reply.thinking_text) != (trial.answered.token_text, trial.answered.thinking_text):
            text = f"with the call context {context}, other tokens are told"
            yield Problem(text)


@check(
    "response.unknown-fields-are-ignored",
    clause="Fields that the provider adds one day change nothing of what is read.",
)
def unknown_fields_are_ignored(trial: Trial) -> Iterator[Problem]:
    """Providers add fields without asking."""
    first = trial.answered
    body = json.loads(trial.dialect.answers.write(trial.written))
    reply = trial.call_with(Response(200, json.dumps(with_new_fields(body)).encode()))
    if not isinstance(reply, Answered) or reply.error is not None:
        yield Problem(f"with unknown fields it is not read: {_explain_unread(reply)}")
    elif (reply.text, reply.calls, reply.finish) != (first.text, first.calls, first.finish):
        yield Problem("with unknown fields another answer is read")


def with_new_fields(value: Any) -> Any:
    """Every object with one field more; but a call's arguments are the caller's own."""
    if is_object(value):
        kept = {key: item if key in _CALLERS_OWN else with_new_fields(item) for key, item in value.items()}
        return {**kept, "x_new_field": {"since": 2027}}
    return [with_new_fields(item) for item in value] if is_array(value) else value


_CALLERS_OWN: Final = frozenset({"args", "input", "arguments"})
