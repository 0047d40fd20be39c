"""Load: calls that are asked again, as often as they may and in time, give nothing twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.checks.answerers import ID_HEADERS, half_of, refusing
from art_compliance.checks.limits import OTHER_TIME_LIMITS, RETRIED_AT_MOST, RETRIED_LIMIT, RETRIED_ROUNDS, SET_RETRIES
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import Way, ways_of
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Drop, Response, Send, answering_with, delayed
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.host.collecting import is_folded
from art_compliance.subject.observations import Reply
from art_compliance.subject.subject import CallOnce
from art_sdk import FunctionCall, ToolCall


def given_twice(trial: Trial, call: CallOnce) -> Iterator[Problem]:
    """What a call gives of a stream that fails after its first tokens: if it is asked for again, it must come once."""
    for what, (answer, needs) in _ANSWERS.items():
        if needs is not None and needs not in trial.subject.capabilities:
            continue
        for how, fail in (("is cut off", _cut), ("has an error", _fail)):
            for way in (one for one in ways_of(trial) if one.streamed):
                before = trial.subject.request_count
                reply = call(way.method, PROMPT, options_of(trial, way), Once(_halfway(answer, fail), answer))
                if trial.subject.request_count - before > 1:
                    asked = f"{way}: a stream that {how} after {what} was asked for again: "
                    yield from (fault.after(asked) for fault in odd(way, reply, answer))


def odd(way: Way, reply: Reply, answer: WrittenAnswer) -> Iterator[Problem]:
    """How the reply is not one answer, which comes once; one that failed in the end is another check's business."""
    if not isinstance(reply, Answered) or reply.error is not None:
        return
    compared: dict[str, tuple[Any, Any]] = {"text": (reply.text or "", answer.content or "")}
    if not is_folded(way.method):
        compared["text of the tokens"] = (reply.token_text, answer.content or "")
        compared["number of calls"] = (len(reply.event_calls), len(answer.tool_calls))
        compared["number of ENDs"] = (reply.kinds.count("END"), 1)
    if reply.thinking_text:
        compared["thinking"] = (reply.thinking_text, answer.thinking or "")
    for name, (found, expected) in compared.items():
        if found != expected:
            yield Problem(f"the {name} is {show(found)}, not {show(expected)}", finding_class="loss")
    if reply.metadata.get("request_id") == _REFUSED:
        yield Problem("its request_id is that of the refusal, not that of the answer")


def asked_less(trial: Trial, call: CallOnce) -> Iterator[Problem]:
    """That a call is asked again, but not as often as it may be, by a provider that is always busy."""
    before = trial.subject.request_count
    call("call", PROMPT, options_of(trial, Way("call", streamed=False)), busy)
    count = trial.subject.request_count - before
    if count != SET_RETRIES + 1:
        text = f"with {SET_RETRIES} retries, a provider that is always busy gets {count} requests"
        yield Problem(f"{text}; it must be {SET_RETRIES + 1}")


def begun_anew(trial: Trial, call: CallOnce) -> Iterator[Problem]:
    """Calls whose limit of time begins anew with each retry. What refuses the option `timeouts` is left out."""
    others = dict.fromkeys(("connect", "first_byte", "between_bytes"), OTHER_TIME_LIMITS)
    limits = {"timeouts": {**others, "whole_call": RETRIED_LIMIT}}
    for way in ways_to_events(trial)[:2]:
        took = min(_times_with_limits(trial, call, way, limits), default=0.0)
        if took > RETRIED_AT_MOST:
            late = f"it took {took:.2f} s, with one refusal"
            yield Problem(f"{way}: {late}, although whole_call, {RETRIED_LIMIT} s, is a limit for all retries together")


def _times_with_limits(trial: Trial, call: CallOnce, way: Way, limits: dict[str, Any]) -> Iterator[float]:
    """How long a call takes that is asked again when most of its time has passed; on a busy machine, more than once."""
    for _ in range(RETRIED_ROUNDS):
        before, began = trial.subject.request_count, time.monotonic()
        call(way.method, PROMPT, {**options_of(trial, way), **limits}, _busy_later_and_later())
        took = time.monotonic() - began
        if trial.subject.request_count - before > 1:
            yield took
        if took <= RETRIED_AT_MOST:
            return


def _busy_later_and_later() -> Answerer:
    times = iter((0.8 * RETRIED_LIMIT, *repeat(2 * RETRIED_LIMIT, SET_RETRIES)))
    return lambda asked: delayed(busy(asked), next(times, 0.0))


def retried_anyway(trial: Trial, name: str) -> Iterator[Problem]:
    """That an adapter that is to ask once asks again."""
    with trial.subject.opening_with({name: 0}) as call:
        for way in ways_to_events(trial):
            before = trial.subject.request_count
            call(way.method, PROMPT, options_of(trial, way), busy)
            if (count := trial.subject.request_count - before) > 1:
                yield Problem(f"{way}: with {name}=0, the adapter sends {count} requests to a provider that is busy")


def ways_to_events(trial: Trial) -> list[Way]:
    """Those that give events: the methods that give whole answers use them, and are left out where calls take time."""
    return [way for way in ways_of(trial) if not is_folded(way.method)]


def options_of(trial: Trial, way: Way) -> dict[str, Any]:
    """A thread id, and whether the answer is streamed."""
    return {"thread_id": trial.id_of("settings"), **({"stream": True} if way.streamed else {})}


class Once:
    """Fails once, in a way of its own, and then answers."""

    def __init__(self, fail: Answerer, answer: WrittenAnswer | None = None) -> None:
        self._fail: Answerer | None = fail
        self._answer = answering_with(answer or TEXT)

    def __call__(self, asked: Asked) -> Response:
        """Fails, or answers."""
        answerer, self._fail = self._fail or self._answer, None
        return answerer(asked)


_AT_ONCE: Final = (("retry-after-ms", "20"), ("retry-after", "0"))


def busy(asked: Asked) -> Response:
    """The provider's own 503, which may be asked again at once, with an id of its own."""
    ids = ((name, _REFUSED) for name in ID_HEADERS)
    return replace(refusing(503)(asked), headers=(*refusing(503)(asked).headers, *_AT_ONCE, *ids))


_REFUSED: Final = "a-refused-request"


def _halfway(answer: WrittenAnswer, fail: Any) -> Answerer:
    def begin(asked: Asked) -> Response:
        events = asked.events(answer)
        begun = map(Send, events[: half_of(events)])
        kind = asked.dialect.streams.content_type
        return Response(200, content_type=kind, headers=_AT_ONCE, steps=(*begun, fail(asked)))

    return begin


def _cut(_: Asked) -> Drop:
    return Drop()


def _fail(asked: Asked) -> Send:
    return Send(asked.dialect.streams.write_error(503, "written failure"))


PROMPT: Final[list[dict[str, Any]]] = [{"role": "user", "content": "What is the time?"}]
TEXT: Final = WrittenAnswer(content="It is noon, and the sun is high above the house.")
_CALLS: Final = WrittenAnswer(
    tool_calls=(
        ToolCall("call_set1", FunctionCall("look", '{"at":"the clock"}')),
        ToolCall("call_set2", FunctionCall("look", '{"at":"the sun, which is high above the house"}')),
    ),
    finish="tool_calls",
)
_ANSWERS: Final = {
    "its first tokens": (TEXT, None),
    "a part of its thoughts": (
        WrittenAnswer(
            content="Noon.", thinking="The sun is high above the house, so it is noon. " * 3, thinking_tokens=9
        ),
        "reasoning",
    ),
    "its first call": (_CALLS, "tools"),
}
"""What a stream gives before it fails, with the answer, and the capability that an adapter needs for it."""
