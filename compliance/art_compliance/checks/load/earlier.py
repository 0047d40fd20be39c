"""Load: whatever came of earlier calls, a call sends the same request and gives the same reply."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from art_compliance.checks.answerers import ID_HEADERS, cutting, error_stream, giving, refusing
from art_compliance.checks.base import check
from art_compliance.checks.facts import OF_EVENTS, Facts, changes, essence_of, facts_of
from art_compliance.checks.kinds import TOOLS
from art_compliance.checks.limits import CLOSED_WITHIN
from art_compliance.checks.stream.closing import await_ends
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Drop, Response, Send, answering_with, in_one_write
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.host.interrupting import CannotDo
from art_sdk import FunctionCall, ToolCall


@check(
    "load.earlier-calls-change-nothing",
    clause="After a failed, a cancelled or another good call, a call sends the same request and gives the same reply.",
    finding_class="contract",
    requires=("dialect", "call", "sent"),
    once=True,
)
def earlier_calls_change_nothing(trial: Trial) -> Iterator[Problem]:
    """What an adapter keeps of a call, it clears at the end of a good one, and forgets to where the call fails."""
    groups, dice = _probes_of(trial), Random(f"{trial.seed} earlier calls")
    usual = {name: _take(trial, probe) for group in groups for name, probe in group.items()}
    for what, happen in _EARLIER.items():
        if not happen(trial):
            continue
        for group in groups:
            name = dice.choice([*group])
            yield from (fault.after(f"{what}, {name}: ") for fault in _changed(usual[name], _take(trial, group[name])))
    for name, probe in groups[0].items():
        if probe.method in _WITH_CONNECTIONS and not probe.streamed:
            _end_when_idle(trial, probe)
            yield from (fault.after(f"{_IDLE}, {name}: ") for fault in _changed(usual[name], _take(trial, probe)))


class Probe(NamedTuple):
    """A call that is made again and again: its answer, whether it is streamed, and the method."""

    answerer: Answerer
    streamed: bool = False
    method: str = "call"


class Taken(NamedTuple):
    """What a probe sent, and what it gave."""

    sent: list[Any]
    facts: Facts


def _probes_of(trial: Trial) -> list[Mapping[str, Probe]]:
    """The calls that must not change, by the words for each. Of each group, one is made after each earlier call."""
    has_tools, streams = "tools" in trial.subject.capabilities, "streaming" in trial.subject.capabilities
    texts = {
        "a good answer": Probe(answering_with(_PLAIN)),
        **({"a stream": Probe(answering_with(_PLAIN), streamed=True)} if streams else {}),
        **{
            f"a good answer by {name}": Probe(answering_with(_PLAIN), method=name)
            for name in trial.subject.other_methods
        },
    }
    calls = {
        "an answer with calls": Probe(answering_with(_CALLS)),
        **({"a stream with calls": Probe(answering_with(_CALLS), streamed=True)} if streams else {}),
    }
    failures = {
        "an error without a word": Probe(giving(Response(500))),
        "a body that cannot be read": Probe(giving(Response(200, b"<html>"))),
        **({"a stream that is cut before its text": Probe(_cut_at_once, streamed=True)} if streams else {}),
    }
    return [texts, *([calls] if has_tools else []), failures]


def _take(trial: Trial, probe: Probe) -> Taken:
    """Makes the call."""
    before = trial.subject.request_count
    reply = trial.subject.call_by(probe.method, _PROMPT, _options(trial, streamed=probe.streamed), probe.answerer)
    sent = [essence_of(trial.dialect, one) for one in trial.subject.seen_since(before)]
    return Taken(sent, facts_of(reply, own_ids="call_ids" in trial.subject.losses))


def _changed(usual: Taken, now: Taken) -> Iterator[Problem]:
    """How the call is not what it was."""
    if usual.sent != now.sent:
        counts = f"{len(now.sent)} requests in place of {len(usual.sent)}"
        yield Problem(f"the call sends {'another request' if len(usual.sent) == len(now.sent) else counts}")
    for change in changes(now.facts, usual.facts, but=() if "the tokens" in usual.facts else OF_EVENTS):
        yield change.after("the reply is another than before in ")


def _options(trial: Trial, *, streamed: bool) -> dict[str, Any]:
    tools = {"tools": TOOLS} if "tools" in trial.subject.capabilities else {}
    return {**trial.ids("again"), **tools, "top_p": 0.5, "max_tokens": 70, **({"stream": True} if streamed else {})}


_PROMPT: Final[list[dict[str, Any]]] = [{"role": "user", "content": "What is the time?"}]
_PLAIN: Final = WrittenAnswer(content="It is noon.", input_tokens=21, output_tokens=12)
_CALLS: Final = WrittenAnswer(
    tool_calls=(ToolCall("call_again", FunctionCall("look", '{"at":"the clock"}')),), finish="tool_calls"
)
_FULL: Final = WrittenAnswer(
    content="This was the answer to an earlier call.",
    tool_calls=(
        ToolCall("call_early", FunctionCall("look", '{"at":"an earlier place"}')),
        ToolCall("call_first", FunctionCall("look", '{"at":"the first place"}')),
    ),
    finish="tool_calls",
    input_tokens=901,
    output_tokens=902,
    thinking_tokens=93,
    cached_tokens=94,
)
_TEXT: Final = WrittenAnswer(content="This was the text of an earlier call.", finish="length", input_tokens=801)

Happen = Callable[[Trial], bool]
"""Makes an earlier call. Returns whether the adapter can be called so."""


def _call(answerer: Answerer, method: str = "call", **options: Any) -> Happen:
    """A call with ids, a model and options of its own."""

    def happen(trial: Trial) -> bool:
        is_possible = method in trial.subject.methods
        is_possible = is_possible and not (options.get("stream") and "streaming" not in trial.subject.capabilities)
        if is_possible:
            tools = {"tools": TOOLS} if "tools" in trial.subject.capabilities else {}
            trial.subject.call_by(method, _EARLIER_PROMPT, {**_earlier_options(trial), **tools, **options}, answerer)
        return is_possible

    return happen


_EARLIER_PROMPT: Final[list[dict[str, Any]]] = [{"role": "user", "content": "What came earlier?"}]


def _earlier_options(trial: Trial) -> dict[str, Any]:
    return {**trial.ids("early"), "model": "an-earlier-model", "temperature": 0.9}


def _refusing(status: int) -> Answerer:
    """Refuses with headers that say when to come back, and which request it was."""
    headers = (("retry-after", "0"), *((name, "an-earlier-request") for name in ID_HEADERS))
    return lambda asked: replace(refusing(status)(asked), headers=(*refusing(status)(asked).headers, *headers))


def _with_ids(answerer: Answerer) -> Answerer:
    return lambda asked: replace(answerer(asked), headers=tuple((name, "an-earlier-request") for name in ID_HEADERS))


def _written(asked: Asked) -> WrittenAnswer:
    """The answer with calls, or, where the request offers no tools, that with a text."""
    return _FULL if "tools" in asked.payload or "toolConfig" in asked.payload else _TEXT


def _full(asked: Asked) -> Response:
    return asked.answer(_written(asked))


def _failing_in_the_middle(asked: Asked) -> Response:
    """The provider's error event near the end, where one call is whole and another has begun."""
    events = asked.events(_written(asked))
    error = asked.dialect.streams.write_error(503, "an earlier error")
    steps = (*map(Send, events[: max(1, len(events) - 3)]), Send(error))
    return Response(200, content_type=asked.dialect.streams.content_type, steps=steps)


def _cut_at_the_end(asked: Asked) -> Response:
    """All events but the last two, and then the connection breaks: calls were begun, and some came to their end."""
    events = asked.events(_written(asked))
    return Response(200, content_type=asked.dialect.streams.content_type, steps=(*map(Send, events[:-2]), Drop()))


def _cut_at_once(asked: Asked) -> Response:
    return Response(200, content_type=asked.dialect.streams.content_type, steps=(Send(asked.events(_PLAIN)[0]), Drop()))


def _closed(trial: Trial) -> bool:
    """A stream that the caller closes after its first token."""
    options = {**_earlier_options(trial), "stream": True}
    with trial.subject.answering(lambda asked: asked.answer(_TEXT)):
        try:
            trial.subject.attempt("close_early", prompt=_EARLIER_PROMPT, options=options)
        except CannotDo:
            return False
    return True


_IDLE: Final = "after the provider closed an idle connection"
_WITH_CONNECTIONS: Final = ("call", "call_sync")
"""Methods that may each keep connections of their own. The others call by them."""


def _end_when_idle(trial: Trial, probe: Probe) -> None:
    """A good call, after which the provider closes the connection that the adapter may have kept for the next one."""
    trial.subject.call_by(probe.method, _EARLIER_PROMPT, _earlier_options(trial), _closing_when_idle)
    await_ends(trial)
    time.sleep(CLOSED_WITHIN / 5)  # until the adapter's event loop has seen it, too


def _closing_when_idle(asked: Asked) -> Response:
    """The whole answer, and the end of the connection, which its head does not announce."""
    good = in_one_write(asked.answer(_TEXT))
    body = good.body if good.steps is None else b"".join(one.data for one in good.steps if isinstance(one, Send))
    return replace(good, steps=(Send(body), Drop()), headers=(*good.headers, ("content-length", str(len(body)))))


_EARLIER: Final[Mapping[str, Happen]] = {
    "after a good call": _call(_with_ids(_full)),
    "after a stream": _call(_with_ids(_full), stream=True),
    **{
        f"after a call that was refused with {status}": _call(_refusing(status)) for status in (400, 401, 404, 422, 429)
    },
    "after a stream that was refused with 403": _call(_refusing(403), stream=True),
    "after an answer that could not be read": _call(giving(Response(200, b'{"half": "of a'))),
    "after a stream with an error in the middle": _call(_failing_in_the_middle, stream=True),
    "after a stream that was cut at its end": _call(_with_ids(_cut_at_the_end), stream=True),
    "after a stream that was cut in its text": _call(cutting(_TEXT), stream=True),
    "after a connection that was closed at once": _call(giving(Response(200, steps=(Drop(),)))),
    "after a stream that began with an error": _call(
        lambda asked: error_stream(asked.dialect, 503, "an earlier error"), stream=True
    ),
    "after a call_sync that was refused with 500": _call(_refusing(500), "call_sync"),
    "after a complete whose stream was cut": _call(cutting(_TEXT), "complete", stream=True),
    "after a stream that was closed after its first token": _closed,
}
"""What happens before, by the words for it. A finding's words begin with it."""
