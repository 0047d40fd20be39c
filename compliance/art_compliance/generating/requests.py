"""Generated requests as scenarios, so that the checks of scenarios can judge them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import msgspec

from art_compliance.comparison.normal_form import Entry, normal_form
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_sdk import Capability, parse_prompt

Family = Literal[
    "generated-conversations",
    "generated-broken-conversations",
    "generated-answers",
    "generated-dialogues",
]


class Request(NamedTuple):
    """A prompt and its options as JSON data. `turns` are the answers to it, with what follows each."""

    prompt: list[dict[str, Any]]
    options: dict[str, Any]
    turns: Sequence[dict[str, Any]] = ()


_OUTCOMES: Final[dict[str, tuple[str, ...]]] = {"default": ("exact", "refused:PROMPT_TRANSLATION_FAILED")}
_PURPOSES: Final[Mapping[Family, str]] = {
    "generated-conversations": "Prompts made by Hypothesis: whole conversations that keep every rule.",
    "generated-broken-conversations": "Prompts made by Hypothesis: well-formed, each breaking one conversation rule.",
    "generated-answers": "Answers made by Hypothesis: texts, calls with rich arguments, reasoning, whole or cut.",
    "generated-dialogues": "Dialogues made by Hypothesis: up to 20 turns, each with the answers before it.",
}
FAMILIES: Final[Mapping[str, Scenario]] = {
    name: Scenario(id=name, group="generated", purpose=purpose, prompt=[], outcomes=_OUTCOMES)
    for name, purpose in _PURPOSES.items()
}
"""The scenario that stands for each family: its prompts are made while the suite runs."""


def as_scenario(family: str, request: Request) -> Scenario:
    """A request as a separate scenario, with its first answer. Declared repairs and refusals are right outcomes."""
    prompt, options, turns = request
    own_options = {name: value for name, value in options.items() if name != "thread_id"}
    answer = msgspec.convert(turns[0]["answer"], WrittenAnswer) if turns else None
    return Scenario(
        id=family,
        group="generated",
        purpose=_PURPOSES[family],  # type: ignore[index]
        prompt=prompt,
        options=own_options,
        needs=tuple(needs_of(prompt, own_options)),
        outcomes=_OUTCOMES,
        answer=answer,
    )


def needs_of(prompt: list[dict[str, Any]], options: dict[str, Any]) -> Iterator[Capability]:
    """The capabilities that a prompt and its options use."""
    entries = normal_form(parse_prompt(prompt))
    calls = [len(entry.calls) for entry in entries]
    uses: dict[Capability, bool] = {
        "system": any(entry.role == "system" for entry in entries),
        "late_system": _has_late_system(entries) and options.get("late_system") != "hoist",
        "tools": any(calls) or bool(options.get("tools")),
        "parallel_tools": max(calls, default=0) > 1,
        "images": any(entry.images for entry in entries),
        "tool_choice": options.get("tool_choice") is not None,
        "streaming": options.get("stream", False),
        "response_schema": options.get("response_schema") is not None,
        "stop": bool(options.get("stop")),
        "prefill": bool(entries) and entries[-1].role == "assistant" and not entries[-1].calls,
        "provider_fields": any(options.get("provider", {}).values()),
    }
    return (capability for capability, is_used in uses.items() if is_used)


def _has_late_system(entries: list[Entry]) -> bool:
    roles = [entry.role == "system" for entry in entries]
    return any(one and not before for before, one in pairwise(roles))
