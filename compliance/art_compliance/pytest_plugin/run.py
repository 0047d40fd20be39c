"""`--art-adapter`: one adapter under pytest, without a test file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from typing import Any, Final

import pytest

from art_compliance.findings import HarnessError, NotMade
from art_compliance.generating.profiles import Search
from art_compliance.pytest_plugin.items import Catalogue, make_node
from art_compliance.pytest_plugin.options import (
    HARNESS_EXIT,
    adapter_of,
    add_working_directory,
    dialect_of,
    fail,
    leave,
    option,
    search_of,
    selection_of,
)
from art_compliance.pytest_plugin.results import results_of
from art_compliance.pytest_plugin.seed import seed_of
from art_compliance.run.failing import describe_failure
from art_compliance.run.lines import as_text
from art_compliance.run.runner import Session
from art_compliance.run.selection import Plan, Selection, with_own_cassettes
from art_compliance.subject.factories import Factory, Named, find_factory
from art_compliance.subject.opening import open_subject

_NAME: Final = "art-run"


def start_run(config: pytest.Config) -> None:
    """Makes the run that the command line describes, and runs preflight. Ends pytest with exit code 2 if it cannot."""
    add_working_directory(config)
    try:
        run = _make_run(config)
        if not hasattr(config, "workerinput"):
            run.run_preflight()
    except NotMade as error:
        fail(str(error))
    except HarnessError as error:
        leave(str(error))
    config.pluginmanager.register(run, _NAME)


def find_run(config: pytest.Config) -> Run | None:
    """The run of `--art-adapter`, if there is one."""
    run: Run | None = config.pluginmanager.get_plugin(_NAME)
    return run


class Run:
    """One adapter under pytest. It is opened when the first check runs, in the process that runs the check."""

    def __init__(
        self,
        make: Factory,
        name: str,
        *,
        dialect: str | None,
        selection: Selection,
        seed: int,
        search: Search,
        isolated: bool,
        factory_name: str = "",
    ) -> None:
        """`factory_name` says which cassettes of the suite are the adapter's; `run_preflight` finds it, too."""
        self._make = make
        self._name = name
        self._dialect = dialect
        self._isolated = isolated
        self._seed = seed
        self._search = search
        self._stack = ExitStack()
        self._session: Session | None = None
        self._selection = selection
        self.plan: Plan = []
        self._plan_for(factory_name)

    def run_preflight(self) -> None:
        """Runs preflight before anything is collected: a failure there is one message, not a thousand."""
        try:
            for check, scenario in self.plan:
                if check.stage.stops_the_run:
                    result = self.session().run(check, scenario)
                    if result.verdict in ("harness error", "fail"):
                        end = fail if result.verdict == "fail" else leave
                        end(as_text(describe_failure(result, self.session().rerun)))
            self._plan_for(self.session().subject.factory_name)
        finally:
            self.close()

    def _plan_for(self, factory_name: str) -> None:
        self.factory_name = factory_name
        self._selection = with_own_cassettes(self._selection, factory_name)
        self.plan = self._selection.plan()

    def session(self) -> Session:
        """The open session. Raises HarnessError."""
        if self._session is None:
            subject = self._stack.enter_context(
                open_subject(self._make, name=self._name, dialect=self._dialect, isolated=self._isolated)
            )
            self._session = Session(subject, self._seed, self._search, self._selection)
        return self._session

    def close(self) -> None:
        """Closes the adapter if it is open. Raises HarnessError."""
        self._session = None
        self._stack.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Adds a collector to the session: its tests are counted, and -k, --lf, --ff, --deselect and xdist see them."""
        report = yield
        if isinstance(collector, pytest.Session) and report.outcome == "passed":
            node = make_node(Catalogue, collector, name="art", nodeid="art", plan=self.plan, session_of=self.session)
            report.result.append(node)
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Closes the adapter, and sets the exit code that tells a harness error from an adapter's failure."""
        self.close()
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and any(result.verdict == "harness error" for result in results_of(reporter)):
            session.exitstatus = HARNESS_EXIT


def _make_run(config: pytest.Config) -> Run:
    name = adapter_of(config)
    isolated = not option(config, "--art-in-process")
    make = Named(name) if isolated else find_factory(name)
    if not option(config, "--art-record"):
        _require_no_recording_options(config)
    elif not hasattr(config, "workerinput"):
        from art_compliance.pytest_plugin.recording import record_cassettes  # noqa: PLC0415 - vcrpy is only for this

        record_cassettes(config, make, name)
    return Run(
        make,
        name,
        dialect=dialect_of(config, name),
        selection=selection_of(config),
        seed=seed_of(config),
        search=search_of(config),
        isolated=isolated,
        factory_name=getattr(config, "workerinput", {}).get("art_factory", ""),
    )


def _require_no_recording_options(config: pytest.Config) -> None:
    for name in ("--art-key-from", "--art-base-url", "--art-model"):
        if option(config, name):
            raise HarnessError(f"{name} needs --art-record: without it, no provider is called")
