"""Replay: a call that was recorded once is made again, and answered as it was answered then, without a network.

Whether that says anything of the world outside depends on who gave the answers: the level `replay` counts
only where a real provider or engine did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, Final

from art_compliance.answered import Answered
from art_compliance.cassettes import BadCassette, Exchange, scenario_digest
from art_compliance.cassettes.bodies import json_of, stream_items
from art_compliance.cassettes.matching import Asked, describe_mismatch, is_same
from art_compliance.checks.answer_laws import wrong_ids, wrong_order
from art_compliance.checks.base import Check, check
from art_compliance.checks.trial import NotApplicable, Replayed, Trial
from art_compliance.findings import Finding
from art_compliance.pointers import leaves, look_up
from art_compliance.subjects import Crashed, Refused
from art_sdk import ARTError, parse_prompt


@check(
    "replay.cassette-is-sound",
    clause="The scenario's cassette can be read, each of its requests is made once, and none matches two answers.",
)
def cassette_is_sound(trial: Trial) -> Iterator[Finding]:
    """What is wrong here is wrong with the file, or the adapter does not ask what it asked."""
    name = "replay.cassette-is-sound"
    try:
        replayed = trial.replayed
    except BadCassette as error:
        yield Finding(check=name, message=str(error))
        return
    path = replayed.cassette.path
    asked = [Asked.of(one) for one in replayed.cassette.exchanges]
    for (at, one), (other, twin) in combinations(enumerate(asked), 2):
        if is_same(trial.dialect, one, twin):
            text = f"{path}: interactions[{at}] and interactions[{other}] match one request: which answers is chance"
            yield Finding(check=name, message=f"{text}; {_again(trial)}")
    mismatched = len(replayed.asked) > len(asked) - len(replayed.unplayed)
    for at in replayed.unplayed if not mismatched else ():
        text = f"{path}: interactions[{at}] was never asked for: the adapter asks less than it did"
        yield Finding(check=name, message=f"{text}; mend the adapter, or {_again(trial)}")


@check(
    "replay.request-is-the-recorded-one",
    clause="The request means what the recorded one means: their normal forms are equal.",
)
def request_is_the_recorded_one(trial: Trial) -> Iterator[Finding]:
    """Shown as the difference that it is, and with the choice that it leaves."""
    replayed = _replayed(trial)
    recorded = [Asked.of(one) for one in replayed.cassette.exchanges]
    for asked in replayed.asked:
        if any(is_same(trial.dialect, one, asked) for one in recorded):
            continue
        nearest = next((recorded[at] for at in replayed.unplayed), recorded[0])
        told = describe_mismatch(trial.dialect, nearest, asked)
        message = f"the request is not the one in {replayed.cassette.path}:\n    {told}\n    {_choice(trial, replayed)}"
        yield Finding(check="replay.request-is-the-recorded-one", message=message)


def _choice(trial: Trial, replayed: Replayed) -> str:
    known = replayed.cassette.provenance
    if known is not None and known.digest != scenario_digest(trial.scenario):
        return f"the scenario has changed since: {_again(trial)}"
    return f"either the adapter regressed, then mend it; or the change is meant, then {_again(trial)}"


def _again(trial: Trial) -> str:
    return f"record again: art record {trial.subject.name} --scenarios {trial.scenario.id}"


def _on_answer(name: str, clause: str) -> Callable[[Callable[[Trial, Answered], Iterator[str]]], Check]:
    """Declares a check that looks at what was read out of the recorded answer, and tells what is wrong in words."""

    def declare(look: Callable[[Trial, Answered], Iterator[str]]) -> Check:
        @check(name, clause=clause)
        def run(trial: Trial) -> Iterator[Finding]:
            for message in look(trial, trial.require_answered(_played(trial).heard)):
                yield Finding(check=name, message=message)

        return run

    return declare


@check("replay.answer-is-read", clause="The recorded answer is read without an error.")
def answer_is_read(trial: Trial) -> Iterator[Finding]:
    """A recorded answer is what the provider really says."""
    heard = _played(trial).heard
    if isinstance(heard, (Refused, Crashed)):
        yield Finding(check="replay.answer-is-read", message=str(heard))
    elif heard.error is not None:
        text = f"call gave an ERROR event: {heard.error.get('message')}"
        yield Finding(check="replay.answer-is-read", message=text)


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
    if answered.told_text != (answered.text or ""):
        yield f"the tokens are {answered.told_text!r}, the message's content is {answered.text!r}"
    if list(map(_said, answered.told_calls)) != list(map(_said, answered.calls)):
        yield f"{len(answered.told_calls)} calls were told, and they are not the {len(answered.calls)} of the message"
    told = f"{answered.told_text}\n{answered.told_thinking}"
    for pointer, text in _texts(_last(trial)):
        if text not in told:
            yield f"the text at {pointer} of the recorded answer was not told whole: {text[:60]!r}"


def _said(call: dict[str, Any]) -> tuple[Any, ...]:
    function: dict[str, Any] = call.get("function") or {}
    return call.get("id"), function.get("name"), function.get("arguments")


def _texts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """The texts of an answer that came whole: a stream's come in pieces."""
    for pointer, value in leaves(json_of(exchange.answer_body)):
        steps = pointer.split("/")
        is_first = not {"choices", "candidates"} & set(steps[1:2]) or steps[2:3] == ["0"]
        if steps[-1] in ("content", "text") and isinstance(value, str) and value and is_first:
            yield pointer, value


@_on_answer(
    "replay.tokens-are-counted",
    "METADATA tells the token counts of the recorded answer: the whole prompt's, and all that was generated.",
)
def tokens_are_counted(trial: Trial, answered: Answered) -> Iterator[str]:
    """Against the answer's own count."""
    counted = _usage(trial)
    if not any(counted.values()):
        message = "the recorded answer counts no tokens"
        raise NotApplicable(message)
    for name, count in counted.items():
        if answered.metadata.get(name) != count:
            yield f"{name} is {answered.metadata.get(name)!r}, the recorded answer counts {count}"


_USAGE: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "openai-chat": {"input_tokens": ("/usage/prompt_tokens",), "output_tokens": ("/usage/completion_tokens",)},
    "anthropic-messages": {
        "input_tokens": (
            "/usage/input_tokens",
            "/usage/cache_creation_input_tokens",
            "/usage/cache_read_input_tokens",
        ),
        "output_tokens": ("/usage/output_tokens",),
    },
    "gemini-generate": {
        "input_tokens": ("/usageMetadata/promptTokenCount", "/usageMetadata/toolUsePromptTokenCount"),
        "output_tokens": ("/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount"),
    },
}
"""Where an answer counts, by dialect: each count is the sum of these. A stream counts on; its last word holds."""


def _usage(trial: Trial) -> dict[str, int]:
    body = _last(trial).answer_body
    whole = json_of(body)
    items: list[Any] = list(stream_items(body)) if whole is None else [whole]
    return {
        name: sum(_last_count(items, pointer) for pointer in pointers)
        for name, pointers in _USAGE[trial.dialect.name].items()
    }


def _last_count(items: list[Any], pointer: str) -> int:
    found = [look_up(item, f"{root}{pointer}") for item in items for root in ("", "/message")]
    return next((count for count in reversed(found) if isinstance(count, int)), 0)


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
