"""What a check is: one decorated function that is given a trial and yields what is wrong."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType

from msgspec import Struct

from art_compliance.checks.requirements import LeftTo, NotApplicable, Requirement, Requires
from art_compliance.checks.stages import STAGES, Stage
from art_compliance.checks.trial import Trial
from art_compliance.findings import Finding, FindingClass, Problem
from art_compliance.scenarios import Level, Scenario
from art_sdk import Capability
from art_sdk.json_data import is_array

Look = Callable[[Trial], Iterator[Problem]]
"""Yields what is wrong. A generator may return a number, which becomes `Outcome.judged`."""


class Outcome(Struct, frozen=True):
    """What a check made of a trial: its findings, and of generated requests, how many it applied to."""

    findings: tuple[Finding, ...]
    judged: int | None = None
    exchanges: tuple[int | None, ...] = ()
    """For each finding the number of the exchange that it was found on, where there was one: see `Subject.exchange`."""


class Check(Struct, frozen=True, eq=False):
    """A check: its id is a dotted sentence that is true of a good adapter, its clause the law in words.

    Each is equal to itself alone: what a trial keeps of it is looked up a hundred thousand times in a run.

    `finding_class` is the class of what it finds; a problem may be of another. `run` finds what is wrong, whoever
    reports its cause.
    """

    id: str
    stage: Stage
    clause: str
    finding_class: FindingClass
    run: Look
    once: bool
    on_every_prompt: bool
    needs: tuple[Capability, ...]
    families: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    leaves_to: tuple[Check, ...] = ()
    last: bool = False

    def __call__(self, trial: Trial) -> Outcome:
        """All findings. Raises NotApplicable if the check has nothing to say of the trial."""
        trial.require(*self.requires)
        leave_to(trial, *self.leaves_to)
        problems, exchanges, judged = _collect(self.run(trial), trial)
        findings = tuple(problem.found_by(self.id, self.finding_class) for problem in problems)
        return Outcome(findings, judged, tuple(exchanges))

    def reported_by(self, trial: Trial) -> str | None:
        """The id of the check that reports what is wrong with the trial: its own, that of the one it leaves that to."""
        try:
            failed = any(finding.severity == "reject" for finding in trial.once(self).findings)
        except LeftTo as left:
            return left.check
        except NotApplicable:
            return None
        return self.id if failed else None

    def applies_to(self, scenario: Scenario) -> bool:
        """Whether the scenario uses what the check is about; of generated prompts, whether they are of its families."""
        if self.families:
            return scenario.id in self.families
        has_subject = not self.stage.reads_answers or self.on_every_prompt or scenario.answer is not None
        return has_subject and all(need in scenario.needs for need in self.needs)

    def level(self, scenario: Scenario, *, is_refused: bool = False) -> Level:
        """The level that the check counts for on a scenario: its stage's own, or `tools` for what uses tools.

        `is_refused` says that the scenario needs what the adapter does not declare.
        """
        if is_refused and not self.stage.counts_refusals:
            return "core"
        return self.stage.level or ("tools" if "tools" in scenario.needs else "core")

    @property
    def place(self) -> str:
        """Where it is declared: module and line."""
        function = inspect.unwrap(self.run)
        return f"{function.__module__}:{function.__code__.co_firstlineno}"


def check(
    name: str,
    *,
    clause: str,
    finding_class: FindingClass | None = None,
    requires: Requires = (),
    once: bool = False,
    on_every_prompt: bool = False,
    needs: tuple[Capability, ...] = (),
    families: tuple[str, ...] = (),
    leaves_to: tuple[Check, ...] = (),
    last: bool = False,
) -> Callable[[Look], Check]:
    """Declares a check. Its stage is the first word of its id; `once` runs it on the greeting alone.

    `finding_class` is the class of what it finds, by default its stage's.

    `requires` is what a trial must have, in this order: without it the check is not applicable. `needs` are the
    capabilities that a scenario must use for the check to run on it.
    `leaves_to` are checks that report the cause where they fail: this one is not applicable there.
    A check of the stages response and stream runs on the scenarios that have an answer, or `on_every_prompt`; one
    with `families` runs on generated prompts of these, and on no scenario.
    The one that ends the adapter's process is the `last` of all: none need start another one.
    """
    stage = STAGES.get(name.partition(".")[0])
    if stage is None:
        raise ValueError(f"the check id {name!r} begins with no stage; stages: {', '.join(STAGES)}")
    required = (requires,) if isinstance(requires, str) else requires
    own = finding_class or stage.finding_class
    return lambda function: Check(
        name, stage, clause, own, function, once, on_every_prompt, needs, families, required, leaves_to, last
    )


def leave_to(trial: Trial, *checks: Check) -> None:
    """Raises LeftTo if one of these checks fails on the trial: it reports the cause, and one report is enough.

    What they find is computed once per trial, whether or not they are selected.
    """
    looked_at = trial.exchange
    for one in checks:
        if (reporter := one.reported_by(trial)) is not None:
            raise LeftTo(reporter)
    trial.exchange = looked_at


def named(checks: Iterable[Check], *names: str) -> tuple[Check, ...]:
    """Those of the checks whose ids end in these names, behind the stage."""
    return tuple(one for one in checks if one.id.partition(".")[2] in names)


def checks_of(module: ModuleType) -> tuple[Check, ...]:
    """The checks that a module declares, one by one or in a tuple that is named so, in their order there."""
    found: list[Check] = []
    for name, value in vars(module).items():
        declared: list[object] = list(value) if is_array(value) and name.endswith("CHECKS") else [value]
        found += [one for one in declared if isinstance(one, Check)]
    return tuple(found)


def in_order(checks: Iterable[Check]) -> Mapping[str, Check]:
    """The checks by their ids, stage by stage, then the last of all. Raises ValueError for an id declared twice."""
    stages = list(STAGES.values())
    found: dict[str, Check] = {}
    for one in sorted(checks, key=lambda check: (check.last, stages.index(check.stage))):
        if one.id in found:
            places = f"at {found[one.id].place} and at {one.place}"
            raise ValueError(f"the check id {one.id!r} is declared twice: {places}; rename one of them")
        found[one.id] = one
    return found


def _collect(problems: Iterator[Problem], trial: Trial) -> tuple[list[Problem], list[int | None], int | None]:
    """What an iterator yields, on which exchanges, and what it returns where it is a generator that returns something.

    The exchange is the last that the check looked at before it yielded the problem: its own, or one that the trial
    keeps.
    """
    found: list[Problem] = []
    exchanges: list[int | None] = []
    while True:
        before = trial.subject.request_count
        try:
            found.append(next(problems))
        except StopIteration as end:
            return found, exchanges, end.value
        latest = trial.subject.request_count
        if latest > max(before, trial.exchange or 0):
            trial.exchange = latest
        exchanges.append(found[-1].found_on or trial.exchange)
