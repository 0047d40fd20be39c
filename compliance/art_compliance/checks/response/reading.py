"""Response: an answer is read whole and in order, and its message can be appended to the prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks import wire
from art_compliance.checks.additions import with_new_fields
from art_compliance.checks.answer_laws import (
    ANSWER_LAWS,
    Reading,
    check_of,
    context_marks_the_tokens,
    wrong_ids,
    wrong_order,
)
from art_compliance.checks.base import check, leave_to, named
from art_compliance.checks.replies import makes_ids, plain_calls, require_asked, unread, why_unread
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.translation.conservation import CAUSES, as_problem
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DecodeFailed
from art_compliance.dialects.recorded import arguments_of
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.quoting import show
from art_compliance.scenarios import Scenario
from art_compliance.subject.events import Answered, next_turn
from art_compliance.subject.observations import Sent
from art_sdk.json_data import is_object


@check(
    "response.answer-is-read",
    clause="The adapter reads an answer as the provider sends it without an error.",
    finding_class="contract",
)
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """Everything else about the answer depends on it."""
    if why_unread(trial.reply) is not None:
        require_asked(trial, trial.reply)
    yield from unread(trial.reply)


@check(
    "response.every-prompt-is-answered",
    clause="Whatever the prompt and options, the answer is read in order, with its ids and its whole text.",
    requires=("dialect", "call", "sendable"),
    on_every_prompt=True,
)
def every_prompt_is_answered(trial: Trial) -> Iterator[Problem]:
    """An adapter that reads only the first answer is of no use in the second round."""
    if not isinstance(trial.arrived, Sent):
        raise NotApplicable("no call arrived")
    reply, text = trial.watched.reply, WRITTEN_TEXT
    if _demands_more(trial.scenario) and why_unread(reply) is not None:
        reply, text = trial.call_as_asked(), ""
    laws = named(LAW_CHECKS, "events-keep-their-order", "events-carry-their-ids")
    leave_to(trial, wire.request_matches_its_dialect, answer_is_read, *laws)
    if not isinstance(reply, Answered) or reply.error is not None:
        yield from (problem.after("the answer is not read: ") for problem in unread(reply))
        return
    yield from wrong_order(reply)
    yield from wrong_ids(trial, reply)
    if text and not reply.text == reply.token_text == text:
        yield Problem(f"the text {show(text)} became {show(reply.text)}, and {show(reply.token_text)} in the tokens")


def _demands_more(scenario: Scenario) -> bool:
    """Whether a plain text is not an answer: the prompt wants JSON of a schema, or a call. An adapter may say so."""
    options = scenario.call_options()
    return bool(options.get("response_schema")) or options.get("tool_choice", "auto") not in {"auto", "none"}


def _read_whole(trial: Trial) -> Reading:
    """The scenario's answer, unstreamed."""

    def ask_again(**options: Any) -> Answered:
        return require_read(trial.call(trial.written, **options))

    return Reading(trial, trial.answered, ask_again)


LAW_CHECKS: Final = tuple(check_of("response", one, _read_whole) for one in ANSWER_LAWS)


@check(
    "response.answer-can-be-appended",
    clause="With END's message and the results of its calls appended, the prompt still translates.",
    leaves_to=CAUSES,
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
    prompt = [*trial.scenario.prompt, message, *next_turn(trial.answered.calls)]
    seen = trial.observe(prompt)
    if not isinstance(seen, Sent):
        if not _is_broken(trial):
            yield Problem(f"appended, {seen}", path=f"$[{len(trial.scenario.prompt)}]", finding_class="contract")
        return
    try:
        decoded = trial.decode(seen)
    except DecodeFailed as error:
        text = f"appended, it cannot be decoded: {error}"
        yield Problem(text, pointer=error.pointer, finding_class="refused")
        return
    for difference in trial.compare(decoded, prompt, trial.options, seen).differences:
        is_own_id = difference.loss == "call_ids" and trial.written.without_ids  # the provider gave none
        if difference.loss not in trial.subject.losses and not is_own_id:
            yield as_problem(difference)


@check(
    "response.signatures-go-back",
    clause="What the provider needs back with its reasoning is in the next request, character for character.",
)
def signatures_go_back(trial: Trial) -> Iterator[Problem]:
    """Without it, a thinking model's tool loop ends in 400."""
    written, message, requests = trial.written, trial.answered.message, trial.dialect.requests
    is_wanted = written.signature is not None or (bool(written.thinking) and not requests.has_signature)
    if not is_wanted or "reasoning" not in trial.subject.capabilities:
        why = "not declared: reasoning" if is_wanted else "the answer has nothing that the provider wants back"
        raise NotApplicable(why)
    wanted = [
        *([written.signature] if written.signature is not None and requests.has_signature else []),
        *([written.thinking] if written.thinking and requests.has_thinking else []),
    ]
    sent = trial.observe_sent([*trial.scenario.prompt, message, *next_turn(trial.answered.calls)])
    sent_back = [leaf for _, leaf in leaves(sent.payload)]
    for text in wanted:
        if text not in sent_back:
            path = f"$[{len(trial.scenario.prompt)}]"
            yield Problem(f"{show(text)} is not sent back with the message that it came with", path=path)


def _is_broken(trial: Trial) -> bool:
    """Whether a call was cut off inside its arguments: some providers cannot take such a call back."""
    return any(not is_object(arguments_of(call.function.arguments)) for call in trial.written.tool_calls)


MARKED_BY_CONTEXT: Final = check_of("response", context_marks_the_tokens, _read_whole)


@check(
    "response.unknown-fields-are-ignored",
    clause="Unknown fields in an answer do not change how it is read.",
)
def unknown_fields_are_ignored(trial: Trial) -> Iterator[Problem]:
    """Providers add fields without notice."""
    first = trial.answered
    reply = trial.call(trial.written, change=with_new_fields(trial.dialect.answers.unions))
    if not isinstance(reply, Answered) or reply.error is not None:
        yield from (problem.after("with unknown fields the answer is not read: ") for problem in unread(reply))
        return
    own_ids = makes_ids(trial)
    read, known = ((one.text, plain_calls(one.calls, own_ids=own_ids), one.finish) for one in (reply, first))
    if read != known:
        yield Problem("with unknown fields, the answer is read differently")
