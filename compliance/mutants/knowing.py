"""What is known of the tests: how long each takes, what it killed, and whether it passes without a change.

Nothing is run beforehand. A test that fails or never ends while a module is changed runs once more without the change,
when that is not known yet: if it does not pass, it is left out from then on, and the mutant is tried on. What the kept
trials do depends on the module that is changed, so for each module they are another test here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import forking

LIMIT = (20.0, 3.0)
"""The time limit of a test: seconds, plus a multiple of the time that it takes without a change."""
UNKNOWN = {
    "": 60.0,
    "test_reference_adapters": 60.0,
    "test_services_certified": 60.0,
    "test_unusual_adapters": 60.0,
}
"""Seconds that a test may take whose time is not known, by file; "" stands for everything before the first test."""
KEPT_TRIALS = "test_kept_trials"
LONGEST = 900.0
"""The time limit of a test without a change, in seconds."""


class Known:
    """Grows with each run. `by` are the tests that killed earlier mutants."""

    def __init__(self, by: Iterable[str] = ()) -> None:
        self.kills = Counter(by)
        self.module = ""
        """The module that is changed."""
        self.times: dict[tuple[str, str], float] = {}
        self.alone: dict[tuple[str, str], bool] = {}
        """Whether a test passes without a change."""
        self.collected: set[tuple[str, ...]] = set()

    def plan(self, passed: set[str]) -> forking.Plan:
        """All tests but those that passed, and those that fail anyway. What killed most, and is fast, comes first."""
        here = {test: seconds for (test, module), seconds in self.times.items() if module in {"", self.module}}
        files = dict.fromkeys(map(_file, (*here, *self.kills)), 0.0)
        for name, seconds in here.items():
            files[_file(name)] += seconds
        for name, count in self.kills.items():
            files[_file(name)] /= 1 + count
        return forking.Plan(
            wants=lambda test: test not in passed and self.alone.get(self._here(test), True),
            place=lambda test: (
                _is_certification(test),
                -self.kills[test],
                files.get(_file(test), 0.0),
                self.times.get(self._here(test), 0.0),
            ),
            limit=self.limit,
        )

    def limit(self, test: str) -> float:
        """The seconds that a test may take."""
        return LIMIT[0] + LIMIT[1] * self.times.get(self._here(test), UNKNOWN.get(_name(test), 5.0))

    def counts(self, tree: Path, arguments: list[str], outcome: forking.Outcome) -> bool:
        """Whether the tests noticed the change, so that it is decided. If not, they run again without this one."""
        if not outcome.test or outcome.test.endswith(forking.UNREADABLE):
            self._collect(tree, arguments)
            return True
        allowed = self.limit(outcome.test)
        here = self._here(outcome.test)
        if here not in self.alone:
            self._run_alone(tree, arguments, outcome.test)
        if not self.alone[here]:
            return False
        return outcome.verdict != "timeout" or self.limit(outcome.test) <= allowed

    def learn(self, outcome: forking.Outcome) -> None:
        """Remembers how long tests took that passed, and which one killed."""
        self.times |= {self._here(test): took for test, took in outcome.times.items() if test != outcome.test}
        self.kills[outcome.by] += outcome.verdict == "killed"

    def _run_alone(self, tree: Path, arguments: list[str], test: str) -> None:
        plan = forking.Plan(wants=lambda one: one == test, place=lambda _: 0, limit=lambda _: LONGEST)
        outcome = forking.run(tree, arguments, plan)
        passes = self.alone[self._here(test)] = outcome.code == 0
        self.times |= {self._here(one): took for one, took in outcome.times.items()}
        print(f"{test} {'passes' if passes else 'fails'} without a change: {outcome.seconds:.1f} s", flush=True)

    def _here(self, test: str) -> tuple[str, str]:
        """The test, and the changed module if it does something else for each module."""
        return test, self.module if _name(test) == KEPT_TRIALS else ""

    def _collect(self, tree: Path, arguments: list[str]) -> None:
        """Raises LookupError if pytest cannot find the tests without a change."""
        if tuple(arguments) in self.collected:
            return
        plan = forking.Plan(wants=lambda _: True, place=lambda _: 0, limit=lambda _: LONGEST)
        outcome = forking.run(tree, arguments, plan, "--collect-only")
        if outcome.code != 0:
            raise LookupError(f"pytest {' '.join(arguments)} finds no tests: {outcome.by}")
        self.collected.add(tuple(arguments))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _name(test: str) -> str:
    return Path(_file(test)).stem


def _is_certification(test: str) -> bool:
    """These take longest, and notice what others notice sooner."""
    return _name(test) in UNKNOWN
