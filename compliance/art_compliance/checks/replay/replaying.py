"""Replay: makes a recorded call again and answers it from the cassette, without a network.

What this proves depends on who gave the answers: the level `replay` counts only answers of a real provider or engine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, Final

from art_compliance.cassettes import BadCassette, Exchange, Source, scenario_digest
from art_compliance.cassettes.bodies import json_of
from art_compliance.cassettes.errors import AGAIN
from art_compliance.cassettes.matching import ScrubbedRequest, describe_mismatch, identity, twins
from art_compliance.checks.answer_laws import wrong_ids, wrong_order
from art_compliance.checks.base import Check, check
from art_compliance.checks.limits import CUTS
from art_compliance.checks.replay.playing import Replayed, answered_replay, play, replayed
from art_compliance.checks.replay.recorded import read_recorded
from art_compliance.checks.replies import differences, why_unread
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.streamed import in_pieces
from art_compliance.checks.trial import Trial
from art_compliance.dialects.framing import to_json
from art_compliance.dialects.recorded import Recorded, arguments_of
from art_compliance.findings import FindingClass, Problem
from art_compliance.provider import Response, Send
from art_compliance.quoting import quote, shorten, show, show_both
from art_compliance.subject.events import Answered
from art_sdk import ARTError, parse_prompt


@check(
    "replay.cassette-is-sound",
    clause="The scenario's cassette is readable and contains no secret; each request is made once, and has one answer.",
    finding_class="contract",
)
def cassette_is_sound(trial: Trial) -> Iterator[Problem]:
    """Either the file is wrong, or the adapter no longer sends what it sent."""
    try:
        played = trial.once(play)
    except BadCassette as error:
        yield Problem(str(error).replace(AGAIN, _again(trial)))
        return
    path = played.cassette.path
    recorded = [ScrubbedRequest.of(one) for one in played.cassette.exchanges]
    repeated: set[int] = set()
    for at, other in twins(lambda _: trial.dialect, recorded):
        repeated.add(other)
        text = f"{path}: interactions[{at}] and interactions[{other}] match the same request"
        yield Problem(f"{text}, so that it is undefined which of them answers; {_again(trial)}")
    mismatched = len(played.requests) > len(recorded) - len(played.unplayed)
    for at in () if mismatched else sorted({*played.unplayed} - repeated):
        text = f"{path}: interactions[{at}] was never requested: the adapter sends fewer requests than it did"
        yield Problem(f"{text}; fix the adapter, or {_again(trial)}")


@check(
    "replay.request-is-the-recorded-one",
    clause="The request has the same meaning as the recorded one: their normal forms are equal.",
    finding_class="contract",
)
def request_is_the_recorded_one(trial: Trial) -> Iterator[Problem]:
    """Shows the difference, and what to do about it."""
    played = replayed(trial)
    recorded = [ScrubbedRequest.of(one) for one in played.cassette.exchanges]
    known = {identity(trial.dialect, one) for one in recorded}
    for asked in played.requests:
        if identity(trial.dialect, asked) in known:
            continue
        nearest = next((recorded[at] for at in played.unplayed), recorded[0])
        mismatch = describe_mismatch(trial.dialect, nearest, asked)
        message = f"the request is not the one in {played.cassette.path}:\n    {mismatch}\n    {_choice(trial, played)}"
        yield Problem(message)


def _choice(trial: Trial, played: Replayed) -> str:
    known = played.cassette.provenance
    if known is not None and known.digest != scenario_digest(trial.scenario):
        return f"the scenario has changed since it was recorded: {_again(trial)}"
    return f"if the adapter regressed, fix it; if you meant the change, {_again(trial)}"


def _again(trial: Trial) -> str:
    return f"record again: {trial.recording.describe_command(_ASKING[trial.recording.source or 'provider'])}"


_ASKING: Final[Mapping[Source, tuple[str, ...]]] = {
    "provider": ("--key-from", "VARIABLE"),
    "provider, recorded by others": ("--key-from", "VARIABLE"),
    "local engine": ("--local-engine", "--engine", "NAME VERSION", "--base-url", "URL"),
    "strict provider": ("--from-strict-provider",),
}
"""The options with which `art record` asks the same source again; capitals are for the author to fill in."""


def _on_answer(
    name: str, clause: str, finding_class: FindingClass = "loss"
) -> Callable[[Callable[[Trial, Answered], Iterator[Problem]]], Check]:
    """Declares a check of the answer that was read from the cassette."""

    def declare(look: Callable[[Trial, Answered], Iterator[Problem]]) -> Check:
        @check(name, clause=clause, finding_class=finding_class)
        @wraps(look)
        def run(trial: Trial) -> Iterator[Problem]:
            yield from look(trial, require_read(answered_replay(trial).reply))

        return run

    return declare


@check(
    "replay.answer-is-read",
    clause="The adapter reads the recorded answer without an error.",
    finding_class="contract",
)
def answer_is_read(trial: Trial) -> Iterator[Problem]:
    """Recorded answers are what providers really send."""
    reason = why_unread(answered_replay(trial).reply)
    if reason is not None:
        yield Problem(reason)


@_on_answer(
    "replay.events-keep-their-order",
    "The events of the recorded answer are (TOKEN or TOOL_CALL)*, METADATA, END, all with the ids of the call.",
    "contract",
)
def events_keep_their_order(trial: Trial, answered: Answered) -> Iterator[Problem]:
    """The laws of events, on what providers really send."""
    yield from wrong_order(answered)
    yield from wrong_ids(trial, answered)


@_on_answer(
    "replay.message-is-whole",
    "The recorded answer becomes one standard message, with every text and call of the events.",
)
def message_is_whole(trial: Trial, answered: Answered) -> Iterator[Problem]:
    """Ready to be appended to the prompt."""
    try:
        parse_prompt([*trial.scenario.prompt, answered.message])
    except ARTError as error:
        yield Problem(f"END's message is not a standard message: {error.message}", finding_class="contract")
        return
    if answered.token_text != (answered.text or ""):
        tokens, content = show_both(answered.token_text, answered.text)
        yield Problem(f"the tokens are {tokens}, but the message's content is {content}")
    if list(map(_parts_of, answered.event_calls)) != list(map(_parts_of, answered.calls)):
        yield Problem(
            f"the {len(answered.event_calls)} calls of TOOL_CALL are not the {len(answered.calls)} of the message"
        )
    recorded, passed_on = _recorded(trial), f"{answered.token_text}\n{answered.thinking_text}"
    for text in recorded.texts.values():
        if text not in passed_on:
            yield Problem(f"a text of the recorded answer is not whole in the tokens: {quote(text)}")
    wanted = [(call.name, call.value) for call in recorded.calls.values()]
    found = [(name, arguments_of(str(arguments))) for _, name, arguments in map(_parts_of, answered.event_calls)]
    if found != wanted:
        yield Problem(f"the recorded answer calls {_list(wanted)}, but TOOL_CALL has {_list(found)}")


def _list(calls: list[tuple[str, Any]]) -> str:
    return ", ".join(f"{name}({shorten(to_json(arguments))})" for name, arguments in calls) or "nothing"


def _parts_of(call: dict[str, Any]) -> tuple[Any, ...]:
    function: dict[str, Any] = call.get("function") or {}
    return call.get("id"), function.get("name"), function.get("arguments")


@_on_answer(
    "replay.tokens-are-counted",
    "METADATA has the token counts of the recorded answer: of the whole prompt, and of all that was generated.",
    "contract",
)
def tokens_are_counted(trial: Trial, answered: Answered) -> Iterator[Problem]:
    """Against the answer's own count."""
    counted = _recorded(trial).counts
    if not any(counted.values()):
        raise NotApplicable("the recorded answer counts no tokens")
    for name, count in counted.items():
        if (answered.metadata.get(name) or 0) != count:
            yield Problem(f"{name} is {show(answered.metadata.get(name))}, but the recorded answer counts {count}")


@check(
    "replay.cuts-change-nothing",
    clause="The adapter reads the same answer however the bytes of a recorded stream are cut.",
)
def cuts_change_nothing(trial: Trial) -> Iterator[Problem]:
    """A cassette plays a stream in one piece, which no network does. Here it comes in many, over the loopback."""
    whole = require_read(answered_replay(trial).reply)
    last = _last(trial)
    if json_of(last.answer_body) is not None:
        raise NotApplicable("the recorded answer is not a stream")
    dice = random.Random(f"{trial.seed} {trial.scenario.id}")
    kind = last.answer_headers.get("content-type", trial.dialect.streams.content_type)
    steps = tuple(Send(piece) for piece in in_pieces(last.answer_body, dice, CUTS))
    reply = trial.subject.call(
        trial.scenario.prompt,
        trial.recorded_options,
        lambda _: Response(last.status, content_type=kind, steps=steps),
    )
    if not isinstance(reply, Answered) or reply.error is not None:
        text = f"cut at other places, the stream is not read: {why_unread(reply)}"
        yield Problem(text, finding_class="contract")
        return
    own_ids = any(str(call.get("id")).encode() not in last.answer_body for call in whole.calls)
    for difference in differences(reply, whole, own_ids=own_ids):
        yield difference.after("cut at other places, the answer differs in ")


def _recorded(trial: Trial) -> Recorded:
    return read_recorded(trial.dialect, _last(trial).answer_body)


def _last(trial: Trial) -> Exchange:
    return replayed(trial).cassette.exchanges[-1]
