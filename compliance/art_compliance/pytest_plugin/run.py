"""The suite inside pytest: what the command line asks for, and the run that comes of it."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from art_compliance.cassettes import BadCassette
from art_compliance.checks import Check
from art_compliance.findings import HarnessError
from art_compliance.generating.profiles import Search, find_profile
from art_compliance.plugin import seed_of
from art_compliance.pytest_plugin.items import results_of
from art_compliance.run.runner import Session
from art_compliance.run.selection import FOLDER, Selection, find_cassettes, with_own_cassettes
from art_compliance.run.summary import describe_failure
from art_compliance.scenarios import Scenario
from art_compliance.subject.access import Access
from art_compliance.subject.factories import Factory, find_factory
from art_compliance.subject.opening import open_subject

HARNESS_EXIT: Final = 2


class Run:
    """One adapter under pytest. The subject is opened when the first check runs, in the process that runs it."""

    def __init__(
        self, make: Factory, name: str, *, dialect: str | None, selection: Selection, seed: int, search: Search
    ) -> None:
        self.seed = seed
        self._selection = selection
        self._search = search
        self._open = partial(open_subject, make, name=name, dialect=dialect)
        self._stack = ExitStack()
        self._session: Session | None = None

    @classmethod
    def of_options(cls, config: pytest.Config) -> Run:
        """The run that the command line asks for. Leaves pytest with exit code 2 where it cannot be."""
        _see_working_directory(config)
        name, dialect = option(config, "--art-adapter"), option(config, "--art-dialect")
        try:
            make = find_factory(name)
            hold_recording(config)
            if option(config, "--art-record") and not hasattr(config, "workerinput"):
                record_first(config, make, name)
            run = cls(
                make,
                name,
                dialect=dialect,
                selection=with_own_cassettes(selection_of(config), make),
                seed=seed_of(config),
                search=search_of(config),
            )
            run.plan()
        except HarnessError as error:
            leave(str(error))
        return run

    def plan(self) -> list[tuple[Check, Scenario]]:
        """What is to be run. Raises HarnessError."""
        return self._selection.plan()

    def hold_preflight(self, config: pytest.Config) -> None:
        """Runs preflight before anything is collected: a failure there is one message, not a thousand."""
        if hasattr(config, "workerinput"):
            return
        try:
            for check, scenario in self.plan():
                if check.stage == "preflight":
                    result = self.session().run(check, scenario)
                    if result.verdict == "harness error":
                        leave("\n".join(describe_failure(result, self.session().rerun)))
        except HarnessError as error:
            leave(str(error))
        finally:
            self.close()

    def session(self) -> Session:
        """The open session. Raises HarnessError."""
        if self._session is None:
            subject = self._stack.enter_context(self._open())
            self._session = Session(subject, self.seed, self._search, self._selection)
        return self._session

    def close(self) -> None:
        """Ends what was opened."""
        self._session = None
        self._stack.close()

    def finish(self, session: pytest.Session) -> None:
        """Closes, and tells a harness error from an adapter's failure by the exit code."""
        self.close()
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and any(result.verdict == "harness error" for result in results_of(reporter)):
            session.exitstatus = HARNESS_EXIT


def hold_recording(config: pytest.Config) -> None:
    """What only recording asks for is not asked for without it. Raises HarnessError."""
    for name in ("--art-key-from", "--art-base-url", "--art-model"):
        if option(config, name) and not option(config, "--art-record"):
            message = f"{name} is for --art-record: without it no provider is asked"
            raise HarnessError(message)


def record_first(config: pytest.Config, make: Factory, name: str) -> None:
    """`--art-record`: cassettes of the selected scenarios, made with a real key before they are replayed.

    Raises HarnessError where there is no key, where a cassette cannot be written, and where a call fails.
    """
    from art_compliance.run.recorder import Order, choose, hold_key, record  # noqa: PLC0415 - vcrpy is only for this

    variable = option(config, "--art-key-from") or ""
    if not variable:
        message = "--art-record wants a key: name the environment variable that holds it with --art-key-from"
        raise HarnessError(message)
    extra, into = option(config, "--art-scenarios-from"), option(config, "--art-cassettes")
    order = Order(
        scenarios=choose(tuple(option(config, "--art-scenario")), Path(extra) if extra else None),
        into=Path(into) if into else FOLDER,
        source="provider",
        access=Access(
            key=hold_key(os.environ.get(variable), variable),
            base_url=option(config, "--art-base-url"),
            model=option(config, "--art-model"),
        ),
    )
    try:
        told = list(record(make, order, dialect=option(config, "--art-dialect"), name=name))
    except BadCassette as error:
        raise HarnessError(str(error)) from error
    failed = [f"{one.scenario}: {one.why}" for one in told if one.path is None and not one.is_refused]
    if failed:
        raise HarnessError("not recorded: " + "; ".join(failed))


def option(config: pytest.Config, name: str) -> Any:
    """A command line option of the plugin's."""
    return config.getoption(name)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """The suite's one test, for every check and scenario that is selected."""
    try:
        plan = selection_of(metafunc.config).plan()
    except HarnessError as error:
        leave(str(error))
    cases = [pytest.param(check, scenario, id=f"{check.id}-{scenario.id}") for check, scenario in plan]
    metafunc.parametrize(("check", "scenario"), cases)


def parametrize_payloads(metafunc: pytest.Metafunc) -> None:
    """The test of an author's own payloads, for every scenario that is selected."""
    try:
        scenarios = selection_of(metafunc.config).chosen()
    except HarnessError as error:
        leave(str(error))
    metafunc.parametrize("scenario", [pytest.param(scenario, id=scenario.id) for scenario in scenarios])


def selection_of(config: pytest.Config) -> Selection:
    """What the command line selects."""
    extra, asked = option(config, "--art-scenarios-from"), option(config, "--art-cassettes")
    return Selection(
        checks=tuple(option(config, "--art-check")),
        scenarios=tuple(option(config, "--art-scenario")),
        extra=Path(extra) if extra else None,
        cassettes=find_cassettes(Path(asked) if asked else None),
    )


def search_of(config: pytest.Config) -> Search:
    """How hard the command line says to search. Raises HarnessError."""
    return Search(profile=find_profile(option(config, "--art-profile")), kept=config.rootpath / ".art")


def leave(message: str) -> NoReturn:
    """Ends pytest with exit code 2 and the message."""
    pytest.exit(f"harness: {message}", returncode=HARNESS_EXIT)


def hold_fixture_scope(session: pytest.Session) -> None:
    """`art_adapter` must be session-scoped: the adapter is made once, not once a check."""
    for item in session.items:
        if isinstance(item, pytest.Function) and "art_adapter" in item.fixturenames:
            definitions: Any = vars(item)["_fixtureinfo"].name2fixturedefs.get("art_adapter", ())
            if definitions and definitions[-1].scope != "session":
                scope, place = definitions[-1].scope, definitions[-1].baseid or "a conftest"
                leave(
                    f"the fixture art_adapter in {place} has the scope {scope!r}; "
                    'write @pytest.fixture(scope="session") above it'
                )


def _see_working_directory(config: pytest.Config) -> None:
    """The console script `pytest` does not put the working directory on `sys.path`."""
    here = str(config.invocation_params.dir)
    if here not in sys.path:
        sys.path.insert(0, here)
