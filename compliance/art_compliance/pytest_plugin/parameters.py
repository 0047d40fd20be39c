"""What a test file gets from `art_compliance.suite` and `snapshots`: parameters, and a check of its fixture."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.findings import HarnessError
from art_compliance.pytest_plugin.options import leave, selection_of


def parametrize_checks(metafunc: pytest.Metafunc) -> None:
    """Makes one test per selected check and scenario."""
    try:
        plan = selection_of(metafunc.config).plan()
    except HarnessError as error:
        leave(str(error))
    cases = [pytest.param(check, scenario, id=f"{check.id}-{scenario.id}") for check, scenario in plan]
    metafunc.parametrize(("check", "scenario"), cases)


def parametrize_payloads(metafunc: pytest.Metafunc) -> None:
    """Makes one test of an author's own payloads per selected scenario."""
    try:
        scenarios = selection_of(metafunc.config).chosen()
    except HarnessError as error:
        leave(str(error))
    metafunc.parametrize("scenario", [pytest.param(scenario, id=scenario.id) for scenario in scenarios])


def require_session_scope(session: pytest.Session) -> None:
    """`art_adapter` must be session-scoped: the adapter is made once, not once per check."""
    for item in session.items:
        if isinstance(item, pytest.Function) and "art_adapter" in item.fixturenames:
            definitions: Any = vars(item)["_fixtureinfo"].name2fixturedefs.get("art_adapter", ())
            if definitions and definitions[-1].scope != "session":
                scope, place = definitions[-1].scope, definitions[-1].baseid or "a conftest"
                leave(
                    f"the fixture art_adapter in {place} has the scope {scope!r}; "
                    'write @pytest.fixture(scope="session") above it'
                )
