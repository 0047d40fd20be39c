"""Translation: laws of single declarations, on prompts made for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation import conservation
from art_compliance.checks.translation.laws import first_difference
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.findings import Example, Problem
from art_compliance.generating.call_ids import ids_called
from art_compliance.quoting import shorten
from art_compliance.scenarios import Scenario
from art_compliance.subject.observations import Refused, Sent

ODD_NAMES: Final[tuple[tuple[str, ...], ...]] = (
    ("get_weather", "get.weather", "get weather", "get-weather", "get/weather", "get__weather"),
    ("a" * 70 + "1", "a" * 70 + "2"),
    ("wetter_k\u00f6ln", "wetter_k\u00e4ln", "\u5929\u6c17"),
    ("1st_look", "-st_look", "_st_look"),
    ("getWeather", "get.Weather"),
)
"""Tool names that providers reject, and that are easily made equal when they are cleaned."""


def with_tools(trial: Trial, names: Sequence[str], *, chooses: bool = True) -> Trial:
    """A trial whose prompt calls each of these tools once, and chooses the last one, if an adapter can choose."""
    tools = [{"name": name, "description": "Looks.", "inputSchema": _ANYTHING} for name in names]
    calls = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for at, name in enumerate(names)
    ]
    prompt: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for call in calls:
        prompt += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool_result", "tool_call_id": call["id"], "content": "seen"},
        ]
    can_choose = chooses and "tool_choice" in trial.subject.capabilities
    choice = {"tool_choice": names[-1]} if can_choose else {}
    asked = Scenario(
        id=trial.scenario.id,
        purpose="Tools with names that the provider may refuse.",
        prompt=[*prompt, {"role": "user", "content": "Look again."}],
        options={"tools": tools, **choice},
        outcomes={"default": ("exact",)},
    )
    return Trial(trial.subject, asked, trial.seed)


_ANYTHING: Final[dict[str, Any]] = {"type": "object", "properties": {"at": {"type": "string"}}}


def renamed_trials(trial: Trial) -> list[Trial]:
    """The trials whose tools the adapter renames, of those with odd names. Raises NotApplicable if it renames none."""
    if "renames_tools" not in trial.subject.repairs:
        raise NotApplicable("not declared: renames_tools")
    sent = [one for one in trial.once(odd_trials) if isinstance(one.observation, Sent)]
    renamed = [one for one in sent if "renames_tools" in one.comparison.repairs]
    if not renamed:
        raise NotApplicable("the adapter sends the odd names unchanged, or refuses them")
    return renamed


def odd_trials(trial: Trial) -> list[Trial]:
    """A trial for each group of odd names. Where no tool can be chosen by its name (Cohere), none is."""
    return [_odd_trial(trial, names) for names in ODD_NAMES]


def _odd_trial(trial: Trial, names: Sequence[str]) -> Trial:
    chosen = with_tools(trial, names)
    return with_tools(trial, names, chooses=False) if isinstance(chosen.observation, Refused) else chosen


@check(
    "translation.renamed-tools-stay-distinct",
    clause="An adapter that renames tools sends each tool under one unique name, the same everywhere in the request.",
    requires="dialect",
    once=True,
)
def renamed_tools_stay_distinct(trial: Trial) -> Iterator[Problem]:
    """In the list of tools, in the choice of a tool, in earlier calls. Two tools under one name cannot be undone."""
    for one in trial.once(odd_trials) if "renames_tools" in trial.subject.repairs else ():
        yield from conservation.is_total.run(one)
    for one in renamed_trials(trial):
        yield from _differences(one)


ODD_IDS: Final = ("call_" + "w" * 60, "call.1", "a b", "toolu_01A09q90qw90lq917835lq9", "x", "\u00e9")
"""Call ids that providers reject, each another one, so that an adapter sends others for them."""


def with_call_ids(trial: Trial, call_ids: Sequence[str]) -> Trial:
    """A trial whose prompt has one call with each of these ids, and its result."""
    prompt: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for at, call_id in enumerate(call_ids):
        call = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": f'{{"at": "{at}"}}'}}
        prompt += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool_result", "tool_call_id": call_id, "content": f"seen {at}"},
        ]
    asked = Scenario(
        id=trial.scenario.id,
        purpose="Call ids that the provider may refuse.",
        prompt=[*prompt, {"role": "user", "content": "Look again."}],
        options={"tools": [{"name": "look", "description": "Looks.", "inputSchema": _ANYTHING}]},
        outcomes={"default": ("exact",)},
    )
    return Trial(trial.subject, asked, trial.seed)


def _mapped_ids(trial: Trial) -> list[tuple[str, str]]:
    """Ids of the prompt, and those that are sent for them."""
    if not isinstance(trial.observation, Sent):
        return []
    own, sent = list(map(_call_ids, (trial.scenario.prompt, msgspec.to_builtins(trial.decoded.prompt))))
    return [(one, other) for one, other in zip(own, sent, strict=False) if one != other]


def _call_ids(prompt: Sequence[dict[str, Any]]) -> list[str]:
    return [call_id for message in prompt for call_id in ids_called(message)]


@check(
    "translation.mapped-ids-stay-distinct",
    clause="An id that the adapter substitutes never collides with an id in the prompt.",
    requires="dialect",
    once=True,
)
def mapped_ids_stay_distinct(trial: Trial) -> Iterator[Problem]:
    """Two calls under one id mix their results up. Nobody meets the hash of an id, so such ids are not tried."""
    if "maps_call_ids" not in trial.subject.repairs:
        raise NotApplicable("not declared: maps_call_ids")
    trials = [with_call_ids(trial, [call_id]) for call_id in ODD_IDS]
    mapped = [pair for one in trials for pair in _mapped_ids(one)]
    if not mapped:
        raise NotApplicable("the adapter sends the odd ids unchanged, or refuses them")
    substitutes = [substitute for _, substitute in mapped]
    for pair in (one for one in mapped if substitutes.count(one[1]) > 1 or _is_made_of(*one)):
        for one in (with_call_ids(trial, pair), with_call_ids(trial, pair[::-1])):
            yield from conservation.is_total.run(one)
            if isinstance(one.observation, Sent):
                yield from _differences(one)


def _is_made_of(call_id: str, substitute: str) -> bool:
    """Whether the substitute's letters and digits are those of the id, in order: it was cut, or freed of signs."""
    rest = iter(call_id)
    return all(letter in rest for letter in substitute if letter.isalnum())


def _differences(trial: Trial) -> Iterator[Problem]:
    """What the comparison finds beyond the declared losses, with its prompt and request."""
    example = Example(prompt=trial.scenario.prompt, options=trial.options, payload=trial.sent.payload)
    for difference in trial.comparison.differences:
        if difference.loss not in trial.subject.losses:
            yield msgspec.structs.replace(conservation.as_problem(difference), example=example)


@check(
    "translation.inner-streams-change-nothing-else",
    clause="An adapter that streams inside requests a stream every time, and changes nothing else in the request.",
    finding_class="contract",
    requires="dialect",
    once=True,
)
def inner_streams_change_nothing_else(trial: Trial) -> Iterator[Problem]:
    """With the option `stream` the same request is sent. Undeclared it is a note, as nothing is lost by it."""
    if "streams_inside" not in trial.subject.repairs:
        if not (isinstance(trial.observation, Sent) and trial.decoded.options.get("stream")):
            raise NotApplicable("not declared: streams_inside")
        text = "the adapter asks for a stream where the call does not; add 'streams_inside' to its repairs to say so"
        yield Problem(text, severity="note")
        return
    for one in (trial, with_tools(trial, ["look", "see"])):
        if isinstance(one.observation, Sent):
            request = _request(one)
            for problem in _stream_problems(one, request):
                example = Example(
                    prompt=one.scenario.prompt, options=one.scenario.call_options(), payload=request.payload
                )
                yield msgspec.structs.replace(problem, example=example)


def _request(trial: Trial) -> Sent:
    """What arrives where the adapter is called, as it may ask for the stream then."""
    arrived = trial.arrived if trial.subject.kind == "white box" else trial.observation
    return arrived if isinstance(arrived, Sent) else trial.sent


def _stream_problems(trial: Trial, request: Sent) -> Iterator[Problem]:
    if trial.decode(request).options.get("stream") is not True:
        yield Problem("the adapter declares streams_inside, but this request does not ask for a stream")
        return
    if "streaming" not in trial.subject.capabilities:
        return
    seen = trial.observe(trial.scenario.prompt, {**trial.options, "stream": True})
    if not isinstance(seen, Sent):
        yield Problem(f"with the option stream {shorten(str(seen))}")
    elif not same_json(seen.payload, request.payload):
        pointer = first_difference(request.payload, seen.payload)
        yield Problem("with the option stream the request is different", pointer=pointer)
