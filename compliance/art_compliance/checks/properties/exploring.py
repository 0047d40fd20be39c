"""Laws over generated prompts: makes and judges prompts until one breaks a law, and shrinks that one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Final

import msgspec
from msgspec import Struct, structs

from art_compliance.checks.base import Check
from art_compliance.checks.properties.kept import folder_of, keep, kept_for
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite, Dialect
from art_compliance.dialects.writing import as_sayable
from art_compliance.findings import Example, Finding, Problem
from art_compliance.generating.requests import Family, Request, as_scenario
from art_compliance.generating.searching import make_requests
from art_compliance.generating.shrinking import shrink
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.observations import Sent

WHOLE: Final[Family] = "generated-conversations"
BROKEN: Final[Family] = "generated-broken-conversations"
ANSWERS: Final[Family] = "generated-answers"
DIALOGUES: Final[Family] = "generated-dialogues"


class Law(Struct, frozen=True):
    """A law, and the checks that judge it on one prompt. The `format_free` ones join where the dialect is unknown."""

    id: str
    judged_by: tuple[Check, ...]
    format_free: tuple[Check, ...] = ()

    def findings(self, trial: Trial) -> list[Finding] | None:
        """What counts against the adapter on one prompt and is new; None where no check of the law applies."""
        found: list[Finding] | None = None
        for one in (*self.judged_by, *(self.format_free if trial.subject.dialect is None else ())):
            if set(one.needs) <= set(trial.scenario.needs):
                try:
                    outcome = trial.once(one)
                except NotApplicable:
                    continue
                wrong = [finding for finding in outcome.findings if finding.severity == "reject"]
                found = [*(found or ()), *(finding for finding in wrong if not trial.is_known(finding.message))]
        return found

    def problems(self, trial: Trial) -> list[Problem]:
        """The findings as the law's own, which name the check that found them."""
        return [self._problem_of(finding) for finding in self.findings(trial) or ()]

    def _problem_of(self, finding: Finding) -> Problem:
        text = finding.message if finding.check == self.id else f"{finding.check}: {finding.message}"
        return structs.replace(Problem.of(finding), message=text)


class Exploration(Struct):
    """How many of a family's prompts were judged and sent; by law, how many it applied to, and its first failure."""

    made: tuple[Request, ...]
    judged: int = 0
    sent: int = 0
    applied: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    first: dict[str, int] = msgspec.field(default_factory=dict[str, int])


def explore(trial: Trial, declared: tuple[Law, ...]) -> Exploration:
    """Makes the family's requests and runs every law on each, until the profile's time is over."""
    profile, family = trial.search.profile, trial.scenario.id
    seen = Exploration(make_requests(family, trial.seed, profile.count_of(family)))
    laws = [law for law in declared if not trial.search.only or law.id in trial.search.only]
    until = time.monotonic() + profile.seconds
    for number, request in enumerate(seen.made):
        if time.monotonic() > until or seen.first.keys() >= {law.id for law in laws}:
            break
        one = _trial_of(trial, request)
        for law in laws:
            _note(seen, law, number, one)
        seen.judged += 1
        seen.sent += isinstance(one.observation, Sent)
    return seen


def _note(seen: Exploration, law: Law, number: int, trial: Trial) -> None:
    if law.id not in seen.first:
        found = law.findings(trial)
        seen.applied[law.id] = seen.applied.get(law.id, 0) + (found is not None)
        if found:
            seen.first[law.id] = number


def _trial_of(trial: Trial, request: Request) -> Trial:
    """The request as a trial. Its answer loses what the dialect cannot write."""
    family = trial.scenario.id
    scenario = as_scenario(family, request)
    if family == ANSWERS and scenario.answer is not None and trial.subject.dialect is not None:
        scenario = structs.replace(scenario, answer=_sayable(trial.subject.dialect, scenario.answer))
    return Trial(trial.subject, scenario, trial.seed, trial.search, turns=request.turns, is_known=trial.is_known)


def _sayable(dialect: Dialect, answer: WrittenAnswer) -> WrittenAnswer:
    """The answer, without its reasoning where the dialect cannot write that."""
    said = as_sayable(dialect.answers.write, answer)
    try:
        dialect.answers.write(said)
    except CannotWrite:
        return structs.replace(answer, thinking="", signature=None, thinking_tokens=None)
    return said


def check_law(
    law: Law, trial: Trial, exploration: Callable[[Trial], Exploration]
) -> Generator[Problem, None, int | None]:
    """Yields what breaks the law, and returns how many generated requests it applied to. Raises NotApplicable.

    Requests that are kept from earlier runs come first, then what the exploration found, shrunk. The exploration is
    of all laws of the trial's family, and made once for all of them.
    """
    family, search = trial.scenario.id, trial.search
    folder = folder_of(search.kept, trial.subject.name) if search.kept else None
    for request in kept_for(folder, law.id, family) if folder else ():
        if law.findings(_trial_of(trial, request)):
            yield from _problems(law, trial, request)
            return None
    seen = trial.once(exploration)
    applied = seen.applied.get(law.id, 0)
    if law.id in seen.first:
        least = _shrunk(law, trial, seen)
        if folder:
            keep(folder, law.id, family, least)
        yield from _problems(law, trial, least, fallback=seen.made[seen.first[law.id]])
    elif family == WHOLE and not seen.sent:
        raise NotApplicable(f"all of {seen.judged} generated prompts were refused", judged=applied)
    elif not applied:
        raise NotApplicable(f"none of {seen.judged} generated prompts exercised this law", judged=applied)
    return applied


def _shrunk(law: Law, trial: Trial, seen: Exploration) -> Request:
    """The smallest request on which the law fails by the same check as on the first."""
    first = seen.made[seen.first[law.id]]
    by = _failing_checks(law, trial, first)

    def fails(request: Request) -> bool:
        return bool(by & _failing_checks(law, trial, request))

    alone = trial.scenario.id == BROKEN
    return shrink(first, fails, seconds=trial.search.profile.shrink_seconds, alone=alone)


def _failing_checks(law: Law, trial: Trial, request: Request) -> set[str]:
    """Only the first check that fails: shrinking must not slip to another check of the law."""
    found = law.findings(_trial_of(trial, request))
    return {found[0].check} if found else set()


def _problems(law: Law, trial: Trial, request: Request, fallback: Request | None = None) -> Iterator[Problem]:
    """What the law finds wrong with a request, with its prompt and the payload that it gave."""
    one = _trial_of(trial, request)
    found = law.problems(one)
    if not found and fallback is not None:
        found = [
            Problem(
                "it failed on a generated prompt, but passed when that was tried again: translate is not deterministic"
            )
        ]
        one = _trial_of(trial, fallback)
    example = _example_of(one)
    for number, problem in enumerate(found):
        yield structs.replace(problem, example=None if number else problem.example or example)


def _example_of(trial: Trial) -> Example:
    seen, answer = trial.observation, trial.scenario.answer
    return Example(
        prompt=trial.scenario.prompt,
        options=trial.options,
        payload=seen.payload if isinstance(seen, Sent) else str(seen),
        answer=None if answer is None else msgspec.to_builtins(answer),
    )
