"""What a check is: one decorated function that is given a trial and yields what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from art_compliance.checks.trial import Trial
from art_compliance.findings import Finding, Problem
from art_compliance.scenarios import Level, Scenario
from art_sdk import Capability
from art_sdk.json_data import is_array

Stage = Literal[
    "preflight",
    "translation",
    "wire",
    "payload",
    "response",
    "stream",
    "faults",
    "load",
    "properties",
    "replay",
    "live",
]
STAGES: Final[tuple[Stage, ...]] = get_args(Stage)

_NEED_AN_ANSWER: Final[frozenset[Stage]] = frozenset({"response", "stream"})
_LEVELS: Final[Mapping[Stage, Level]] = {
    "stream": "streaming",
    "faults": "resilience",
    "load": "resilience",
    "properties": "properties",
    "replay": "replay",
    "live": "live",
}
"""The stages that count for a level of their own."""


class Check(Struct, frozen=True):
    """A check: its id is a dotted sentence that is true of a good adapter, its clause the law in words."""

    id: str
    stage: Stage
    clause: str
    run: Callable[[Trial], Iterator[Problem]]
    once: bool
    on_every_prompt: bool
    needs: tuple[Capability, ...]
    families: tuple[str, ...] = ()

    def __call__(self, trial: Trial) -> list[Finding]:
        """All findings. Raises NotApplicable where the check has nothing to say of the trial."""
        return [problem.found_by(self.id) for problem in self.run(trial)]

    def applies_to(self, scenario: Scenario) -> bool:
        """Whether the scenario uses what the check is about; of generated prompts, whether they are of its families."""
        if self.families:
            return scenario.id in self.families
        has_subject = self.stage not in _NEED_AN_ANSWER or self.on_every_prompt or scenario.answer is not None
        return has_subject and set(self.needs) <= set(scenario.needs)

    def level(self, scenario: Scenario) -> Level:
        """The level that the check counts for on a scenario: its stage's own, or `tools` for what uses tools."""
        return _LEVELS.get(self.stage, "tools" if "tools" in scenario.needs else "core")


def check(
    name: str,
    *,
    clause: str,
    once: bool = False,
    on_every_prompt: bool = False,
    needs: tuple[Capability, ...] = (),
    families: tuple[str, ...] = (),
) -> Callable[[Callable[[Trial], Iterator[Problem]]], Check]:
    """Declares a check. Its stage is the first word of its id; `once` runs it on the greeting alone.

    A check of the stages response and stream runs on the scenarios that have an answer, or `on_every_prompt`; one
    with `families` runs on generated prompts of these, and on no scenario.
    """
    stage: Any = name.partition(".")[0]
    if stage not in STAGES:
        message = f"the check id {name!r} is of no stage; stages: {', '.join(STAGES)}"
        raise ValueError(message)
    return lambda function: Check(name, stage, clause, function, once, on_every_prompt, needs, families)


def checks_of(module: ModuleType) -> tuple[Check, ...]:
    """The checks that a module declares, one by one or as a tuple, in their order there."""
    found: list[Check] = []
    for value in vars(module).values():
        declared: list[object] = list(value) if is_array(value) else [value]
        found += [one for one in declared if isinstance(one, Check)]
    return tuple(found)
