"""Translation, by comparing several: pure, aliased, stable in its prefix, equivariant, sent as translated."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from random import Random
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation.conservation import as_problem
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import normal_form, same_json
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.generating.rewriting import Rewriting
from art_compliance.pointers import escape, look_up
from art_compliance.quoting import shorten
from art_compliance.subject.deadlines import start_bounded
from art_compliance.subject.observations import Observation, Refused, Sent
from art_sdk.json_data import is_array, is_object

GREETING: Final[list[dict[str, Any]]] = [{"role": "user", "content": "hello"}]


@check("translation.leaves-its-arguments-alone", clause="Translating changes neither the prompt nor the options.")
def leaves_its_arguments_alone(trial: Trial) -> Iterator[Problem]:
    """Pure: the caller's values stay the caller's."""
    called = trial.subject.has_call and trial.watched.changed
    if called or trial.subject.translating_changes(trial.scenario.prompt, trial.scenario.call_options()):
        text = "the prompt or the options were changed while translating; work on a copy"
        yield Problem(text)


@check(
    "translation.same-prompt-same-request",
    clause="The same prompt and options give the same request: again, after another prompt, and on another thread.",
    requires="sent",
)
def same_prompt_same_request(trial: Trial) -> Iterator[Problem]:
    """Pure: no clock, no randomness, no memory."""
    first = trial.sent.payload
    again = {"a second time": trial.observe(trial.scenario.prompt)}
    trial.observe(GREETING, {"thread_id": "another"})
    again["after another prompt"] = trial.observe(trial.scenario.prompt)
    if trial.subject.has_translate:
        again |= _beside_others(trial)
    for when, seen in again.items():
        if not isinstance(seen, Sent):
            text = f"{when} {shorten(str(seen))}"
            yield Problem(text)
        elif json.dumps(seen.payload) != json.dumps(first):
            pointer = first_difference(first, seen.payload)
            text = f"{when} the request is another one"
            yield Problem(text, pointer=pointer)


def _beside_others(trial: Trial) -> dict[str, Observation]:
    """Translated on other threads, beside another prompt: state that is shared shows."""
    prompts = (trial.scenario.prompt, GREETING) * 2
    options = (trial.scenario.call_options(), {"thread_id": "another"}) * 2
    begun = [start_bounded(partial(trial.observe, *given)) for given in zip(prompts, options, strict=True)]
    seen = [future.result() for future in begun]
    return {f"on thread {number}, beside another prompt,": one for number, one in enumerate(seen[::2], 1)}


@check(
    "translation.tool-means-tool-result",
    clause="The roles tool and tool_result give equal requests.",
    needs=("tools",),
)
def tool_means_tool_result(trial: Trial) -> Iterator[Problem]:
    """One role, two names."""
    swapped = [{**message, "role": _ALIAS.get(message["role"], message["role"])} for message in trial.scenario.prompt]
    if swapped == trial.scenario.prompt:
        message = "the scenario has no result"
        raise NotApplicable(message)
    if trial.subject.has_call:
        first, second = trial.arrived, trial.subject.send(swapped, trial.scenario.call_options())
    else:
        first, second = trial.observation, trial.observe(swapped)
    if isinstance(first, Refused) and isinstance(second, Refused):
        message = f"refused: {first.code}"
        raise NotApplicable(message)
    if not (isinstance(first, Sent) and isinstance(second, Sent)):
        yield Problem(f"under one name {shorten(str(first))}, under the other {shorten(str(second))}")
    elif not same_json(first.payload, second.payload):
        pointer = first_difference(first.payload, second.payload)
        yield Problem("the requests are not equal", pointer=pointer)


_ALIAS: Final = {"tool": "tool_result", "tool_result": "tool"}


@check(
    "translation.prefix-is-stable",
    clause="Appending a message changes no earlier one, beyond closing or extending the last turn.",
    requires=("dialect", "sent"),
)
def prefix_is_stable(trial: Trial) -> Iterator[Problem]:
    """Providers' prompt caches depend on it."""
    history, marks = trial.dialect.requests.history, trial.dialect.requests.marks
    whole = look_up(trial.sent.payload, history)
    if not is_array(whole):
        message = f"the request has no list at {history}"
        raise NotApplicable(message)
    longer = [_said(turn, marks) for turn in whole]
    for length in _prefix_lengths(trial.scenario.prompt):
        seen = trial.observe(trial.scenario.prompt[:length])
        shorter = look_up(seen.payload, history) if isinstance(seen, Sent) else None
        if not is_array(shorter):
            continue
        at = _first_rewritten([_said(turn, marks) for turn in shorter], longer)
        if at is not None:
            text = f"it is written otherwise when only the first {length} messages are there"
            yield Problem(text, pointer=f"{history}/{at}")
            return


_PREFIXES: Final = 8


def _prefix_lengths(prompt: list[dict[str, Any]]) -> list[int]:
    """Where the prompt could have ended, a few of them for a long one."""
    lengths = list(range(1, len(prompt)))
    return lengths[:: max(len(lengths) // _PREFIXES, 1)]


def _said(turn: Any, marks: Collection[str]) -> Any:
    """The turn without marks; a text alone is the one part that it could have been written as, to carry a mark."""
    if not is_object(turn):
        return turn
    told, content = _unmarked(turn, marks), turn.get("content")
    if isinstance(content, str):
        told["content"] = [{"type": "text", "text": content}]
    elif is_array(content):
        told["content"] = [_unmarked(part, marks) if is_object(part) else part for part in content]
    return told


def _unmarked(value: dict[str, Any], marks: Collection[str]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in marks}


def _first_rewritten(shorter: Sequence[Any], longer: Sequence[Any]) -> int | None:
    """The first turn that is not the same, the last one of the shorter being allowed to have grown."""
    for at, (one, other) in enumerate(zip(shorter, longer, strict=False)):
        grown = at == len(shorter) - 1 and _extends(one, other)
        if not (same_json(one, other) or grown):
            return at
    return len(longer) if len(shorter) > len(longer) else None


def _extends(one: Any, other: Any) -> bool:
    """Whether the turn is the other one's beginning: lists and texts may have grown at their end."""
    if is_object(one) and is_object(other):
        return all(key in other and _extends(one[key], other[key]) for key in one)
    if is_array(one) and is_array(other):
        last = len(one) - 1
        return last < 0 or (
            last < len(other) and same_json(one[:last], other[:last]) and _extends(one[last], other[last])
        )
    return same_json(one, other) or (isinstance(one, str) and isinstance(other, str) and other.startswith(one))


@check(
    "translation.follows-renaming",
    clause="Renaming ids and tools, or replacing texts, changes those in the request and nothing else.",
)
def follows_renaming(trial: Trial) -> Iterator[Problem]:
    """Equivariant: no behaviour hides in content."""
    if trial.comparison.differences:
        message = "the prompt itself does not survive: see the other checks"
        raise NotApplicable(message)
    renaming = _renaming(trial)
    prompt, options = renaming.prompt(trial.scenario.prompt), renaming.options(trial.scenario.call_options())
    seen = trial.observe(prompt, options)
    if not isinstance(seen, Sent):
        yield Problem(f"with other names and texts {shorten(str(seen))}")
        return
    try:
        decoded = trial.decode(seen)
    except DecodeFailed as error:
        yield Problem(f"with other names and texts it cannot be decoded: {error}")
        return
    for difference in trial.compare(decoded, prompt, options, seen).differences:
        if difference.loss not in trial.subject.losses:
            yield as_problem(difference)
    for pointer in sorted(decoded.opaque.keys() ^ trial.decoded.opaque.keys()):
        yield Problem("a field comes or goes with the content", pointer=pointer)
    for option in sorted({*decoded.options, *trial.decoded.options} - {"tool_choice"}):
        if not same_json(decoded.options.get(option), trial.decoded.options.get(option)):
            place = trial.decoded.places.get(f"options/{option}") or decoded.places.get(f"options/{option}")
            yield Problem(f"the option {option} changes with the content", pointer=place)


def _renaming(trial: Trial) -> Rewriting:
    """Plain words for every text, plain names for every id and tool; equal ones stay equal."""
    random = Random(f"{trial.seed} renaming {trial.scenario.id}")
    known: dict[tuple[str, str], str] = {}

    def renamed(prefix: str, text: str) -> str:
        return known.setdefault((prefix, text), f"{prefix}{random.randbytes(6).hex()}")

    return Rewriting(
        system=lambda text: renamed("plain words ", text),
        user=lambda text: renamed("plain words ", text),
        assistant=lambda text: renamed("plain words ", text),
        result=lambda text: renamed("plain words ", text),
        description=lambda text: renamed("plain words ", text),
        call_id=lambda text: renamed("call_", text),
        tool_name=lambda text: renamed("tool_", text),
    )


@check(
    "translation.order-of-answers-means-nothing",
    clause="Permuting the results of one turn's calls does not change the meaning of the request.",
    needs=("parallel_tools",),
)
def order_of_answers_means_nothing(trial: Trial) -> Iterator[Problem]:
    """Tools finish when they finish."""
    permuted = _results_reversed(trial.scenario.prompt)
    if permuted == trial.scenario.prompt:
        message = "no turn has several results"
        raise NotApplicable(message)
    decoded = trial.decoded
    seen = trial.observe(permuted)
    if not isinstance(seen, Sent):
        yield Problem(f"with the results reversed {shorten(str(seen))}")
        return
    try:
        one, other = normal_form(decoded.prompt), normal_form(trial.decode(seen).prompt)
    except DecodeFailed as error:
        yield Problem(f"with the results reversed it cannot be decoded: {error}")
        return
    for wanted, found in zip(one, other, strict=False):
        told = [(call.id, call.result and (call.result.text, call.result.status)) for call in wanted.calls]
        reply = [(call.id, call.result and (call.result.text, call.result.status)) for call in found.calls]
        if told != reply or wanted.role != found.role:
            text = "with the results reversed, a call has another result"
            yield Problem(text, path=wanted.path)
            return


def _results_reversed(prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    run: list[dict[str, Any]] = []
    for message in prompt:
        if message["role"] in _ALIAS:
            run.insert(0, message)
        else:
            told += run
            run = []
            told.append(message)
    return told + run


@check(
    "translation.sends-what-it-translates",
    clause="What arrives at the provider when the adapter is called is what translate returns.",
)
def sends_what_it_translates(trial: Trial) -> Iterator[Problem]:
    """The judged payload is the real one."""
    if trial.subject.kind != "white box":
        message = f"the adapter is {trial.subject.kind}"
        raise NotApplicable(message)
    translated, seen = trial.sent, trial.arrived
    if not isinstance(seen, Sent):
        yield Problem(f"when called, {shorten(str(seen))}")
    elif not same_json(json.loads(json.dumps(translated.payload)), seen.payload):
        pointer = first_difference(translated.payload, seen.payload)
        text = "the body that arrived is not the payload"
        yield Problem(text, pointer=pointer)


@check(
    "translation.one-call-one-request",
    clause="A call sends one request, and no other.",
    requires=("call", "sent"),
)
def one_call_one_request(trial: Trial) -> Iterator[Problem]:
    """What is asked twice is paid twice."""
    seen = trial.arrived
    if isinstance(seen, Sent) and seen.count != 1:
        yield Problem(f"{seen.count} requests arrived")


def first_difference(one: Any, other: Any, pointer: str = "") -> str:
    """Where two JSON values first part."""
    if is_object(one) and is_object(other):
        for key in {**one, **other}:
            if not same_json(one.get(key, ...), other.get(key, ...)):
                return first_difference(one.get(key), other.get(key), f"{pointer}/{escape(key)}")
    if is_array(one) and is_array(other):
        for at, (a, b) in enumerate(zip(one, other, strict=False)):
            if not same_json(a, b):
                return first_difference(a, b, f"{pointer}/{at}")
    return pointer
