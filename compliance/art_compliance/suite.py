"""Import everything from here into a test file, and every check becomes a test in it.

from art_compliance.suite import *

@pytest.fixture(scope="session")
def art_adapter():
    return MyAdapter          # the factory, not an instance

The fixture may also be in a conftest.py. Without one, the adapter is that of `[tool.art]` in pyproject.toml.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from art_compliance.cli import explaining_missing

with explaining_missing(lambda message: pytest.exit(message, returncode=2)):
    from art_compliance.findings import HarnessError, NotMade
    from art_compliance.pytest_plugin.items import run_as_test
    from art_compliance.pytest_plugin.options import (
        baseline_of,
        dialect_of,
        fail,
        leave,
        option,
        search_of,
        seconds_of,
        selection_of,
    )
    from art_compliance.pytest_plugin.preflight import run_preflight
    from art_compliance.pytest_plugin.seed import seed_of
    from art_compliance.run.selection import Trials
    from art_compliance.run.session import Session
    from art_compliance.subject.factories import Factory, name_of
    from art_compliance.subject.opening import open_subject


@pytest.fixture(scope="session")
def art_session(art_adapter: Factory, request: pytest.FixtureRequest) -> Iterator[Session]:
    """The adapter, opened for the whole test session."""
    config = request.config
    isolated = not option(config, "--art-in-process")
    try:
        opening = open_subject(
            art_adapter,
            name=name_of(art_adapter),
            dialect=dialect_of(config),
            isolated=isolated,
            seconds=seconds_of(config),
            seed=seed_of(config),
        )
        with opening as subject:
            selection, baseline = selection_of(config), baseline_of(config)
            session = Session(subject, seed_of(config), search_of(config), selection, baseline=baseline)
            run_preflight(config, session, selection.plan())
            yield session
    except NotMade as error:
        fail(config, str(error))
    except HarnessError as error:
        leave(config, str(error))


def test_adapter(trials: Trials, art_session: Session, request: pytest.FixtureRequest) -> None:
    """One check on all its scenarios."""
    run_as_test(request.node, art_session, trials)


__all__ = ["art_session", "test_adapter"]
