"""How tests are collected and distributed over the workers of pytest-xdist, and what Hypothesis may take."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from coverage import Coverage
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

LONG = {"once", "unmeasured"}
"""The marks of most long tests."""

SPREAD = ("test_miniatures.py", "test_official_clients.py", "test_reference_adapters.py", "test_subjects.py")
"""Files with many long tests. Their tests go to any worker, but those with the same parameters share one."""


class ByFile(LoadScopeScheduling):
    """Keeps the tests of a file on one worker, as their fixtures are shared, except those of `SPREAD`."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        return f"{file}[{test.partition('[')[2]}" if file.endswith(SPREAD) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Take the place of `--dist loadfile`."""
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


# A machine that is busy with something else is no failure. CI tries the same examples each time, everybody else others.
settings.register_profile("busy machines", deadline=None, derandomize="SAME_EXAMPLES" in os.environ)
settings.load_profile("busy machines")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Stop coverage in the process that only hands out tests to the workers of pytest-xdist."""
    coverage = Coverage.current()
    if coverage and config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        coverage.stop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Hide from the garbage collector what lives as long as the session.

    While some 20,000 tests are collected, it would look through all of them hundreds of times, and each time that a
    test collects garbage, once more.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def unmeasured() -> Iterator[None]:
    """Let coverage trace neither this thread, nor threads and processes that start meanwhile."""
    here, elsewhere = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type] # None ends it, as with sys.settrace
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
            yield
    finally:
        sys.settrace(here)
        threading.settrace(elsewhere)  # type: ignore[arg-type] # likewise


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Pause coverage for tests that are marked `unmeasured`: one session runs them all."""
    if not item.get_closest_marker("unmeasured"):
        return (yield)
    with unmeasured():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with the longest tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: sum(mark.name in LONG for mark in item.iter_markers()), reverse=True)
