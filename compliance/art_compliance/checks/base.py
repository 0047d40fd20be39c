"""What a check is: one decorated function, given a trial, yielding findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final, Literal

from msgspec import Struct

from art_compliance.checks.trial import Trial
from art_compliance.findings import Finding
from art_compliance.scenarios import Level, Scenario
from art_sdk import Capability

Stage = Literal["preflight", "translation", "wire", "payload", "response", "replay", "live"]
STAGES: Final[tuple[Stage, ...]] = ("preflight", "translation", "wire", "payload", "response", "replay", "live")


_OWN_LEVELS: Final[dict[str, Level]] = {"replay": "replay", "live": "live"}


class Check(Struct, frozen=True):
    """A check: its id is a dotted sentence that is true of a good adapter, its clause the law in words."""

    id: str
    stage: Stage
    clause: str
    run: Callable[[Trial], Iterator[Finding]]
    once: bool
    on_every_prompt: bool
    needs: tuple[Capability, ...]

    def __call__(self, trial: Trial) -> list[Finding]:
        """All findings. Raises NotApplicable where the check has nothing to say of the trial."""
        return list(self.run(trial))

    def applies_to(self, scenario: Scenario) -> bool:
        """Whether the scenario uses what the check is about."""
        has_subject = self.stage != "response" or self.on_every_prompt or scenario.answer is not None
        return has_subject and set(self.needs) <= set(scenario.needs)

    def level(self, scenario: Scenario) -> Level:
        """The level that the check counts for on a scenario: what uses tools counts for `tools`."""
        if self.stage in _OWN_LEVELS:
            return _OWN_LEVELS[self.stage]
        return "tools" if "tools" in scenario.needs else "core"


def check(
    name: str, *, clause: str, once: bool = False, on_every_prompt: bool = False, needs: tuple[Capability, ...] = ()
) -> Callable[[Callable[[Trial], Iterator[Finding]]], Check]:
    """Declares a check. Its stage is the first word of its id; `once` runs it on the greeting alone.

    A check of the stage response runs on the scenarios that have an answer, or `on_every_prompt`.
    """
    stage: Any = name.partition(".")[0]
    if stage not in STAGES:
        message = f"the check id {name!r} is of no stage; stages: {', '.join(STAGES)}"
        raise ValueError(message)
    return lambda function: Check(name, stage, clause, function, once, on_every_prompt, needs)


def checks_of(module: ModuleType) -> tuple[Check, ...]:
    """The checks that a module declares, in their order there."""
    return tuple(value for value in vars(module).values() if isinstance(value, Check))
