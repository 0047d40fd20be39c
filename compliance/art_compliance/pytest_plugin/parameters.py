"""What a test file gets from `art_compliance.suite` and `snapshots`: its parameters."""

from __future__ import annotations

from typing import Any, Final

import pytest

from art_compliance.findings import HarnessError
from art_compliance.pytest_plugin.options import leave, selection_of
from art_compliance.pytest_plugin.results import attach_results
from art_compliance.run.selection import by_check

_SUITE: Final = "art_compliance.suite"
_PLUGIN: Final = "art_compliance.plugin"


def parametrize_checks(metafunc: pytest.Metafunc) -> None:
    """Makes one test per selected check."""
    try:
        plan = selection_of(metafunc.config).plan()
    except HarnessError as error:
        leave(metafunc.config, str(error))
    attach_results(metafunc.config)
    metafunc.parametrize("trials", [pytest.param(trials, id=trials.check.id) for trials in by_check(plan)])


def parametrize_payloads(metafunc: pytest.Metafunc) -> None:
    """Makes one test of an author's own payloads per selected scenario."""
    try:
        scenarios = selection_of(metafunc.config).chosen()
    except HarnessError as error:
        leave(metafunc.config, str(error))
    metafunc.parametrize("scenario", [pytest.param(scenario, id=scenario.id) for scenario in scenarios])


def require_session_scope(session: pytest.Session) -> None:
    """`art_adapter` must be session-scoped: the adapter is made once, not once per check."""
    for item in session.items:
        definition = _adapter_fixture(item)
        if definition is not None and definition.scope != "session":
            scope, place = definition.scope, definition.baseid or "a conftest"
            leave(
                item.config,
                f"the fixture art_adapter in {place} has the scope {scope!r}; "
                'write @pytest.fixture(scope="session") above it',
            )


def is_of_the_option(item: pytest.Item) -> bool:
    """Whether the test is one of the suite's checks, on the adapter that `--art-adapter` or the settings name."""
    definition = _adapter_fixture(item)
    check: Any = getattr(item, "function", None)
    return definition is not None and (check.__module__, definition.func.__module__) == (_SUITE, _PLUGIN)


def _adapter_fixture(item: pytest.Item) -> Any:
    """The definition of the fixture `art_adapter` that the test uses; None if it uses none."""
    if not isinstance(item, pytest.Function) or "art_adapter" not in item.fixturenames:
        return None
    definitions: Any = vars(item)["_fixtureinfo"].name2fixturedefs.get("art_adapter", ())
    return definitions[-1] if definitions else None
