"""The calls that others recorded, for several test files; and where tests with the mark `once` run, and how."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

import pytest
from coverage import Coverage

from art_compliance.cassettes.corpus import Found, Unreachable, load_packages, read_package

PACKAGES = {package.name: package for package in load_packages()}


@cache
def read_once(name: str) -> tuple[Found, ...] | str:
    try:
        return read_package(PACKAGES[name])
    except Unreachable as error:
        return str(error)


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.xdist_group(f"corpus-{name}")) for name in PACKAGES])
def packaged(request: pytest.FixtureRequest) -> tuple[Found, ...]:
    """Every recorded call of a package. Skips where the index cannot be asked, with what it said."""
    found = read_once(request.param)
    if isinstance(found, str):
        pytest.skip(f"the corpus is not to be had: {found}")
    return found


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Stop coverage in the process that only hands out tests to the workers of pytest-xdist."""
    measuring = Coverage.current()
    if measuring and config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        measuring.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests come first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("once") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Pause coverage during a test with the mark `once`: other tests cover the same lines in less time."""
    measuring = Coverage.current() if item.get_closest_marker("once") else None
    if measuring is None:
        return (yield)
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()
