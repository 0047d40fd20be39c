"""Response: an answer is read whole and in order, and its message can be appended to the prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.additions import with_new_fields
from art_compliance.checks.answer_laws import (
    ANSWER_LAWS,
    Reading,
    check_of,
    context_marks_the_tokens,
    wrong_ids,
    wrong_order,
)
from art_compliance.checks.base import check
from art_compliance.checks.replies import why_unread
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.translation.conservation import as_problem
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DecodeFailed
from art_compliance.dialects.recorded import arguments_of
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import WRITTEN_TEXT, Response
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Sent
from art_sdk.json_data import is_object


@check("response.answer-is-read", clause="The adapter reads an answer as the provider sends it without an error.")
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """Everything else about the answer depends on it."""
    reason = why_unread(trial.reply)
    if reason is not None:
        yield Problem(reason)


@check(
    "response.every-prompt-is-answered",
    clause="The answer is read whatever the prompt and options: in order, with its ids, its text whole.",
    requires=("dialect", "call"),
    on_every_prompt=True,
)
def every_prompt_is_answered(trial: Trial) -> Iterator[Problem]:
    """An adapter that reads only the first answer is of no use in the second round."""
    if not isinstance(trial.arrived, Sent):
        raise NotApplicable("no call arrived")
    reply = trial.watched.reply
    if not isinstance(reply, Answered) or reply.error is not None:
        yield Problem(f"the answer is not read: {why_unread(reply)}")
        return
    yield from map(Problem, (*wrong_order(reply), *wrong_ids(trial, reply)))
    if not reply.text == reply.token_text == WRITTEN_TEXT:
        yield Problem(f"the text {WRITTEN_TEXT!r} became {reply.text!r}, and {reply.token_text!r} in the tokens")


def _read_whole(trial: Trial) -> Reading:
    """The scenario's answer, unstreamed."""

    def ask_again(**options: Any) -> Answered:
        return require_read(trial.call(trial.written, **options))

    return Reading(trial, trial.answered, ask_again)


LAW_CHECKS: Final = tuple(check_of("response", one, _read_whole) for one in ANSWER_LAWS)


@check(
    "response.answer-can-be-appended",
    clause="With END's message and the results of its calls appended, the prompt still translates.",
)
def answer_can_be_appended(trial: Trial) -> Iterator[Problem]:
    """Every agent does this on its next turn."""
    message = trial.answered.message
    if trial.written.thinking and "reasoning" not in trial.subject.capabilities:
        raise NotApplicable("not declared: reasoning")
    if len(trial.written.tool_calls) > 1 and "parallel_tools" not in trial.subject.capabilities:
        raise NotApplicable("not declared: parallel_tools")
    if not (message.get("content") or message.get("tool_calls")):
        raise NotApplicable("the answer is empty")
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
    clause="What the provider wants back with its reasoning is in the next request, character for character.",
)
def signatures_go_back(trial: Trial) -> Iterator[Problem]:
    """Without it, a thinking model's tool loop ends in 400."""
    signature, message = trial.written.signature, trial.answered.message
    if signature is None or "reasoning" not in trial.subject.capabilities:
        raise NotApplicable("the answer has no signature" if signature is None else "not declared: reasoning")
    dialect = trial.dialect
    wanted = [
        *([signature] if dialect.requests.has_signature else []),
        *([trial.written.thinking] if dialect.requests.has_thinking else []),
    ]
    if not wanted:
        raise NotApplicable(f"{dialect.name} wants nothing back with its reasoning")
    sent = trial.observe_sent([*trial.scenario.prompt, message, *_next_turn(message)])
    sent_back = [leaf for _, leaf in leaves(sent.payload)]
    for text in wanted:
        if text not in sent_back:
            path = f"$[{len(trial.scenario.prompt)}]"
            yield Problem(f"{text!r} is not sent back with the message that it came with", path=path)


def _is_broken(trial: Trial) -> bool:
    """Whether a call was cut off inside its arguments: some providers cannot take such a call back."""
    return any(not is_object(arguments_of(call.function.arguments)) for call in trial.written.tool_calls)


def _next_turn(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    if not calls:
        return [{"role": "user", "content": "Go on."}]
    return [{"role": "tool_result", "tool_call_id": call["id"], "content": "done"} for call in calls]


MARKED_BY_CONTEXT: Final = check_of("response", context_marks_the_tokens, _read_whole)


@check(
    "response.unknown-fields-are-ignored",
    clause="Unknown fields in an answer change nothing that is read.",
)
def unknown_fields_are_ignored(trial: Trial) -> Iterator[Problem]:
    """Providers add fields without notice."""
    first = trial.answered
    body = json.loads(trial.dialect.answers.write(trial.written))
    reply = trial.call_with(Response(200, json.dumps(with_new_fields(body)).encode()))
    if not isinstance(reply, Answered) or reply.error is not None:
        yield Problem(f"with unknown fields the answer is not read: {why_unread(reply)}")
    elif (reply.text, reply.calls, reply.finish) != (first.text, first.calls, first.finish):
        yield Problem("with unknown fields a different answer is read")
