"""Stream: an answer that comes in pieces is the answer that comes whole, and one that is cut short is none."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.answer_laws import LAWS, Told, check_of
from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import (
    STREAMED,
    STREAMS,
    differences,
    events_of,
    half_of,
    has_finish,
    in_pieces,
    paused,
    require_read,
    script,
    stream,
    streamed,
    streamed_reply,
    text_in,
    wrong_failure,
)
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Drop, Hang, Response, Send, Step
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.calling import CannotDo
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import describe_error
from art_compliance.subject.observations import Refused, Reply


@check(
    "stream.answer-is-read",
    clause="A streamed answer as the provider sends it is read without an error.",
    requires=STREAMED,
)
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """Everything else about streams depends on it."""
    reply = trial.once(streamed_reply)
    if isinstance(reply, Refused) and isinstance(trial.reply, Refused):
        message = f"refused, streamed or not: {reply.code}"
        raise NotApplicable(message)
    if not isinstance(reply, Answered):
        yield Problem(str(reply))
    elif reply.error is not None:
        yield Problem(f"call gave an ERROR event: {reply.error.get('message')}")
    elif not all(_wants_stream(trial)):
        message = "streaming is declared, and a call with the option stream did not ask the provider for a stream"
        yield Problem(message)


def _wants_stream(trial: Trial) -> list[bool]:
    """Of each request of a streamed call, whether it asked for a stream."""
    wanted: list[bool] = []

    def note(asked: Asked) -> Response:
        wanted.append(asked.wants_stream)
        return asked.answer(trial.written)

    stream(trial, note)
    return wanted


def _told(trial: Trial) -> Told:
    """The scenario's answer, streamed."""

    def ask(**options: Any) -> Answered:
        return require_read(stream(trial, lambda asked: asked.answer(trial.written), **options))

    return Told(trial, streamed(trial), ask)


HELD_BY_LAWS: Final = tuple(check_of("stream", one, _told) for one in LAWS)


@check(
    "stream.says-what-the-whole-answer-says",
    clause="The same answer, streamed and whole, gives the same message, calls, finish and token counts.",
    requires=STREAMED,
)
def says_what_the_whole_answer_says(trial: Trial) -> Iterator[Problem]:
    """Whoever switches streaming on gets the same agent."""
    for difference in differences(streamed(trial), trial.answered):
        message = f"streamed and whole, it differs in {difference}"
        yield Problem(message)


@check(
    "stream.cuts-change-nothing",
    clause="However the bytes of a stream are cut, the same answer is read.",
    requires=STREAMED,
)
def cuts_change_nothing(trial: Trial) -> Iterator[Problem]:
    """The network cuts where it likes: inside an event, a line end, a character."""
    dice = random.Random(f"{trial.seed} {trial.scenario.id}")

    def cut(asked: Asked) -> Response:
        return script(trial, map(Send, in_pieces(b"".join(events_of(trial, asked)), dice, _CUTS)))

    reply = stream(trial, cut)
    if not isinstance(reply, Answered):
        yield Problem(f"cut otherwise, {reply}")
        return
    for difference in differences(reply, streamed(trial)):
        yield Problem(f"cut otherwise, it differs in {difference}")


_CUTS: Final = 40


@check(
    "stream.cut-short-is-told",
    clause="A stream that ends before the answer does gives what arrived, then ERROR and END; never a good answer.",
    requires=STREAMED,
)
def cut_short_is_told(trial: Trial) -> Iterator[Problem]:
    """The worst fault of all: half an answer that is taken for a whole one."""
    whole, events = streamed(trial), trial.once(_events_asked_for)
    dice = random.Random(f"{trial.seed} {trial.scenario.id}")
    places = _places(len(events), dice, _NEAR if trial.scenario.group != "generated" else 1)
    for number, at in enumerate(places):
        ways = (
            (f"cut off after event {at}", b"", (Drop(),)),
            (f"ended in order after event {at}", b"", ()),
            (f"cut off inside event {at + 1}", events[at][: len(events[at]) // 2], (Drop(),)),
        )
        for what, last, how in ways if at == places[-1] else ways[number % 3 :][:1]:
            reply = _hear_some(trial, events[:at], last, how)
            if (
                has_finish(events[:at], trial.dialect.streams.finish_fields)
                and isinstance(reply, Answered)
                and reply.error is None
            ):
                faults = [f"another answer is read: {difference}" for difference in _lost(reply, whole)]
            else:
                faults = list(
                    wrong_failure(trial, reply, text_in(trial.written, events[:at], trial.dialect.streams.text_fields))
                )
                faults += _half_calls(reply, whole)
            yield from (Problem(f"{what} of {len(events)}: {fault}") for fault in faults)


def _half_calls(reply: Reply, whole: Answered) -> list[str]:
    """The calls that are told and were never whole. Ids that were missing are made anew each time."""
    told = reply.event_calls if isinstance(reply, Answered) else []
    known = [call.get("function") for call in whole.event_calls]
    return [f"the call {call} is told, and half of it arrived" for call in told if call.get("function") not in known]


def _hear_some(trial: Trial, events: tuple[bytes, ...], last: bytes, how: tuple[Step, ...]) -> Any:
    return stream(trial, lambda _: script(trial, [*map(Send, (*events, last) if last else events), *how]))


def _lost(reply: Answered, whole: Answered) -> list[str]:
    """What of the answer is not read, its token counts aside: they may come after the finish."""
    counted = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")
    return [one for one in differences(reply, whole) if not one.startswith(counted)]


def _events_asked_for(trial: Trial) -> tuple[bytes, ...]:
    """The events of the scenario's answer as the adapter asks for them."""
    found: list[tuple[bytes, ...]] = []

    def note(asked: Asked) -> Response:
        found.append(events_of(trial, asked))
        return asked.answer(trial.written)

    require_read(stream(trial, note))
    return found[-1]


def _places(count: int, dice: random.Random, near: int) -> list[int]:
    """Some of the places between the events: the first ones, the last ones, and a few of the others."""
    ends = [at for at in range(count) if at < near or at >= count - near]
    others = [at for at in range(count) if at not in ends]
    return sorted(ends + dice.sample(others, min(near, len(others))))


_NEAR: Final = 3


@check(
    "stream.error-event-is-told",
    clause="An error that the provider tells inside a stream becomes ERROR with its words, after what arrived.",
    requires=STREAMED,
)
def error_event_is_told(trial: Trial) -> Iterator[Problem]:
    """The status was 200 long ago."""
    words = "written error of a stream"
    _, events = streamed(trial), trial.once(_events_asked_for)
    at = len(events) // 2
    if has_finish(events[:at], trial.dialect.streams.finish_fields):
        message = "half of the answer says all of it"
        raise NotApplicable(message)
    reply = _hear_some(trial, events[:at], trial.dialect.streams.write_error(503, words), ())
    faults = list(wrong_failure(trial, reply, text_in(trial.written, events[:at], trial.dialect.streams.text_fields)))
    error = reply.error or {} if isinstance(reply, Answered) else {}
    if not faults and words not in str(error.get("provider_message") or error.get("message")):
        faults.append(f"the provider's words {words!r} are not told")
    yield from (Problem(fault) for fault in faults)


@check(
    "stream.tokens-come-as-they-are-sent",
    clause="A token is passed on when its bytes have come, not when the stream has ended.",
    once=True,
)
def tokens_come_as_they_are_sent(trial: Trial) -> Iterator[Problem]:
    """Else there is no reason to stream."""
    question = trial.with_answer(_LONG_TEXT)
    reply = require_read(stream(question, lambda asked: paused(question, asked, _PAUSE)))
    early = [event for event, at in zip(reply.events, reply.at, strict=True) if reply.at[-1] - at > _PAUSE / 2]
    told, sent = Answered(tuple(early)).token_text, question.once(_sent_before_the_pause)
    if len(told) < len(sent) / 2:
        message = f"the provider paused {_PAUSE} s in mid-answer, after {sent!r}; by then {told!r} was told"
        yield Problem(message)


def _sent_before_the_pause(trial: Trial) -> str:
    events = _events_asked_for(trial)
    return text_in(trial.written, events[: half_of(events)], trial.dialect.streams.text_fields) or ""


_PAUSE: Final = 0.2
_LONG_TEXT: Final = WrittenAnswer(content="This answer was written, and it comes in so many pieces " * 3)
_TEXT: Final = WrittenAnswer(content="This answer was written, and it comes in pieces.")


@check(
    "stream.closing-ends-the-call",
    clause="Closing the events half-way comes back at once, and closes the connection.",
    requires=STREAMS,
    once=True,
)
def closing_ends_the_call(trial: Trial) -> Iterator[Problem]:
    """Who has reply enough does not pay for the rest."""
    asking = _asking(trial)
    with trial.subject.answering(_hang_after_half(trial)):
        try:
            took = trial.subject.caller.close_early(*asking)
        except CannotDo as error:
            raise NotApplicable(str(error)) from error
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            yield Problem(f"closing raised {describe_error(error)}")
            return
    if took > _AT_ONCE:
        yield Problem(f"closing took {took:.2f} s")
    yield from _still_connected(trial)


@check(
    "stream.cancelling-ends-the-call",
    clause="A call that is cancelled while it waits ends as cancelled, and closes the connection.",
    requires=STREAMS,
    once=True,
)
def cancelling_ends_the_call(trial: Trial) -> Iterator[Problem]:
    """A cancellation that is swallowed leaves a task that nobody can end."""
    with trial.subject.answering(_hang_after_half(trial)):
        yield from _wrong_cancelling(trial, "cancelled after its first token", token=True)
    with trial.subject.answering(lambda _: script(trial, [Hang()])):
        yield from _wrong_cancelling(trial, "cancelled while it waits for the answer's head", token=False)


def _wrong_cancelling(trial: Trial, when: str, *, token: bool) -> Iterator[Problem]:
    try:
        was_cancelled = trial.subject.caller.cancel_early(*_asking(trial), after_token=token)
    except CannotDo as error:
        raise NotApplicable(str(error)) from error
    except Exception as error:  # noqa: BLE001 - as above
        yield Problem(f"{when}, it raised {describe_error(error)}")
        return
    if not was_cancelled:
        yield Problem(f"{when}, it went on, and told its events to the end")
    yield from _still_connected(trial)


def _asking(trial: Trial) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return list(trial.scenario.prompt), {**trial.scenario.call_options(), "stream": True}


def _hang_after_half(trial: Trial) -> Any:
    def hang(asked: Asked) -> Response:
        events = trial.dialect.streams.write(_TEXT, asked.payload)
        return script(trial, [*map(Send, events[: half_of(events)]), Hang()])

    return hang


_AT_ONCE: Final = 0.25


def _still_connected(trial: Trial) -> Iterator[Problem]:
    ends = time.monotonic() + 2 * _AT_ONCE
    while trial.subject.underway and time.monotonic() < ends:
        time.sleep(_AT_ONCE / 50)
    if trial.subject.underway:
        yield Problem("the connection stays open, and the provider goes on answering")
