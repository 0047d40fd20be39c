"""What a downstream test file imports, to have every check as a test of its own.

from art_compliance.suite import *

@pytest.fixture(scope="session")
def art_adapter():
    return MyAdapter          # the factory, not an instance
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from art_compliance.checks import Check
from art_compliance.findings import HarnessError
from art_compliance.plugin import seed_of
from art_compliance.pytest_plugin.items import hold
from art_compliance.pytest_plugin.run import leave, search_of, selection_of
from art_compliance.run.runner import Session
from art_compliance.scenarios import Scenario
from art_compliance.subject.factories import Factory, name_of
from art_compliance.subject.opening import open_subject


@pytest.fixture(scope="session")
def art_adapter() -> Factory:
    """The factory of the adapter under test. Define your own in your test file or conftest."""
    leave("define a session-scoped fixture art_adapter that returns your adapter's factory")


@pytest.fixture(scope="session")
def art_session(art_adapter: Factory, request: pytest.FixtureRequest) -> Iterator[Session]:
    """The adapter, opened for the whole test session."""
    dialect: str | None = request.config.getoption("--art-dialect")
    try:
        with open_subject(art_adapter, name=name_of(art_adapter), dialect=dialect) as subject:
            config = request.config
            yield Session(subject, seed_of(config), search_of(config), selection_of(config))
    except HarnessError as error:
        leave(str(error))


def test_adapter(check: Check, scenario: Scenario, art_session: Session, request: pytest.FixtureRequest) -> None:
    """One check on one scenario."""
    hold(request.node, art_session, check, scenario)


__all__ = ["art_adapter", "art_session", "test_adapter"]
