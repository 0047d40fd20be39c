"""Replay: a call that was recorded once is made again, and answered as it was answered then, without a network.

Whether that says anything of the world outside depends on who gave the answers: the level `replay` counts
only where a real provider or engine did.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from art_compliance.cassettes import BadCassette, Exchange, Source, scenario_digest
from art_compliance.cassettes.bodies import json_of
from art_compliance.cassettes.matching import Asked, describe_mismatch, is_same
from art_compliance.cassettes.reading import AGAIN
from art_compliance.checks.answer_laws import wrong_ids, wrong_order
from art_compliance.checks.base import Check, check
from art_compliance.checks.replay.recorded import Recorded, arguments_of, read_recorded
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import differences, in_pieces, require_read
from art_compliance.checks.trial import Replayed, Trial
from art_compliance.dialects.framing import to_json
from art_compliance.findings import Problem
from art_compliance.provider import Response, Send
from art_compliance.quoting import quote, shorten
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused
from art_sdk import ARTError, parse_prompt


@check(
    "replay.cassette-is-sound",
    clause="The scenario's cassette can be read and holds no secret; each request is made once, and has one answer.",
)
def cassette_is_sound(trial: Trial) -> Iterator[Problem]:
    """What is wrong here is wrong with the file, or the adapter does not ask what it asked."""
    try:
        replayed = trial.replayed
    except BadCassette as error:
        yield Problem(str(error).replace(AGAIN, _again(trial)))
        return
    path = replayed.cassette.path
    asked = [Asked.of(one) for one in replayed.cassette.exchanges]
    twins: set[int] = set()
    for (at, one), (other, twin) in combinations(enumerate(asked), 2):
        if is_same(trial.dialect, one, twin):
            twins.add(other)
            text = f"{path}: interactions[{at}] and interactions[{other}] match one request: which answers is chance"
            yield Problem(f"{text}; {_again(trial)}")
    mismatched = len(replayed.asked) > len(asked) - len(replayed.unplayed)
    for at in () if mismatched else sorted({*replayed.unplayed} - twins):
        text = f"{path}: interactions[{at}] was never asked for: the adapter asks less than it did"
        yield Problem(f"{text}; mend the adapter, or {_again(trial)}")


@check(
    "replay.request-is-the-recorded-one",
    clause="The request means what the recorded one means: their normal forms are equal.",
)
def request_is_the_recorded_one(trial: Trial) -> Iterator[Problem]:
    """Shown as the difference that it is, and with the choice that it leaves."""
    replayed = _replayed(trial)
    recorded = [Asked.of(one) for one in replayed.cassette.exchanges]
    for asked in replayed.asked:
        if any(is_same(trial.dialect, one, asked) for one in recorded):
            continue
        nearest = next((recorded[at] for at in replayed.unplayed), recorded[0])
        told = describe_mismatch(trial.dialect, nearest, asked)
        message = f"the request is not the one in {replayed.cassette.path}:\n    {told}\n    {_choice(trial, replayed)}"
        yield Problem(message)


def _choice(trial: Trial, replayed: Replayed) -> str:
    known = replayed.cassette.provenance
    if known is not None and known.digest != scenario_digest(trial.scenario):
        return f"the scenario has changed since: {_again(trial)}"
    return f"either the adapter regressed, then mend it; or the change is meant, then {_again(trial)}"


def _again(trial: Trial) -> str:
    return f"record again: {trial.describe_recording(_ASKING[trial.source or 'provider'])}"


_ASKING: Final[Mapping[Source, tuple[str, ...]]] = {
    "provider": ("--key-from", "VARIABLE"),
    "provider, recorded by others": ("--key-from", "VARIABLE"),
    "local engine": ("--local-engine", "--engine", "NAME VERSION", "--base-url", "URL"),
    "strict provider": ("--from-strict-provider",),
}
"""What `art record` must be told to ask the same source again; what only the author knows stands in capitals."""


def _on_answer(name: str, clause: str) -> Callable[[Callable[[Trial, Answered], Iterator[str]]], Check]:
    """Declares a check that looks at what was read out of the recorded answer, and tells what is wrong in words."""

    def declare(look: Callable[[Trial, Answered], Iterator[str]]) -> Check:
        @check(name, clause=clause)
        def run(trial: Trial) -> Iterator[Problem]:
            for message in look(trial, trial.require_answered(_played(trial).reply)):
                yield Problem(message)

        return run

    return declare


@check("replay.answer-is-read", clause="The recorded answer is read without an error.")
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """A recorded answer is what the provider really says."""
    reply = _played(trial).reply
    if isinstance(reply, (Refused, Crashed)):
        yield Problem(str(reply))
    elif reply.error is not None:
        text = f"call gave an ERROR event: {reply.error.get('message')}"
        yield Problem(text)


@_on_answer(
    "replay.events-keep-their-order",
    "The events of the recorded answer are (TOKEN or TOOL_CALL)*, METADATA, END, all with the ids of the call.",
)
def events_keep_their_order(trial: Trial, answered: Answered) -> Iterator[str]:
    """The law of events, on what providers really answer."""
    yield from wrong_order(answered)
    yield from wrong_ids(trial, answered)


@_on_answer(
    "replay.message-is-whole",
    "The recorded answer folds into one message of the standard, with every text and call that was told.",
)
def message_is_whole(trial: Trial, answered: Answered) -> Iterator[str]:
    """Ready to be appended to the prompt."""
    try:
        parse_prompt([*trial.scenario.prompt, answered.message])
    except ARTError as error:
        yield f"END's message is none of the standard: {error.message}"
        return
    if answered.token_text != (answered.text or ""):
        yield f"the tokens are {answered.token_text!r}, the message's content is {answered.text!r}"
    if list(map(_said, answered.event_calls)) != list(map(_said, answered.calls)):
        yield f"{len(answered.event_calls)} calls were told, and they are not the {len(answered.calls)} of the message"
    recorded, said = _recorded(trial), f"{answered.token_text}\n{answered.thinking_text}"
    for text in recorded.texts.values():
        if text not in said:
            yield f"a text of the recorded answer was not told whole: {quote(text)}"
    wanted = [(call.name, call.value) for call in recorded.calls.values()]
    told = [(name, arguments_of(str(arguments))) for _, name, arguments in map(_said, answered.event_calls)]
    if told != wanted:
        yield f"the recorded answer calls {_list(wanted)}, and told were {_list(told)}"


def _list(calls: list[tuple[str, Any]]) -> str:
    return ", ".join(f"{name}({shorten(to_json(arguments))})" for name, arguments in calls) or "nothing"


def _said(call: dict[str, Any]) -> tuple[Any, ...]:
    function: dict[str, Any] = call.get("function") or {}
    return call.get("id"), function.get("name"), function.get("arguments")


@_on_answer(
    "replay.tokens-are-counted",
    "METADATA tells the token counts of the recorded answer: the whole prompt's, and all that was generated.",
)
def tokens_are_counted(trial: Trial, answered: Answered) -> Iterator[str]:
    """Against the answer's own count."""
    counted = _recorded(trial).counts
    if not any(counted.values()):
        message = "the recorded answer counts no tokens"
        raise NotApplicable(message)
    for name, count in counted.items():
        if answered.metadata.get(name) != count:
            yield f"{name} is {answered.metadata.get(name)!r}, the recorded answer counts {count}"


@check(
    "replay.cuts-change-nothing",
    clause="However the bytes of a recorded stream are cut, the same answer is read.",
)
def cuts_change_nothing(trial: Trial) -> Iterator[Problem]:
    """A cassette keeps a stream in one piece, which no network does: here it goes over the loopback in many."""
    whole = require_read(_played(trial).reply)
    last = _last(trial)
    if json_of(last.answer_body) is not None:
        message = "the recorded answer is no stream"
        raise NotApplicable(message)
    dice = random.Random(f"{trial.seed} {trial.scenario.id}")
    kind = last.answer_headers.get("content-type", trial.dialect.streams.content_type)
    steps = tuple(Send(piece) for piece in in_pieces(last.answer_body, dice, _CUTS))
    reply = trial.subject.call(
        trial.scenario.prompt,
        trial.replay_options,
        lambda _: Response(last.status, content_type=kind, steps=steps),
    )
    if not isinstance(reply, Answered) or reply.error is not None:
        told = reply.error.get("message") if isinstance(reply, Answered) and reply.error else reply
        yield Problem(f"cut otherwise, it is not read: {told}")
        return
    for difference in differences(reply, whole):
        yield Problem(f"cut otherwise, it differs in {difference}")


_CUTS: Final = 40


def _recorded(trial: Trial) -> Recorded:
    return read_recorded(trial.dialect.name, _last(trial).answer_body)


def _last(trial: Trial) -> Exchange:
    return _replayed(trial).cassette.exchanges[-1]


def _replayed(trial: Trial) -> Replayed:
    try:
        return trial.replayed
    except BadCassette as error:
        message = "the cassette cannot be used: see replay.cassette-is-sound"
        raise NotApplicable(message) from error


def _played(trial: Trial) -> Replayed:
    """The replay, where an answer was played. Raises NotApplicable."""
    replayed = _replayed(trial)
    if len(replayed.unplayed) == len(replayed.cassette.exchanges):
        message = "nothing was answered: see replay.request-is-the-recorded-one"
        raise NotApplicable(message)
    return replayed
