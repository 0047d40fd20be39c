"""The suite's tests in pytest's tree: `art::<check>::<scenario>`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from art_compliance.checks import Check
from art_compliance.pytest_plugin.results import RunFacts, attach
from art_compliance.run.failing import describe_expected, describe_failure
from art_compliance.run.lines import as_text
from art_compliance.run.runner import Session, describe
from art_compliance.run.selection import Plan
from art_compliance.scenarios import Scenario

OpenSession = Callable[[], Session]


class Item(pytest.Item):
    """One check on one scenario."""

    def __init__(self, *, check: Check, scenario: Scenario, session_of: OpenSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # pyright: ignore[reportUnknownMemberType] - pytest's has no types
        self._check = check
        self._scenario = scenario
        self._session_of = session_of

    def runtest(self) -> None:
        run_as_test(self, self._session_of(), self._check, self._scenario)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self._check.id} on {self._scenario.id}"


class CheckNode(pytest.Collector):
    """A check with its scenarios."""

    def __init__(self, *, plan: Plan, session_of: OpenSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._plan = plan
        self._session_of = session_of

    def collect(self) -> Iterator[Item]:
        for check, scenario in self._plan:
            yield make_node(Item, self, name=scenario.id, check=check, scenario=scenario, session_of=self._session_of)


class Catalogue(pytest.Collector):
    """All checks of the run."""

    def __init__(self, *, plan: Plan, session_of: OpenSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._plan = plan
        self._session_of = session_of

    def collect(self) -> Iterator[CheckNode]:
        by_check: dict[str, Plan] = {}
        for check, scenario in self._plan:
            by_check.setdefault(check.id, []).append((check, scenario))
        for name, plan in by_check.items():
            yield make_node(CheckNode, self, name=name, plan=plan, session_of=self._session_of)


def make_node(kind: Any, parent: pytest.Collector, **values: Any) -> Any:
    """A node of pytest's tree. `from_parent` has no types."""
    return kind.from_parent(parent, **values)


def run_as_test(item: pytest.Item, session: Session, check: Check, scenario: Scenario) -> None:
    """Runs one check as a test: it passes, or skips with the reason, or fails with the findings."""
    result = session.run(check, scenario)
    attach(item, result, RunFacts(describe(session.subject), session.rerun, session.subject.in_process))
    if result.verdict == "not applicable":
        pytest.skip(f"not applicable: {result.reason}")
    if result.verdict in ("known", "provisional"):
        pytest.xfail(describe_expected(result))
    if result.verdict != "pass":
        pytest.fail(as_text(describe_failure(result, session.rerun)), pytrace=False)
