"""Stream: providers may change the pieces of an answer without notice; the adapter must read the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from art_compliance.checks.additions import PLAIN_ANSWER, with_new_fields, with_new_reason, wrong_end
from art_compliance.checks.answer_laws import check_of, context_marks_the_tokens
from art_compliance.checks.base import check
from art_compliance.checks.replies import differences, makes_ids
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.stream.answers import read_stream
from art_compliance.checks.streamed import STREAMED, events_of, script, stream, streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Response, Send, answering_with
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_sdk import FunctionCall, ToolCall

_CALLS: Final = WrittenAnswer(
    tool_calls=(
        ToolCall("call_w1", FunctionCall("look", '{"at": "the first of two things"}')),
        ToolCall("call_w2", FunctionCall("see", '{"at": 2, "and": ["another", "thing"]}')),
    ),
    finish="tool_calls",
)

Events = tuple[bytes, ...]


def _changed_reply(trial: Trial, change: Callable[[Events], Events]) -> Reply:
    """The reply to the scenario's answer when its events are changed."""

    def answer(asked: Asked) -> Response:
        return script(trial, [Send(b"".join(change(events_of(trial, asked))))])

    return stream(trial, answer)


MARKED_BY_CONTEXT: Final = check_of("stream", context_marks_the_tokens, read_stream)


@check(
    "stream.unknown-fields-are-ignored",
    clause="Unknown fields in the events of a stream do not change how it is read.",
    requires=STREAMED,
)
def unknown_fields_are_ignored(trial: Trial) -> Iterator[Problem]:
    """Providers add fields without notice."""
    plain = streamed(trial)
    reply = stream(trial, answering_with(trial.written, with_new_fields(trial.dialect.answers.unions)))
    for wrong in _changes(reply, plain, own_ids=makes_ids(trial)):
        yield wrong.after("with unknown fields ")


@check(
    "stream.unknown-finish-is-other",
    clause="A stream with an unknown finish reason ends with the finish `other`, and its text is whole.",
    once=True,
)
def unknown_finish_is_other(trial: Trial) -> Iterator[Problem]:
    """Providers add such reasons, and so far each of them meant that something went wrong."""
    question = trial.with_answer(PLAIN_ANSWER)
    streamed(question)
    change = with_new_reason(trial.dialect.streams.finish_fields)
    reply = stream(question, answering_with(PLAIN_ANSWER, change))
    yield from wrong_end(reply, is_translated=trial.subject.is_translated)


@check(
    "stream.interleaved-calls-do-not-mix",
    clause="The adapter joins interleaved pieces of several calls by their index, including the first pieces.",
    requires="dialect",
    once=True,
)
def interleaved_calls_do_not_mix(trial: Trial) -> Iterator[Problem]:
    """The index is there for this."""
    interleave = trial.dialect.streams.interleave_calls
    if interleave is None:
        raise NotApplicable("the dialect sends a call whole, or one call after the other")
    question = trial.with_answer(_CALLS)
    plain = streamed(question)
    for wrong in _changes(_changed_reply(question, interleave), plain, own_ids=makes_ids(question)):
        yield wrong.after("with the pieces of two calls interleaved ")


def _changes(reply: Reply, plain: Answered, *, own_ids: bool) -> Iterator[Problem]:
    """How the reply differs from the plain stream's answer."""
    if not isinstance(reply, Answered):
        yield Problem(f"the stream is not read: {reply}", finding_class="contract")
    elif reply.error is not None:
        text = f"the stream becomes an error: {reply.error.get('message')}"
        yield Problem(text, finding_class="contract")
    elif reply.text != plain.text:
        yield Problem(f"the text of the message is {show(reply.text)}")
    else:  # the message may keep new fields that go back to the provider
        found = differences(reply, plain, own_ids=own_ids)
        yield from (one.after("the answer differs in ") for one in found if not one.message.startswith("the message"))
