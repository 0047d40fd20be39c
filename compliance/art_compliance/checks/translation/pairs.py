"""Translation of options that come together: any three of their values occur in one of a few calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from random import Random
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.limits import OPTIONS_AT_ONCE, ROWS_DRAWN
from art_compliance.checks.translation import conservation
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.translation.losses import losses_of
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_sdk import Capability

Row = dict[str, str]
"""A value per factor, each by its name."""

Call = tuple[str, list[dict[str, Any]], dict[str, Any]]
"""What a call has, in words, its prompt and its options."""


@check(
    "translation.options-survive-together",
    clause="Options, tools, history and streaming are all sent, however they are combined; or the call is refused.",
    requires=("dialect", "sent"),
    once=True,
    leaves_to=(*CAUSES, conservation.options_survive),
)
def options_survive_together(trial: Trial) -> Iterator[Problem]:
    """A response schema that is lost in streams alone is found by those who stream."""
    reported: set[str] = set()
    for used, prompt, options in (*_all_together(trial), *_with_reasoning(trial)):
        for problem in losses_of(trial, prompt, options):
            if problem.message not in reported and not trial.is_known(problem.message):
                reported.add(problem.message)
                yield problem.after(f"with {used}: ")


def _all_together(trial: Trial) -> Iterator[Call]:
    factors = _factors_of(trial)
    names = {name: tuple(values) for name, values in factors.items()}
    for row in covering_rows(names, Random(trial.seed), OPTIONS_AT_ONCE):
        used = ", ".join(f"{name}: {value}" for name, value in row.items() if value != _NONE)
        yield used or "no options", *_call_of(trial, row, factors)


def _with_reasoning(trial: Trial) -> Iterator[Call]:
    """Each option beside the fields that switch the provider's reasoning on, and each other value of those fields.

    Many adapters refuse some of these.
    """
    if not trial.dialect.requests.reasoning_fields or "provider_fields" not in trial.subject.capabilities:
        return
    on, *others = ({"provider": {trial.dialect.name: one}} for one in trial.dialect.requests.reasoning_fields)
    for used, prompt, options in calls_beside(trial, on):
        yield f"reasoning, {used}", prompt, options
    for other in others:
        yield "another value for reasoning", list(trial.scenario.prompt), {**trial.options, **other}


def calls_beside(trial: Trial, options: dict[str, Any]) -> Iterator[Call]:
    """Each value of each option alone, beside these options."""
    factors = _factors_of(trial)
    tools = {"tools": "two"} if "tools" in factors else {}
    for name, values in factors.items():
        for value in values if name != _OWN else ():
            prompt, own = _call_of(trial, {**tools, name: value}, factors)
            yield f"{name}: {value}", prompt, {**own, **options}


def calls_together(trial: Trial, random: Random, size: int) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Prompts and options in which all values of any `size` options occur together."""
    factors = _factors_of(trial)
    for row in covering_rows({name: tuple(values) for name, values in factors.items()}, random, size):
        yield _call_of(trial, row, factors)


def _call_of(
    trial: Trial, row: Row, factors: Mapping[str, Mapping[str, dict[str, Any]]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The prompt and the options of a row."""
    options: dict[str, Any] = {"thread_id": trial.id_of("together")}
    for name, value in row.items():
        options |= factors[name][value]
    prompt = options.pop("prompt", _GREETING)
    if "system" not in trial.subject.capabilities:
        prompt = prompt[1:]
    if options.get("stream") and row.get(_OWN, _NONE) != _NONE:
        options["provider"] = _own_of_streams(trial)
    for name in ("tool_choice", "parallel_tool_calls") if "tools" not in options else ():
        options.pop(name, None)
    return prompt, options


def _own_of_streams(trial: Trial) -> dict[str, Any]:
    """Fields of the provider's own, with those that say how it streams."""
    return {trial.dialect.name: {**trial.dialect.requests.own_fields, **trial.dialect.requests.stream_fields}}


_NONE: Final = "none"
_OWN: Final = "own fields"
_GREETING: Final[list[dict[str, Any]]] = [
    {"role": "system", "content": "You answer in one word."},
    {"role": "user", "content": "Where is the moon?"},
]
_AFTER_A_TOOL: Final[list[dict[str, Any]]] = [
    *_GREETING,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":"sky"}'}}],
    },
    {"role": "tool_result", "tool_call_id": "call_1", "name": "look", "content": "It is behind a cloud."},
]
_TWO_USERS: Final[list[dict[str, Any]]] = [
    *_GREETING,
    {"role": "user", "content": "And where is the sun?"},
    {"role": "assistant", "content": "Below."},
    {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": " Mars?"}]},
]
_TOOLS: Final = [
    {
        "name": name,
        "description": f"To {name}.",
        "inputSchema": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
    }
    for name in ("look", "listen")
]
_SCHEMA: Final = {
    "type": "object",
    "properties": {"where": {"type": "string"}},
    "required": ["where"],
    "additionalProperties": False,
}

_FACTORS: Final[Mapping[str, tuple[tuple[Capability, ...], Mapping[str, dict[str, Any]]]]] = {
    "tools": (("tools",), {_NONE: {}, "two": {"tools": _TOOLS}}),
    "tool_choice": (
        ("tools", "tool_choice"),
        {
            _NONE: {},
            "auto": {"tool_choice": "auto"},
            "required": {"tool_choice": "required"},
            "named": {"tool_choice": "look"},
            "forbidden": {"tool_choice": "none"},
        },
    ),
    "parallel_tool_calls": (("tools", "parallel_tools"), {_NONE: {}, "no": {"parallel_tool_calls": False}}),
    "history": (("tools",), {_NONE: {}, "a call": {"prompt": _AFTER_A_TOOL}, "two users": {"prompt": _TWO_USERS}}),
    "stream": (("streaming",), {_NONE: {}, "yes": {"stream": True}}),
    "response_schema": (("response_schema",), {_NONE: {}, "given": {"response_schema": _SCHEMA}}),
    "temperature": ((), {_NONE: {}, "0": {"temperature": 0.0}, "0.3": {"temperature": 0.3}}),
    "top_p": ((), {_NONE: {}, "0.7": {"top_p": 0.7}}),
    "max_tokens": ((), {_NONE: {}, "77": {"max_tokens": 77}}),
    "stop": (("stop",), {_NONE: {}, "two": {"stop": ["HALT, or not", "\n\nEND"]}}),
    "model": ((), {_NONE: {}, "another": {"model": "another-model"}}),
}
"""For each factor the capabilities that it needs, and its values as options of the call."""


def _factors_of(trial: Trial) -> Mapping[str, Mapping[str, dict[str, Any]]]:
    """The factors whose capabilities the adapter declares, and, if it can, fields of the provider's own."""
    declared = trial.subject.capabilities
    factors = {name: values for name, (needs, values) in _FACTORS.items() if declared.issuperset(needs)}
    if "provider_fields" in declared and trial.dialect.requests.own_fields:
        own = {trial.dialect.name: trial.dialect.requests.own_fields}
        factors[_OWN] = {_NONE: {}, "given": {"provider": own}}
    return factors


def covering_rows(factors: Mapping[str, Sequence[str]], random: Random, size: int = 2) -> Iterator[Row]:
    """Rows in which all values of any `size` factors occur together, chosen greedily: each takes the most new ones."""
    names = list(factors)
    open_groups = {
        tuple(zip(group, values, strict=True))
        for group in combinations(names, size)
        for values in product(*(factors[name] for name in group))
    }
    while open_groups:
        drawn = ({name: random.choice(factors[name]) for name in names} for _ in range(ROWS_DRAWN))
        row = max(drawn, key=lambda one: sum(map(open_groups.__contains__, combinations(one.items(), size))))
        row |= dict(min(open_groups))  # so that every row takes at least one
        open_groups -= set(combinations(row.items(), size))
        yield row
