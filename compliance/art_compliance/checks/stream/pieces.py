"""Stream: what providers may change about the pieces of an answer without a word changes nothing of what is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.response.reading import with_new_fields
from art_compliance.checks.streamed import STREAMED, differences, events_of, require_read, script, stream, streamed
from art_compliance.checks.trial import Trial
from art_compliance.dialects.framing import change_data
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Response, Send
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_sdk import FunctionCall, ToolCall

_WORD: Final = "a_reason_of_tomorrow"
_CALLS: Final = WrittenAnswer(
    tool_calls=(
        ToolCall("call_w1", FunctionCall("look", '{"at": "the first of two things"}')),
        ToolCall("call_w2", FunctionCall("see", '{"at": 2, "and": ["another", "thing"]}')),
    ),
    finish="tool_calls",
)

Events = tuple[bytes, ...]


def _told_so(trial: Trial, change: Callable[[Events], Events]) -> Any:
    """What is heard of the scenario's answer when its events are changed so."""

    def answer(asked: Asked) -> Response:
        return script(trial, map(Send, change(events_of(trial, asked))))

    return stream(trial, answer)


@check(
    "stream.context-marks-the-tokens",
    clause="The call contexts AGENT_THOUGHT and FINAL_SYNTHESIS stand before the type of every streamed token.",
    requires=STREAMED,
)
def context_marks_the_tokens(trial: Trial) -> Iterator[Problem]:
    """What is thought and what is said go to different places, piece by piece, too."""
    plain = streamed(trial)
    for context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS"):
        reply = require_read(stream(trial, lambda asked: asked.answer(trial.written), call_context=context))
        right = {f"{context}_LLM_RESPONSE", f"{context}_LLM_THINKING"}
        wrong = {str(event.get("token_type")) for event in reply.of_kind("TOKEN")} - right
        if wrong:
            text = f"with the call context {context}, tokens have the type {', '.join(sorted(wrong))}"
            yield Problem(text)
        elif (reply.token_text, reply.thinking_text) != (plain.token_text, plain.thinking_text):
            yield Problem(f"with the call context {context}, other tokens are told")


@check(
    "stream.unknown-fields-are-ignored",
    clause="Fields that the provider adds to a stream's events one day change nothing of what is read.",
    requires=STREAMED,
)
def unknown_fields_are_ignored(trial: Trial) -> Iterator[Problem]:
    """Providers add fields without asking."""
    plain = streamed(trial)
    reply = _told_so(trial, lambda events: tuple(change_data(event, with_new_fields) for event in events))
    for wrong in _changed(reply, plain):
        yield Problem(f"with unknown fields {wrong}")


@check(
    "stream.unknown-end-is-no-stop",
    clause="A stream that ends for a reason nobody knows yet is told by `other`, its text whole.",
    once=True,
)
def unknown_end_is_no_stop(trial: Trial) -> Iterator[Problem]:
    """Providers add such reasons, and none of them was ever good news."""
    asked = trial.with_answer(WrittenAnswer(content="This answer was written."))
    end = re.compile(rf'("(?:{"|".join(trial.dialect.streams.finish_fields)})": ?)"[^"]*"'.encode())
    other = rf'\1"{_WORD}"'.encode()
    reply = require_read(_told_so(asked, lambda events: tuple(end.sub(other, event) for event in events)))
    if reply.finish != "other" or reply.text != asked.written.content:
        message = f"the provider ended by {_WORD!r}; END says {reply.finish!r}, and the text {reply.text!r}"
        yield Problem(message)


@check(
    "stream.pieces-of-calls-are-told-apart",
    clause="Pieces of several calls that come in turns are joined by their index, those of the first pieces, too.",
    once=True,
)
def pieces_of_calls_are_told_apart(trial: Trial) -> Iterator[Problem]:
    """The index is what they have it for."""
    mix = trial.dialect.streams.interleave_calls
    if mix is None:
        message = "the dialect tells a call whole, or one after the other"
        raise NotApplicable(message)
    asked = trial.with_answer(_CALLS)
    plain = streamed(asked)
    for wrong in _changed(_told_so(asked, mix), plain):
        yield Problem(f"with the pieces of two calls in turns {wrong}")


def _changed(reply: Any, plain: Answered) -> Iterator[str]:
    """What is wrong with what is reply, where it was to be as the plain stream."""
    if not isinstance(reply, Answered):
        yield f"it is not read: {reply}"
    elif reply.error is not None:
        yield f"it is told as an error: {reply.error.get('message')}"
    elif reply.text != plain.text:
        yield f"the text of the message is {reply.text!r}"
    else:  # what of the message goes back to the provider may have the new fields, too
        told = (one for one in differences(reply, plain) if not one.startswith("the message"))
        yield from (f"it differs in {one}" for one in told)
