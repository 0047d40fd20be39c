"""The suite's tests in pytest's tree: `art::<check>`, or `art::<adapter>::<check>` for several adapters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import structs

from art_compliance.findings import HarnessError
from art_compliance.pytest_plugin.results import Judged, RunFacts, keep
from art_compliance.run.ending import TIME_IS_UP
from art_compliance.run.failing import describe_expected, describe_results
from art_compliance.run.lines import as_text, counted
from art_compliance.run.runner import describe
from art_compliance.run.selection import Trials
from art_compliance.run.session import Session
from art_compliance.subject.deadlines import OutOfTime

OpenSession = Callable[[], Session]

_CAUSES_SHOWN: Final = 3
"""How many causes of one check pytest shows in full, unless it is verbose."""


class Item(pytest.Item):
    """One check on all its scenarios."""

    def __init__(self, *, trials: Trials, session_of: OpenSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # pyright: ignore[reportUnknownMemberType] - pytest's has no types
        self._trials = trials
        self._session_of = session_of

    def runtest(self) -> None:
        try:
            session = self._session_of()
        except HarnessError as error:
            pytest.fail(f"art: {error}", pytrace=False)
        run_as_test(self, session, self._trials)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        scenarios = counted(len(self._trials.scenarios), "scenario")
        return self.config.rootpath / "art", None, f"{self.nodeid.removeprefix('art::')} on {scenarios}"


class AdapterNode(pytest.Collector):
    """The checks of one adapter."""

    def __init__(self, *, plan: Sequence[Trials], session_of: OpenSession, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._plan = plan
        self._session_of = session_of

    def collect(self) -> Iterator[Item]:
        for trials in self._plan:
            yield make_node(Item, self, name=trials.check.id, trials=trials, session_of=self._session_of)


class Catalogue(pytest.Collector):
    """The checks of several adapters."""

    def __init__(self, *, adapters: Mapping[str, Mapping[str, Any]], **kwargs: Any) -> None:
        """`adapters` has the arguments of `AdapterNode` for each."""
        super().__init__(**kwargs)
        self._adapters = adapters

    def collect(self) -> Iterator[AdapterNode]:
        for name, values in self._adapters.items():
            yield make_node(AdapterNode, self, name=name, **values)


def make_node(kind: Any, parent: pytest.Collector, **values: Any) -> Any:
    """A node of pytest's tree. `from_parent` has no types."""
    return kind.from_parent(parent, **values)


def run_as_test(item: pytest.Item, session: Session, trials: Trials) -> None:
    """Runs one check on its scenarios as one test, which fails with what `art certify` prints of its failures.

    If all failures are expected, the test is xfailed.
    """
    try:
        results = tuple(session.run(trials.check, scenario) for scenario in trials.scenarios)
    except OutOfTime:
        pytest.fail(f"art: {TIME_IS_UP}: see --art-time-limit", pytrace=False)
    rerun = structs.replace(session.rerun, test=None if isinstance(item, Item) else _address(item))
    facts = RunFacts(describe(session.subject), rerun, session.subject.in_process)
    judged = Judged(facts=facts, results=results)
    keep(item, judged)
    if judged.verdict in {"fail", "harness error"}:
        most = None if item.config.get_verbosity() > 0 else _CAUSES_SHOWN
        pytest.fail(as_text(describe_results(results, rerun, most=most)), pytrace=False)
    if judged.verdict in {"known", "provisional"}:
        expected = (describe_expected(one) for one in results if one.verdict in {"known", "provisional"})
        pytest.xfail("; ".join(dict.fromkeys(expected)))


def _address(item: pytest.Item) -> str:
    """The test function, as an argument of pytest in this directory."""
    file = os.path.relpath(item.path, item.config.invocation_params.dir)
    return f"{file}::{item.nodeid.partition('::')[2].partition('[')[0]}"
