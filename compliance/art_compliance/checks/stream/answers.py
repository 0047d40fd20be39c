"""Stream: a streamed answer is read as the same answer, and one that is cut short is an error."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks import wire
from art_compliance.checks.answer_laws import ANSWER_LAWS, Reading, check_of
from art_compliance.checks.answerers import half_of
from art_compliance.checks.base import check, leave_to, named
from art_compliance.checks.everything import rich_prompts
from art_compliance.checks.limits import CUTS, PAUSE, PLACES_AT_THE_ENDS
from art_compliance.checks.replies import (
    differences,
    error_of,
    fails_alike,
    makes_ids,
    missing_words,
    require_asked,
    unread,
    why_unread,
    wrong_failure,
)
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.response import reading as response
from art_compliance.checks.streamed import (
    STREAMED,
    events_of,
    has_finish,
    in_pieces,
    paused,
    script,
    stream,
    streamed,
    streamed_reply,
    text_in,
)
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Drop, Response, Send, Step, answering_with
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Refused, Reply


@check(
    "stream.answer-is-read",
    clause="The adapter reads a streamed answer as the provider sends it without an error.",
    finding_class="contract",
    requires=STREAMED,
)
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """Everything else about streams depends on it."""
    reply, is_asked_for, _ = trial.once(streamed_reply)
    if isinstance(reply, Refused) and isinstance(trial.reply, Refused):
        raise NotApplicable(f"refused, streamed or not: {reply.code}")
    if why_unread(reply) is not None:
        require_asked(trial, reply)
        leave_to(trial, wire.request_matches_its_dialect)
        if fails_alike(reply, trial.reply):
            leave_to(trial, response.answer_is_read)
        yield from unread(reply)
    elif not is_asked_for:
        text = "streaming is declared, but with the option stream the request does not ask for a stream"
        yield Problem(text, finding_class="contract")


def read_stream(trial: Trial) -> Reading:
    """The scenario's answer, streamed."""

    def ask_again(**options: Any) -> Answered:
        return require_read(stream(trial, answering_with(trial.written), **options))

    return Reading(trial, streamed(trial), ask_again)


LAW_CHECKS: Final = tuple(check_of("stream", one, read_stream) for one in ANSWER_LAWS)


@check(
    "stream.equals-the-whole-answer",
    clause="The same answer, streamed and whole, gives the same message, calls, finish and token counts.",
    requires=STREAMED,
)
def equals_the_whole_answer(trial: Trial) -> Iterator[Problem]:
    """An agent must behave the same with streaming switched on."""
    leave_to(
        trial, *named((*LAW_CHECKS, *response.LAW_CHECKS), *_OF_CONTENT, "finish-is-reported", "usage-is-reported")
    )
    for difference in differences(streamed(trial), trial.answered, own_ids=makes_ids(trial)):
        yield difference.after("streamed and whole, the answer differs in ")


_OF_CONTENT: Final = ("text-is-whole", "calls-are-whole", "thinking-is-separate")
"""The laws, by their names, of what an answer says."""


@check(
    "stream.cuts-change-nothing",
    clause="The adapter reads the same answer however the network cuts the bytes of a stream.",
    requires=STREAMED,
)
def cuts_change_nothing(trial: Trial) -> Iterator[Problem]:
    """It cuts inside an event, a line end, a character."""
    whole, dice = streamed(trial), random.Random(f"{trial.seed} {trial.scenario.id}")

    def cut(asked: Asked) -> Response:
        return script(trial, map(Send, in_pieces(b"".join(events_of(trial, asked)), dice, CUTS)))

    reply = stream(trial, cut)
    if not isinstance(reply, Answered):
        yield from (problem.after("cut at other places, ") for problem in unread(reply))
        return
    for difference in differences(reply, whole, own_ids=makes_ids(trial)):
        yield difference.after("cut at other places, the answer differs in ")


@check(
    "stream.cut-short-is-an-error",
    clause="A stream that ends too early yields what arrived, then ERROR and END; never a good answer.",
    requires=STREAMED,
)
def cut_short_is_an_error(trial: Trial) -> Iterator[Problem]:
    """Half an answer that looks whole is the worst fault of all."""
    leave_to(trial, *named(LAW_CHECKS, *_OF_CONTENT))
    whole, events = streamed(trial), _events_asked_for(trial)
    dice = random.Random(f"{trial.seed} {trial.scenario.id}")
    places = _places(len(events), dice, PLACES_AT_THE_ENDS if trial.scenario.group != "generated" else 1)
    for number, at in enumerate(places):
        cuts = (
            (f"cut off after event {at}", b"", (Drop(),)),
            (f"closed normally after event {at}", b"", ()),
            (f"cut off inside event {at + 1}", events[at][: len(events[at]) // 2], (Drop(),)),
        )
        for what, last, how in cuts if at == places[-1] else cuts[number % 3 :][:1]:
            reply = _reply_to_part(trial, events[:at], last, how)
            is_read = isinstance(reply, Answered) and reply.error is None
            if is_read and _is_finished(trial, events[:at]):
                faults = [difference.after("a different answer is read: ") for difference in _lost(trial, reply, whole)]
            else:
                faults = [*wrong_failure(trial, reply, _text_in(trial, events[:at])), *_half_calls(reply, whole)]
            yield from (fault.after(f"{what} of {len(events)}: ") for fault in faults)


def _is_finished(trial: Trial, events: tuple[bytes, ...]) -> bool:
    streams = trial.dialect.streams
    return has_finish(events, streams.finish_fields, streams.finish_events)


def _text_in(trial: Trial, events: tuple[bytes, ...]) -> str | None:
    """The text that these events of the scenario's answer carry; None as in `text_in`."""
    return text_in(trial.written, events, trial.dialect.streams.text_fields)


def _half_calls(reply: Reply, whole: Answered) -> list[Problem]:
    """Calls of which only a part arrived. They are compared without ids, which the adapter may make anew each time."""
    found = reply.event_calls if isinstance(reply, Answered) else []
    known = [call.get("function") for call in whole.event_calls]
    return [Problem(f"the call {call} is passed on incomplete") for call in found if call.get("function") not in known]


def _reply_to_part(trial: Trial, events: tuple[bytes, ...], last: bytes, how: tuple[Step, ...]) -> Any:
    data = b"".join((*events, last))
    return stream(trial, lambda _: script(trial, [*([Send(data)] if data else []), *how]))


def _lost(trial: Trial, reply: Answered, whole: Answered) -> list[Problem]:
    """How the answer differs, except in its token counts, which may come after the finish."""
    counted = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")
    found = differences(reply, whole, own_ids=makes_ids(trial))
    return [one for one in found if not one.message.startswith(counted)]


def _events_asked_for(trial: Trial) -> tuple[bytes, ...]:
    """The events of the scenario's answer to the request that the adapter sends. Raises NotApplicable."""
    streamed(trial)
    events = trial.once(streamed_reply).events
    if not events:
        raise NotApplicable("no request arrives: see stream.answer-is-read")
    return events


def _places(count: int, dice: random.Random, near: int) -> list[int]:
    """Some of the places between the events: the first, the last, and a few others."""
    ends = [at for at in range(count) if at < near or at >= count - near]
    others = [at for at in range(count) if at not in ends]
    return sorted(ends + dice.sample(others, min(near, len(others))))


@check(
    "stream.error-event-is-an-error",
    clause="An error event inside a stream becomes ERROR with the provider's words, after what arrived.",
    finding_class="contract",
    requires=STREAMED,
)
def error_event_becomes_an_error(trial: Trial) -> Iterator[Problem]:
    """The status line said 200 before the error happened."""
    leave_to(trial, *named(LAW_CHECKS, *_OF_CONTENT))
    words = "written error of a stream"
    events = _events_asked_for(trial)
    at = len(events) // 2
    if _is_finished(trial, events[:at]):
        raise NotApplicable("the first half of the stream has the whole answer")
    reply = _reply_to_part(trial, events[:at], trial.dialect.streams.write_error(503, words), ())
    faults = list(wrong_failure(trial, reply, _text_in(trial, events[:at])))
    yield from faults or missing_words(error_of(reply), words)


@check(
    "stream.tokens-come-as-they-are-sent",
    clause="The adapter yields a token when it arrives, not when the stream ends.",
    finding_class="contract",
    once=True,
)
def tokens_come_as_they_are_sent(trial: Trial) -> Iterator[Problem]:
    """Otherwise there is no reason to stream. Libraries hold tokens back where calls may follow."""
    question = trial.with_answer(_LONG_TEXT)
    streamed(question)
    late = [*_late_tokens(question, require_read(stream(question, _paused(question))))]
    yield from late
    if late:
        return  # whatever the call has
    for rich in (one for one in rich_prompts(trial) if one.needs):
        options = {**trial.options, **rich.options, "stream": True}
        reply = trial.subject.call(rich.prompt, options, _paused(question))
        if isinstance(reply, Answered) and reply.error is None:
            words = f"in a call with {' and '.join(rich.needs)}, "
            yield from (one.after(words) for one in _late_tokens(question, reply))


def _paused(question: Trial) -> Answerer:
    return lambda asked: paused(question, asked, PAUSE)


def _late_tokens(question: Trial, reply: Answered) -> Iterator[Problem]:
    early = [event for event, at in zip(reply.events, reply.at, strict=True) if reply.at[-1] - at > PAUSE / 2]
    come, sent = Answered(tuple(early)).token_text, question.once(_sent_before_the_pause)
    if len(come) < len(sent) / 2:
        yield Problem(
            f"the provider paused {PAUSE} s after it had sent {show(sent)}; by then the tokens were {show(come)}"
        )


def _sent_before_the_pause(trial: Trial) -> str:
    events = _events_asked_for(trial)
    return _text_in(trial, events[: half_of(events)]) or ""


_LONG_TEXT: Final = WrittenAnswer(content="This answer was written, and it comes in so many pieces " * 3)
