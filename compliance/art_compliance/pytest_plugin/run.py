"""`--art-adapter`: adapters under pytest, without a test file."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from typing import Any, Final

import pytest

from art_compliance.findings import HarnessError, NotMade
from art_compliance.generating.profiles import Search
from art_compliance.pytest_plugin.advice import advise_on_keyword
from art_compliance.pytest_plugin.items import AdapterNode, Catalogue, make_node
from art_compliance.pytest_plugin.options import (
    HARNESS_EXIT,
    adapters_of,
    add_working_directory,
    baseline_of,
    dialect_of,
    factory_of,
    fail,
    leave,
    option,
    require_report_folder,
    search_of,
    seconds_of,
    selection_of,
)
from art_compliance.pytest_plugin.parameters import is_of_the_option
from art_compliance.pytest_plugin.preflight import run_preflight
from art_compliance.pytest_plugin.results import attach_results, has_harness_error
from art_compliance.pytest_plugin.seed import seed_of
from art_compliance.run.baseline import Baseline
from art_compliance.run.selection import Plan, Selection, by_check, with_own_cassettes
from art_compliance.run.session import Session
from art_compliance.subject.factories import Factory
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject

_NAME: Final = "art-runs"


def start_runs(config: pytest.Config) -> None:
    """Makes the runs that the command line describes, and runs preflight. Ends pytest with exit code 2 if it cannot."""
    add_working_directory(config)
    require_report_folder(config)
    runs: list[Run] = []
    try:
        runs += _make_runs(config)
        if not hasattr(config, "workerinput"):
            has_workers = config.getoption("tx", None) or config.getoption("numprocesses", None)
            for run in runs:
                run.run_preflight(config, stays_open=not has_workers)
    except (NotMade, HarnessError) as error:
        end = fail if isinstance(error, NotMade) else leave
        _close(runs)
        end(config, str(error))
    except BaseException:
        _close(runs)
        raise
    attach_results(config)
    config.pluginmanager.register(_Plugin(runs), _NAME)


def find_runs(config: pytest.Config) -> Sequence[Run]:
    """The runs of `--art-adapter`."""
    plugin: _Plugin | None = config.pluginmanager.get_plugin(_NAME)
    return () if plugin is None else plugin.runs


class Run:
    """One adapter under pytest. It is opened in the process that runs the checks."""

    def __init__(
        self,
        make: Factory,
        name: str,
        *,
        dialect: str | None,
        selection: Selection,
        seed: int,
        search: Search,
        baseline: Baseline | None,
        isolated: bool,
        seconds: float,
        factory_name: str = "",
    ) -> None:
        """`factory_name` says which cassettes of the suite are the adapter's; `run_preflight` finds it, too."""
        self.make = make
        self.name = name
        self._dialect = dialect
        self._isolated = isolated
        self._seconds = seconds
        self._seed = seed
        self._search = search
        self._baseline = baseline
        self._stack = ExitStack()
        self._subject: Subject | None = None
        self._session: Session | None = None
        self._selection = selection
        self.plan: Plan = []
        self._plan_for(factory_name)

    def run_preflight(self, config: pytest.Config, *, stays_open: bool) -> None:
        """Runs preflight before anything is collected."""
        session = self.session()
        run_preflight(config, session, self.plan)
        self._plan_for(session.subject.factory_name)
        self._session = None  # the next one has the plan's cassettes
        if not stays_open:
            self.close()

    def _plan_for(self, factory_name: str) -> None:
        self.factory_name = factory_name
        self._selection = with_own_cassettes(self._selection, factory_name)
        self.plan = self._selection.plan()

    def session(self) -> Session:
        """The session of the open adapter. Raises HarnessError."""
        if self._subject is None:
            self._subject = self._stack.enter_context(
                open_subject(
                    self.make,
                    name=self.name,
                    dialect=self._dialect,
                    isolated=self._isolated,
                    seconds=self._seconds,
                    seed=self._seed,
                )
            )
        if self._session is None:
            self._session = Session(self._subject, self._seed, self._search, self._selection, baseline=self._baseline)
        return self._session

    def node_values(self) -> dict[str, Any]:
        """The arguments of its node in pytest's tree."""
        return {"plan": by_check(self.plan), "session_of": self.session}

    def close(self) -> None:
        """Closes the adapter if it is open. Raises HarnessError."""
        self._subject = self._session = None
        self._stack.close()


class _Plugin:
    """Adds the checks to what pytest collects, and closes the adapters at the end."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Adds a collector to the session: its tests are counted, and -k, --lf, --ff, --deselect and xdist see them."""
        report = yield
        if isinstance(collector, pytest.Session) and report.outcome == "passed":
            report.result.append(self._make_node(collector))
        return report

    def _make_node(self, session: pytest.Session) -> Any:
        values = {run.name: run.node_values() for run in self.runs}
        if len(values) == 1:
            return make_node(AdapterNode, session, name="art", nodeid="art", **next(iter(values.values())))
        return make_node(Catalogue, session, name="art", nodeid="art", adapters=values)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Takes out what test files would run a second time: the suite's checks with the suite's own `art_adapter`."""
        doubled = [item for item in items if is_of_the_option(item)]
        if doubled:
            config.hook.pytest_deselected(items=doubled)
            items[:] = [item for item in items if item not in doubled]

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
        """Gives advice to who selected nothing."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            advise_on_keyword(terminalreporter, config)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Closes the adapters, and sets the exit code that tells a harness error from an adapter's failure."""
        _close(self.runs)
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and has_harness_error(reporter):
            session.exitstatus = HARNESS_EXIT

    def pytest_unconfigure(self) -> None:
        """Closes the adapters if pytest ends before its session began."""
        _close(self.runs)


def _close(runs: Sequence[Run]) -> None:
    with ExitStack() as stack:
        for run in runs:
            stack.callback(run.close)


def _make_runs(config: pytest.Config) -> list[Run]:
    factories = {name: factory_of(config, name) for name in adapters_of(config)}
    if not option(config, "--art-record"):
        _require_no_recording_options(config)
    elif not hasattr(config, "workerinput"):
        from art_compliance.pytest_plugin.recording import record_cassettes  # noqa: PLC0415 - vcrpy is only for this

        for name, make in factories.items():
            record_cassettes(config, make, name)
    known = getattr(config, "workerinput", {}).get("art_factories", {})
    return [
        Run(
            make,
            name,
            dialect=dialect_of(config, name),
            selection=selection_of(config),
            seed=seed_of(config),
            search=search_of(config),
            baseline=baseline_of(config),
            isolated=not option(config, "--art-in-process"),
            seconds=seconds_of(config),
            factory_name=known.get(name, ""),
        )
        for name, make in factories.items()
    ]


def _require_no_recording_options(config: pytest.Config) -> None:
    for name in ("--art-key-from", "--art-base-url", "--art-model"):
        if option(config, name):
            raise HarnessError(f"{name} needs --art-record: without it, no provider is called")
