"""Load: what an adapter was made with holds for every call, by each method, streamed or not, and asked again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from art_compliance.checks.base import check
from art_compliance.checks.kinds import TOOLS
from art_compliance.checks.limits import (
    LATE_ANSWER,
    LATE_ANSWER_LIMIT,
    OTHER_TIME_LIMITS,
    PATIENCE_WITH_SLOW_CALLS,
    SET_RETRIES,
)
from art_compliance.checks.load.isolation import strange
from art_compliance.checks.load.retried import (
    PROMPT,
    TEXT,
    Once,
    asked_less,
    begun_anew,
    busy,
    given_twice,
    odd,
    options_of,
    retried_anyway,
    ways_to_events,
)
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import Way, ways_of
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Request, Response, answering_with, delayed
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.subject import CallOnce
from art_sdk import Capability


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
                yield from given_twice(trial, call)
            if "retries" in wanted:
                yield from begun_anew(trial, call)
            if "headers" in wanted:
                yield from _shared(trial, settings, call)
    except CannotDo:
        return  # such as a factory that knows the names of its models
    if "retries" in wanted:
        yield from retried_anyway(trial, known["retries"])
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


def _left_out(trial: Trial, wanted: dict[str, Any], call: CallOnce) -> Iterator[Problem]:
    """What is missing from a request, the first one or the one after a refusal; and ways that do not ask again."""
    counts: dict[Way, int] = {}
    said: set[str] = set()
    beside = _options_beside(trial)
    for at, way in enumerate(ways_of(trial)):
        more = beside[(at + at // 2) % len(beside)]  # each of them whole and streamed
        before = trial.subject.request_count
        reply = call(way.method, PROMPT, {**options_of(trial, way), **more}, Once(busy))
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
            yield from (fault.after(f"{way}, asked again after a refusal: ") for fault in odd(way, reply, TEXT))
    if "retries" in wanted and counts.get(_CALL, 0) > 1:
        yield from asked_less(trial, call)
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


def _lacks(request: Request, wanted: dict[str, Any]) -> Iterator[str]:
    for name, value in wanted.get("headers", {}).items():
        if value not in map(str.strip, request.headers.get(name, "").split(",")):
            yield f"has no {show(value)} in the header {name}, which the adapter was made with"
    if wanted["model"] not in _as_text(request):
        yield f"does not name the model {show(wanted['model'])}, which the adapter was made with"


def _shared(trial: Trial, settings: dict[str, Any], call: CallOnce) -> Iterator[Problem]:
    """That an adapter changed what it was made with, or gave its key to another one that is made with the same."""
    changed = [*_changed(trial, settings)]
    yield from changed
    if changed:
        return
    other = trial.subject.keys.other
    trial.subject.use("open_with_the_same", key=other)
    before = trial.subject.request_count
    call("call", PROMPT, options_of(trial, _CALL), answering_with(TEXT))
    for wrong in [text for one in trial.subject.seen_since(before)[:1] for text in strange(trial, one, other, "")]:
        yield Problem(f"an adapter with another key that is made with the same mapping of headers {wrong}")


def _changed(trial: Trial, settings: dict[str, Any]) -> Iterator[Problem]:
    """That the mappings which the factory was given are not as they were."""
    for name in trial.subject.attempt("changes_settings", settings=settings):
        yield Problem(f"the adapter changes the {name} that it is made with; another may be made with them: copy them")


def _leaked(trial: Trial) -> Iterator[Problem]:
    """That the headers of one adapter are sent by another, which was made before."""
    before = trial.subject.request_count
    trial.subject.call(PROMPT, options_of(trial, _CALL), answering_with(TEXT))
    for request in trial.subject.seen_since(before):
        if _HEADER[0] in request.headers:
            yield Problem("an adapter sends the headers that another one was made with")


def _waited(trial: Trial, name: str) -> Iterator[Problem]:
    """Calls that get an answer that comes after the time limit that the adapter was made with."""
    others: dict[str, Any] = dict.fromkeys(("connect", "between_bytes", "whole_call"), OTHER_TIME_LIMITS)
    settings = {name: {**others, "first_byte": LATE_ANSWER_LIMIT}}
    del settings[name]["connect"]  # some fill in what the caller leaves out
    if not _is_taken(trial, settings):
        return
    with trial.subject.opening_with(settings):
        yield from _waited_together(trial, others)
        yield from _changed(trial, settings)


def _waited_together(trial: Trial, others: dict[str, Any]) -> Iterator[Problem]:
    """What is wrong with concurrent calls that wait: one by each way, and one that has no limit of its own."""
    ways = ways_to_events(trial)
    calls = [(PROMPT, options_of(trial, way), way.method) for way in ways]
    unlimited = {**options_of(trial, _CALL), "timeouts": {**others, "first_byte": None}}
    sent: list[Asked] = []

    def answer(asked: Asked) -> Response:
        if _UNLIMITED not in str(asked.payload):
            return delayed(asked.answer(TEXT), LATE_ANSWER)
        sent.append(asked)
        return delayed(asked.answer(TEXT), 3 * LATE_ANSWER_LIMIT)

    *replies, last = trial.subject.call_together_with(
        [*calls, ([{"role": "user", "content": _UNLIMITED}], unlimited, "call")],
        answer,
        seconds=PATIENCE_WITH_SLOW_CALLS,
    )
    for way, reply in zip(ways, replies, strict=True):
        if isinstance(reply, Answered) and reply.error is None:
            wait = f"an answer that came after {LATE_ANSWER} s was read"
            yield Problem(f"{way}: {wait}, although the adapter was made with a limit of {LATE_ANSWER_LIMIT} s")
    if sent and isinstance(last, Answered) and last.error is not None:  # not refused for its limits
        limit = f"the adapter's own time limit of {LATE_ANSWER_LIMIT} s ends a call with first_byte = null"
        yield Problem(f"call: {limit}; null means no limit")


_CALL: Final = Way("call", streamed=False)
_UNLIMITED: Final = "How late is it, and what is the time without any limit?"
