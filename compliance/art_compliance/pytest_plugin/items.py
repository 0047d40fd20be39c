"""The suite's items in pytest: a check on a scenario each, and what each leaves for the summary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from art_compliance.checks import Check
from art_compliance.plugin import RUN
from art_compliance.rerun import Rerun
from art_compliance.run.report import Adapter, Result
from art_compliance.run.runner import Session, describe
from art_compliance.run.summary import describe_failure
from art_compliance.scenarios import Scenario

RESULT: Final = "art_result"
ADAPTER: Final = "art_adapter"


class Told(NamedTuple):
    """What a run under pytest is of."""

    adapter: Adapter
    rerun: Rerun


class Failed(Exception):
    """A check that failed; its text is what pytest shows."""


class Item(pytest.Item):
    """One check on one scenario: `art::<check>::<scenario>`."""

    def __init__(self, *, check: Check, scenario: Scenario, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # pyright: ignore[reportUnknownMemberType] - pytest's has no types
        self._check = check
        self._scenario = scenario

    def runtest(self) -> None:
        hold(self, self.config.stash[RUN].session(), self._check, self._scenario)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self._check.id} on {self._scenario.id}"


class CheckNode(pytest.Collector):
    """A check with its scenarios."""

    def __init__(self, *, planned: list[tuple[Check, Scenario]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._planned = planned

    def collect(self) -> Iterator[Item]:
        for check, scenario in self._planned:
            yield make(Item, self, name=scenario.id, check=check, scenario=scenario)


class Catalogue(pytest.Collector):
    """All checks of the run."""

    def collect(self) -> Iterator[CheckNode]:
        by_check: dict[str, list[tuple[Check, Scenario]]] = {}
        for check, scenario in self.config.stash[RUN].plan():
            by_check.setdefault(check.id, []).append((check, scenario))
        for name, planned in by_check.items():
            yield make(CheckNode, self, name=name, planned=planned)


def make(kind: Any, parent: pytest.Collector, **values: Any) -> Any:
    """A node of pytest's tree. `from_parent` has no types."""
    return kind.from_parent(parent, **values)


def hold(item: pytest.Item, session: Session, check: Check, scenario: Scenario) -> None:
    """Runs one check as a test: passes, skips with the reason, or fails with the findings."""
    result = session.run(check, scenario)
    item.user_properties.append((RESULT, msgspec.json.encode(result).decode()))
    told = Told(describe(session.subject), session.rerun)
    item.user_properties.append((ADAPTER, msgspec.json.encode(told).decode()))
    if result.verdict == "not applicable":
        pytest.skip(f"not applicable: {result.reason}")
    if result.verdict != "pass":
        raise Failed("\n".join(describe_failure(result, session.rerun)))


def properties(reporter: Any, name: str) -> Iterator[str]:
    """What was left under that name, in this process and in its workers."""
    for reports in reporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                yield from (value for key, value in report.user_properties if key == name)


def results_of(reporter: Any) -> Iterator[Result]:
    """Every result so far."""
    return (msgspec.json.decode(value, type=Result) for value in properties(reporter, RESULT))
