"""Translation, by comparing requests: pure, with a stable beginning, and sent as translated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final, NamedTuple
from zlib import crc32

import msgspec

from art_compliance.checks.base import check, leave_to
from art_compliance.checks.requirements import NotApplicable, why_unsent
from art_compliance.checks.translation.conservation import CAUSES, as_problem
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import Entry, normal_form, same_json
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.generating.rewriting import Rewriting
from art_compliance.pointers import escape
from art_compliance.quoting import shorten
from art_compliance.subject.observations import Crashed, Observation, Refused, Sent
from art_sdk.json_data import is_array, is_object

GREETING: Final[list[dict[str, Any]]] = [{"role": "user", "content": "hello"}]


@check(
    "translation.leaves-its-arguments-alone",
    clause="Translating changes neither the prompt nor the options.",
    requires="python",
)
def leaves_its_arguments_alone(trial: Trial) -> Iterator[Problem]:
    """They belong to the caller."""
    called = trial.subject.has_call and trial.watched.changed
    if called or (trial.subject.has_translate and trial.once(_translate_again).changed):
        yield Problem("translating changed the prompt or the options; work on a copy")


@check(
    "translation.same-prompt-same-request",
    clause="The same prompt and options give the same request: again, after another prompt, and on another thread.",
    finding_class="contract",
    requires="sent",
)
def same_prompt_same_request(trial: Trial) -> Iterator[Problem]:
    """No clock, no randomness, no memory."""
    again = trial.once(_translate_again)
    others = _beside_others(trial) if trial.subject.has_translate and _is_fourth(trial) else {}
    yield from (*again.faults, *_differences(trial, others))


class _Again(NamedTuple):
    """Of the scenario's prompt, translated again: whether it was changed, and how the requests are not the first."""

    changed: bool
    faults: list[Problem]


def _translate_again(trial: Trial) -> _Again:
    asked = trial.scenario.prompt, trial.options
    second, _, third = trial.subject.watch_translations([asked, _another(trial), asked])
    again = {"a second time": second.observation, "after another prompt": third.observation}
    faults = list(_differences(trial, again)) if isinstance(trial.observation, Sent) else []
    return _Again(second.changed or third.changed, faults)


def _differences(trial: Trial, again: Mapping[str, Observation]) -> Iterator[Problem]:
    """How these observations, each with the words for when it was made, are not the first request."""
    first = trial.sent.payload
    written = _written(first) if again else None
    for when, seen in again.items():
        if not isinstance(seen, Sent):
            yield Problem(f"{when} {shorten(str(seen))}")
        elif _written(seen.payload) != written:
            pointer = first_difference(first, seen.payload)
            yield Problem(f"{when} the request is different", pointer=pointer)


def _another(trial: Trial) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Another prompt, with its options."""
    return GREETING, {"thread_id": trial.id_of("another")}


def _written(payload: Any) -> bytes | None:
    """The payload with the order of its keys, or None where it cannot be written: the first one always can."""
    try:
        return _ENCODER.encode(payload)
    except (TypeError, ValueError, RecursionError):
        return None


_ENCODER: Final = msgspec.json.Encoder()


def _beside_others(trial: Trial) -> dict[str, Observation]:
    """Translates on other threads at the same time as another prompt, which reveals shared state."""
    given = [(trial.scenario.prompt, trial.options), _another(trial)] * 2
    seen = trial.subject.translate_together(given)
    return {f"on thread {number}, next to another prompt,": one for number, one in enumerate(seen[::2], 1)}


@check(
    "translation.tool-means-tool-result",
    clause="The roles tool and tool_result give equal requests.",
    finding_class="contract",
    needs=("tools",),
)
def tool_means_tool_result(trial: Trial) -> Iterator[Problem]:
    """They are two names of one role."""
    leave_to(trial, same_prompt_same_request, sends_what_it_translates)
    swapped = [{**message, "role": _ALIAS.get(message["role"], message["role"])} for message in trial.scenario.prompt]
    if swapped == trial.scenario.prompt:
        raise NotApplicable("the scenario has no result")
    if _is_called(trial):
        first, second = trial.arrived, trial.subject.send(swapped, trial.options)
    else:
        first, second = trial.observation, trial.observe(swapped)
    if isinstance(first, Crashed):
        raise NotApplicable(str(why_unsent(first)))
    if isinstance(first, Refused) and isinstance(second, Refused):
        raise NotApplicable(f"refused: {first.code}")
    if not (isinstance(first, Sent) and isinstance(second, Sent)):
        yield Problem(f"with the one name {shorten(str(first))}, with the other {shorten(str(second))}")
    elif not same_json(first.payload, second.payload):
        pointer = first_difference(first.payload, second.payload)
        yield Problem("the requests are not equal", pointer=pointer)


_ALIAS: Final = {"tool": "tool_result", "tool_result": "tool"}


def _is_called(trial: Trial) -> bool:
    """Whether a call shows the request. Of a white box, which sends what it translates, every fourth scenario does."""
    return trial.subject.has_call and (trial.subject.kind != "white box" or _is_fourth(trial))


def _is_fourth(trial: Trial) -> bool:
    """Whether the scenario is generated, or among a quarter of the others: they try what depends little on it."""
    return trial.scenario.group == "generated" or crc32(trial.scenario.id.encode()) % 4 == 0


@check(
    "translation.follows-renaming",
    clause="Renaming ids and tools, or replacing texts, changes nothing else in the request.",
    requires="sendable",
    finding_class="contract",
    leaves_to=CAUSES,
)
def follows_renaming(trial: Trial) -> Iterator[Problem]:
    """The adapter must not behave differently for certain contents."""
    if trial.comparison.differences:
        raise NotApplicable("the prompt itself is not sent whole: see the other checks")
    renaming = _renaming(trial)
    prompt, options = renaming.prompt(trial.scenario.prompt), renaming.options(trial.options)
    seen = trial.observe(prompt, options)
    if not isinstance(seen, Sent):
        yield Problem(f"with other names and texts {shorten(str(seen))}")
        return
    try:
        decoded = trial.decode(seen)
    except DecodeFailed as error:
        yield Problem(f"with other names and texts the request cannot be decoded: {error}")
        return
    for difference in trial.compare(decoded, prompt, options, seen).differences:
        if difference.loss not in trial.subject.losses:
            yield as_problem(difference)
    for pointer in sorted(decoded.opaque.keys() ^ trial.decoded.opaque.keys()):
        yield Problem("whether the field is there depends on the content", pointer=pointer)
    for option in sorted({*decoded.options, *trial.decoded.options} - {"tool_choice"}):
        if not same_json(decoded.options.get(option), trial.decoded.options.get(option)):
            place = trial.decoded.places.get(f"options/{option}") or decoded.places.get(f"options/{option}")
            yield Problem(f"the option {option} depends on the content", pointer=place)


def _renaming(trial: Trial) -> Rewriting:
    """Replaces every text by plain words and every id and tool by a plain name; what was equal stays equal."""
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
    "translation.result-order-does-not-matter",
    clause="Reordering the results of one turn's calls does not change the meaning of the request.",
    requires="sendable",
    needs=("parallel_tools",),
    leaves_to=CAUSES,
)
def result_order_does_not_matter(trial: Trial) -> Iterator[Problem]:
    """Tools finish in any order."""
    permuted = _results_reversed(trial.scenario.prompt)
    if permuted == trial.scenario.prompt:
        raise NotApplicable("no turn has several results")
    decoded = trial.decoded
    seen = trial.observe(permuted)
    if not isinstance(seen, Sent):
        yield Problem(f"with the results reversed {shorten(str(seen))}", finding_class="contract")
        return
    try:
        one, other = normal_form(decoded.prompt), normal_form(trial.decode(seen).prompt)
    except DecodeFailed as error:
        text = f"with the results reversed the request cannot be decoded: {error}"
        yield Problem(text, finding_class="refused")
        return
    for wanted, found in zip(one, other, strict=False):
        if wanted.role != found.role or _results(wanted) != _results(found):
            yield Problem("with the results reversed, a call has the wrong result", path=wanted.path)
            return


def _results(entry: Entry) -> list[tuple[str, Any]]:
    return [(call.id, call.result and (call.result.text, call.result.status)) for call in entry.calls]


def _results_reversed(prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    reordered: list[dict[str, Any]] = []
    run: list[dict[str, Any]] = []
    for message in prompt:
        if message["role"] in _ALIAS:
            run.insert(0, message)
        else:
            reordered += [*run, message]
            run = []
    return reordered + run


@check(
    "translation.sends-what-it-translates",
    clause="A call sends the provider what translate returns.",
    finding_class="contract",
    leaves_to=(same_prompt_same_request,),
)
def sends_what_it_translates(trial: Trial) -> Iterator[Problem]:
    """The payload that is judged must be the real one; where the adapter streams inside, that of a stream."""
    if trial.subject.kind != "white box":
        raise NotApplicable(f"the adapter is {trial.subject.kind}")
    translated, seen = trial.sent, trial.arrived
    if not isinstance(seen, Sent):
        yield Problem(f"when called, {shorten(str(seen))}")
    elif not (is_sent(translated, seen) or is_sent(_streamed(trial), seen)):
        pointer = first_difference(translated.payload, seen.payload)
        yield Problem("the body that arrived is not the payload", pointer=pointer)


def is_sent(translated: Observation, seen: Sent) -> bool:
    """Whether the body that arrived is the payload that was translated."""
    return isinstance(translated, Sent) and same_json(json.loads(json.dumps(translated.payload)), seen.payload)


def _streamed(trial: Trial) -> Observation:
    return trial.observe(trial.scenario.prompt, {**trial.options, "stream": True})


@check(
    "translation.one-call-one-request",
    clause="A call sends exactly one request.",
    finding_class="contract",
    requires=("call", "sent"),
)
def one_call_one_request(trial: Trial) -> Iterator[Problem]:
    """Two requests are paid twice."""
    seen = trial.arrived
    if isinstance(seen, Sent) and seen.count != 1:
        yield Problem(f"{seen.count} requests arrived")


def first_difference(one: Any, other: Any, pointer: str = "") -> str:
    """The JSON pointer to the first difference of two JSON values."""
    if is_object(one) and is_object(other):
        for key in {**one, **other}:
            if not same_json(one.get(key, ...), other.get(key, ...)):
                return first_difference(one.get(key), other.get(key), f"{pointer}/{escape(key)}")
    if is_array(one) and is_array(other):
        for at, (a, b) in enumerate(zip(one, other, strict=False)):
            if not same_json(a, b):
                return first_difference(a, b, f"{pointer}/{at}")
    return pointer
