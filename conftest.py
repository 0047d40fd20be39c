"""How tests with the marks `once` and `unmeasured` run (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Pause coverage during tests whose lines others cover in less time."""
    is_unmeasured = item.get_closest_marker("once") or item.get_closest_marker("unmeasured")
    coverage = Coverage.current() if is_unmeasured else None
    if coverage is None:
        return (yield)
    coverage.stop()
    try:
        return (yield)
    finally:
        coverage.start()
