"""Shards: the parts of a run that several machines do, each check as a whole in one of them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from art_compliance.checks import Check
from art_compliance.findings import HarnessError
from art_compliance.scenarios import Scenario

Trialled = tuple[Check, Scenario]
"""A check on a scenario."""

_FORM: Final = re.compile(r"([1-9]\d{0,3})/([1-9]\d{0,3})", re.ASCII)


class Shard(Struct, frozen=True):
    """One of so many parts of a run: the first is 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


class ShardOf(Struct, frozen=True, kw_only=True):
    """Which part of which run a report is: `checks` are those of the whole run, in order.

    `code` is the digest of the adapter's code, where it is known.
    """

    number: int
    count: int
    checks: tuple[str, ...]
    code: str | None = None

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def read_shard(text: str | None) -> Shard | None:
    """The shard that an option names: `2/3` is the second of three. Raises HarnessError."""
    if text is None:
        return None
    found = _FORM.fullmatch(text.strip())
    if found is None or int(found[1]) > int(found[2]):
        raise HarnessError(f"{text!r} is not a shard; write the second of three as 2/3")
    return Shard(int(found[1]), int(found[2]))


def part_of(plan: Sequence[Trialled], shard: Shard) -> list[Trialled]:
    """The shard's part of a plan: every so many-th check. What stops a run is in each."""
    units = list(dict.fromkeys(_unit(check) for check, _ in plan if not check.stage.stops_the_run))
    units.sort(key=lambda unit: unit not in _TOGETHER)  # the longest first
    ours = set(units[shard.number - 1 :: shard.count])
    return [(check, scenario) for check, scenario in plan if check.stage.stops_the_run or _unit(check) in ours]


_TOGETHER: Final = ("properties", "translation.canary")
"""Checks that stay in one shard: they share what they find out, and what they report depends on what others have."""


def _unit(check: Check) -> str:
    return next((prefix for prefix in _TOGETHER if check.id.startswith(prefix)), check.id)


class Reported:
    """What a run has reported so far, by the place in its plan.

    A few checks do not report again what earlier ones have reported. In a shard, the earlier checks of the others are
    run when such a check first asks, so that it sees what it would see in a whole run.
    """

    def __init__(self, judge: Callable[[Check, Scenario], None]) -> None:
        self._judge = judge
        self._order: dict[tuple[str, str], int] = {}
        self._others: deque[Trialled] = deque()
        self._shapes: dict[str, int] = {}
        self._at = 0

    def is_of(self, shard: Shard, plan: Sequence[Trialled]) -> None:
        """The run is one shard of this plan."""
        ours = {(check.id, scenario.id) for check, scenario in part_of(plan, shard)}
        self._order = {(check.id, scenario.id): number for number, (check, scenario) in enumerate(plan)}
        self._others = deque(one for one in plan if (one[0].id, one[1].id) not in ours)

    @contextmanager
    def judging(self, check: Check, scenario: Scenario) -> Generator[None]:
        """While a check is run on a scenario."""
        before, self._at = self._at, self._order.get((check.id, scenario.id), self._at)
        try:
            yield
        finally:
            self._at = before

    def add(self, shapes: Iterable[str], check: Check, scenario: Scenario) -> None:
        """What the check has reported on the scenario."""
        at = self._order.get((check.id, scenario.id), self._at)
        for shape in shapes:
            self._shapes[shape] = min(at, self._shapes.get(shape, at))

    def has(self, shape: str) -> bool:
        """Whether something before the check that is running has reported this."""
        at = self._at
        while self._others and self._place(self._others[0]) < at:
            self._judge(*self._others.popleft())
        return shape in self._shapes and (not self._order or self._shapes[shape] < at)

    def _place(self, one: Trialled) -> int:
        return self._order[one[0].id, one[1].id]
