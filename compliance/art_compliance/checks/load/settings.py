"""Load: what an adapter was made with holds for every call, by each method, streamed or not, and asked again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final
from urllib.parse import unquote

from msgspec.structs import replace

from art_compliance.checks.answerers import half_of, refusing
from art_compliance.checks.base import check
from art_compliance.checks.kinds import TOOLS
from art_compliance.checks.limits import (
    LATE_ANSWER,
    LATE_ANSWER_LIMIT,
    OTHER_TIME_LIMITS,
    RETRIED_AT_MOST,
    RETRIED_LIMIT,
    RETRIED_ROUNDS,
    SET_RETRIES,
)
from art_compliance.checks.load.isolation import strange
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import Way, ways_of
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Drop, Request, Response, Send, answering_with, delayed
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.host.collecting import is_folded
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Reply
from art_compliance.subject.subject import CallOnce
from art_sdk import Capability, FunctionCall, ToolCall


@check(
    "load.settings-hold-for-every-call",
    clause="A model, headers, retries and time limits that the factory takes hold for every call, and are not changed.",
    finding_class="contract",
    requires=("dialect", "call", "sent", "own_settings"),
    once=True,
)
def settings_hold_for_every_call(trial: Trial) -> Iterator[Problem]:
    """Each method, streamed or not, makes requests of its own, and a setting is easily left out of one."""
    known = trial.subject.settings
    given: dict[str, Any] = {"headers": _headers(trial), "retries": SET_RETRIES}
    taken = {name: one for name, one in given.items() if name in known and _is_taken(trial, {known[name]: one})}
    wanted = {"model": _other_model(trial), **taken}
    settings = {known.get(name, name): value for name, value in wanted.items()}
    try:
        with trial.subject.opening_with(settings) as call:
            yield from _left_out(trial, wanted, call)
            if "retries" in wanted and "streaming" in trial.subject.capabilities:
                yield from _given_twice(trial, call)
            if "retries" in wanted:
                yield from _begun_anew(trial, call)
            if "headers" in wanted:
                yield from _shared(trial, settings, call)
    except CannotDo:
        return  # such as a factory that knows the names of its models
    if "retries" in wanted:
        yield from _retried_anyway(trial, known["retries"])
    if "headers" in wanted:
        yield from _leaked(trial)
    if "timeouts" in known:
        yield from _waited(trial, known["timeouts"])


_HEADER: Final = ("x-art-setting", "kept")


def _headers(trial: Trial) -> dict[str, str]:
    """Headers of the caller's: one that nobody knows, and those of the provider's that an adapter may use, too."""
    return dict([_HEADER, *trial.dialect.service.own_headers.items()])


def _other_model(trial: Trial) -> str:
    """A model that the adapter does not ask for by itself."""
    models, usual = trial.dialect.answers.models, "".join(map(_as_text, trial.watched.requests))
    return next((one for one in (*models.names, *models.others) if one not in usual), models.names[-1])


def _as_text(request: Request) -> str:
    return unquote(request.target) + request.body.decode(errors="replace")


def _is_taken(trial: Trial, settings: dict[str, Any]) -> bool:
    """Whether the factory takes a setting: another library may mean something else by its name."""
    try:
        with trial.subject.opening_with(settings):
            return True
    except CannotDo:
        return False


def _ways_to_events(trial: Trial) -> list[Way]:
    """Those that give events: the methods that give whole answers use them, and are left out where calls take time."""
    return [way for way in ways_of(trial) if not is_folded(way.method)]


def _options(trial: Trial, way: Way) -> dict[str, Any]:
    return {"thread_id": trial.id_of("settings"), **({"stream": True} if way.streamed else {})}


def _left_out(trial: Trial, wanted: dict[str, Any], call: CallOnce) -> Iterator[Problem]:
    """What is missing from a request, the first one or the one after a refusal; and ways that do not ask again."""
    counts: dict[Way, int] = {}
    said: set[str] = set()
    beside = _options_beside(trial)
    for at, way in enumerate(ways_of(trial)):
        more = beside[(at + at // 2) % len(beside)]  # each of them whole and streamed
        before = trial.subject.request_count
        reply = call(way.method, _PROMPT, {**_options(trial, way), **more}, _Once(_busy))
        requests = trial.subject.seen_since(before)
        if requests:  # a schema may be refused for this model
            counts[way] = len(requests)
        for number, request in enumerate(requests):
            where = "the request after a refusal" if number else "the request"
            for wrong in _lacks(request, wanted):
                if wrong not in said:  # by the next way, it is the same again
                    yield Problem(f"{way}: {where} {wrong}")
                said.add(wrong)
        if len(requests) > 1:
            yield from (fault.after(f"{way}, asked again after a refusal: ") for fault in _odd(way, reply, _TEXT))
    if "retries" in wanted and counts.get(Way("call", streamed=False), 0) > 1:
        yield from _asked_less(trial, call)
    if "retries" in wanted and len(set(counts.values())) > 1:
        by_way = ", ".join(f"{count} by {way}" for way, count in counts.items())
        text = f"with {SET_RETRIES} retries, the requests to a provider that refuses the first one are not as many by"
        yield Problem(f"{text} each way: {by_way}")


def _options_beside(trial: Trial) -> list[dict[str, Any]]:
    """Options for which adapters have headers of their own, which may take the place of the caller's."""
    options: dict[Capability, dict[str, Any]] = {
        "tools": {"tools": TOOLS},
        "response_schema": {"response_schema": _SCHEMA},
    }
    return [given for name, given in options.items() if name in trial.subject.capabilities] or [{}]


_SCHEMA: Final = {
    "type": "object",
    "properties": {"time": {"type": "string"}},
    "required": ["time"],
    "additionalProperties": False,
}


def _asked_less(trial: Trial, call: CallOnce) -> Iterator[Problem]:
    """That a call is asked again, but not as often as it may be, by a provider that is always busy."""
    before = trial.subject.request_count
    call("call", _PROMPT, _options(trial, Way("call", streamed=False)), _busy)
    count = trial.subject.request_count - before
    if count != SET_RETRIES + 1:
        text = f"with {SET_RETRIES} retries, a provider that is always busy gets {count} requests"
        yield Problem(f"{text}; it must be {SET_RETRIES + 1}")


def _lacks(request: Request, wanted: dict[str, Any]) -> Iterator[str]:
    for name, value in wanted.get("headers", {}).items():
        if value not in map(str.strip, request.headers.get(name, "").split(",")):
            yield f"has no {show(value)} in the header {name}, which the adapter was made with"
    if wanted["model"] not in _as_text(request):
        yield f"does not name the model {show(wanted['model'])}, which the adapter was made with"


class _Once:
    """Fails once, in a way of its own, and then answers."""

    def __init__(self, fail: Answerer, answer: WrittenAnswer | None = None) -> None:
        self._fail: Answerer | None = fail
        self._answer = answering_with(answer or _TEXT)

    def __call__(self, asked: Asked) -> Response:
        answerer, self._fail = self._fail or self._answer, None
        return answerer(asked)


_AT_ONCE: Final = (("retry-after-ms", "20"), ("retry-after", "0"))


def _busy(asked: Asked) -> Response:
    return replace(refusing(503)(asked), headers=(*refusing(503)(asked).headers, *_AT_ONCE))


def _given_twice(trial: Trial, call: CallOnce) -> Iterator[Problem]:
    """What a call gives of a stream that fails after its first tokens: if it is asked for again, it must come once."""
    for what, (answer, needs) in _ANSWERS.items():
        if needs is not None and needs not in trial.subject.capabilities:
            continue
        for how, fail in (("is cut off", _cut), ("has an error", _fail)):
            for way in (one for one in ways_of(trial) if one.streamed):
                before = trial.subject.request_count
                reply = call(way.method, _PROMPT, _options(trial, way), _Once(_halfway(answer, fail), answer))
                if trial.subject.request_count - before > 1:
                    asked = f"{way}: a stream that {how} after {what} was asked for again: "
                    yield from (fault.after(asked) for fault in _odd(way, reply, answer))


def _begun_anew(trial: Trial, call: CallOnce) -> Iterator[Problem]:
    """Calls whose limit of time begins anew with each retry. What refuses the option `timeouts` is left out."""
    others = dict.fromkeys(("connect", "first_byte", "between_bytes"), OTHER_TIME_LIMITS)
    limits = {"timeouts": {**others, "whole_call": RETRIED_LIMIT}}
    for way in _ways_to_events(trial)[:2]:
        took = min(_times_with_limits(trial, call, way, limits), default=0.0)
        if took > RETRIED_AT_MOST:
            late = f"it took {took:.2f} s, with one refusal"
            yield Problem(f"{way}: {late}, although whole_call, {RETRIED_LIMIT} s, is a limit for all retries together")


def _times_with_limits(trial: Trial, call: CallOnce, way: Way, limits: dict[str, Any]) -> Iterator[float]:
    """How long a call takes that is asked again when most of its time has passed; on a busy machine, more than once."""
    for _ in range(RETRIED_ROUNDS):
        before, began = trial.subject.request_count, time.monotonic()
        call(way.method, _PROMPT, {**_options(trial, way), **limits}, _busy_later_and_later())
        took = time.monotonic() - began
        if trial.subject.request_count - before > 1:
            yield took
        if took <= RETRIED_AT_MOST:
            return


def _busy_later_and_later() -> Answerer:
    times = iter((0.8 * RETRIED_LIMIT, *repeat(2 * RETRIED_LIMIT, SET_RETRIES)))
    return lambda asked: delayed(_busy(asked), next(times, 0.0))


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


def _odd(way: Way, reply: Reply, answer: WrittenAnswer) -> Iterator[Problem]:
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


def _retried_anyway(trial: Trial, name: str) -> Iterator[Problem]:
    """That an adapter that is to ask once asks again."""
    with trial.subject.opening_with({name: 0}) as call:
        for way in _ways_to_events(trial):
            before = trial.subject.request_count
            call(way.method, _PROMPT, _options(trial, way), _busy)
            if (count := trial.subject.request_count - before) > 1:
                yield Problem(f"{way}: with {name}=0, the adapter sends {count} requests to a provider that is busy")


def _shared(trial: Trial, settings: dict[str, Any], call: CallOnce) -> Iterator[Problem]:
    """That an adapter changed what it was made with, or gave its key to another one that is made with the same."""
    changed = [*_changed(trial, settings)]
    yield from changed
    if changed:
        return
    other = trial.subject.keys.other
    trial.subject.use("open_with_the_same", key=other)
    before = trial.subject.request_count
    call("call", _PROMPT, _options(trial, Way("call", streamed=False)), answering_with(_TEXT))
    for wrong in [text for one in trial.subject.seen_since(before)[:1] for text in strange(trial, one, other, "")]:
        yield Problem(f"an adapter with another key that is made with the same mapping of headers {wrong}")


def _changed(trial: Trial, settings: dict[str, Any]) -> Iterator[Problem]:
    """That the mappings which the factory was given are not as they were."""
    for name in trial.subject.attempt("changes_settings", settings=settings):
        yield Problem(f"the adapter changes the {name} that it is made with; another may be made with them: copy them")


def _leaked(trial: Trial) -> Iterator[Problem]:
    """That the headers of one adapter are sent by another, which was made before."""
    before = trial.subject.request_count
    trial.subject.call(_PROMPT, _options(trial, Way("call", streamed=False)), answering_with(_TEXT))
    for request in trial.subject.seen_since(before):
        if _HEADER[0] in request.headers:
            yield Problem("an adapter sends the headers that another one was made with")


def _waited(trial: Trial, name: str) -> Iterator[Problem]:
    """Calls that get an answer that comes after the time limit that the adapter was made with."""
    others = dict.fromkeys(("connect", "between_bytes", "whole_call"), OTHER_TIME_LIMITS)
    settings = {name: {**others, "first_byte": LATE_ANSWER_LIMIT}}
    del settings[name]["connect"]  # some fill in what the caller leaves out
    if not _is_taken(trial, settings):
        return
    with trial.subject.opening_with(settings) as call:
        for way in _ways_to_events(trial):
            reply = call(way.method, _PROMPT, _options(trial, way), _late)
            if isinstance(reply, Answered) and reply.error is None:
                wait = f"an answer that came after {LATE_ANSWER} s was read"
                yield Problem(f"{way}: {wait}, although the adapter was made with a limit of {LATE_ANSWER_LIMIT} s")
        yield from _changed(trial, settings)
        before = trial.subject.request_count
        lifted = {"timeouts": {**others, "first_byte": None}}
        reply = call("call", _PROMPT, {**_options(trial, Way("call", streamed=False)), **lifted}, _later)
        is_sent = trial.subject.request_count > before  # not refused for its limits
        if is_sent and isinstance(reply, Answered) and reply.error is not None:
            limit = f"the adapter's own time limit of {LATE_ANSWER_LIMIT} s ends a call with first_byte = null"
            yield Problem(f"call: {limit}; null means no limit")


def _late(asked: Asked) -> Response:
    return delayed(asked.answer(_TEXT), LATE_ANSWER)


def _later(asked: Asked) -> Response:
    return delayed(asked.answer(_TEXT), 3 * LATE_ANSWER_LIMIT)


_PROMPT: Final[list[dict[str, Any]]] = [{"role": "user", "content": "What is the time?"}]
_TEXT: Final = WrittenAnswer(content="It is noon, and the sun is high above the house.")
_CALLS: Final = WrittenAnswer(
    tool_calls=(
        ToolCall("call_set1", FunctionCall("look", '{"at":"the clock"}')),
        ToolCall("call_set2", FunctionCall("look", '{"at":"the sun, which is high above the house"}')),
    ),
    finish="tool_calls",
)
_ANSWERS: Final = {
    "its first tokens": (_TEXT, None),
    "a part of its thoughts": (
        WrittenAnswer(
            content="Noon.", thinking="The sun is high above the house, so it is noon. " * 3, thinking_tokens=9
        ),
        "reasoning",
    ),
    "its first call": (_CALLS, "tools"),
}
"""What a stream gives before it fails, with the answer, and the capability that an adapter needs for it."""
