"""How tests are distributed over the workers of pytest-xdist."""

from __future__ import annotations

import pytest
from coverage import Coverage


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Stop coverage in the process that only hands out tests to the workers of pytest-xdist."""
    coverage = Coverage.current()
    if coverage and config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        coverage.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with the longest tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("once") is None)
