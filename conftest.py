"""How tests are collected and distributed over the workers of pytest-xdist, and what Hypothesis may take."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from zlib import crc32

import httpcore2
import pytest
from coverage import Coverage
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

import art_compliance
import art_sdk
from row_tables import is_sampled, unmeasured

LONG = {"once", "unmeasured"}
"""The marks of most long tests."""

SPREAD = ("test_miniatures.py", "test_official_clients.py", "test_reference_adapters.py", "test_subjects.py")
"""Files with many long tests. Their tests go to any worker, but those with the same parameters share one."""


MEASURED = pytest.StashKey[bool]()
"""Whether coverage measures a test: it is one of the first rows of its table, or of a sample of the others."""


TOGETHER = "/test_corpus_"
"""Files that read the same recordings, which are unpacked once in each worker."""


class ByFile(LoadScopeScheduling):
    """Keeps the tests of a file on one worker, as their fixtures are shared, except those of `SPREAD`."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if TOGETHER in file:
            return TOGETHER
        return f"{file}[{test.partition('[')[2]}" if file.endswith(SPREAD) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Take the place of `--dist loadfile`."""
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


# Tests make clients by the thousand, and each would read the system's certificates again, which takes 20 ms.
# httpcore2 must be imported before any test, anyway: `pytester` unloads what a run inside this process imported first,
# and httpx2 does not know the exceptions of a second copy.
httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)
ssl.create_default_context = cache(ssl.create_default_context)  # httpx and urllib3

# A busy machine is not a failure. CI tries the same examples each time, everybody else others.
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

    While some 12,000 tests are collected, it would look through all of them hundreds of times, and each time that a
    test collects garbage, once more. Coverage measures imports of the packages, and not what tables are made of.
    """
    if Coverage.current() is not None:
        import_all()
    gc.disable()
    try:
        with unmeasured():
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def small_heap() -> None:
    """Hide from the garbage collector what earlier files left: modules, schemas, pools.

    Some tests collect garbage many times, and it would look through all of that each time.
    """
    gc.collect()
    gc.freeze()


def import_all() -> None:
    """Import every module while coverage measures, and not in the first test that needs it, where it may pause."""
    for package in (art_compliance, art_sdk):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Pause coverage, which doubles a test's time, for tests that run the same lines as others.

    These are tests that are marked `unmeasured`, and, behind the fifth row of a table whose test is not marked
    `measured`, three in four rows. Which ones depends on a hash of their ids: each table leaves out other dialects.
    """
    is_measured = item.get_closest_marker("measured") or item.stash[MEASURED]
    if Coverage.current() is None or (is_measured and not item.get_closest_marker("unmeasured")):
        return (yield)
    with unmeasured():
        return (yield)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for how much is run."""
    parser.addoption("--sample", action="store_true", help="run each test function with few of its parameters")
    parser.addoption("--thorough", action="store_true", help="run the tests that are marked 'thorough', too")


@pytest.hookimpl(trylast=True)  # after -m and -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files with the longest tests first, so that no worker is left alone with one at the end."""
    if not config.getoption("thorough"):
        _select(config, items, lambda item: item.get_closest_marker("thorough") is None)
    if config.getoption("sample"):
        _select(config, items, set(sample(items, first=1, every=23)).__contains__)
    firsts = set(sample(items, first=5, every=len(items)))
    for item in items:
        item.stash[MEASURED] = item in firsts or crc32(item.nodeid.encode()) % 4 == 0
    items.sort(key=lambda item: sum(mark.name in LONG for mark in item.iter_markers()), reverse=True)


def _select(config: pytest.Config, items: list[pytest.Item], is_run: Callable[[pytest.Item], bool]) -> None:
    """Take out the other tests, as `-m` does."""
    config.hook.pytest_deselected(items=[item for item in items if not is_run(item)])
    items[:] = filter(is_run, items)


def sample(items: list[pytest.Item], *, first: int, every: int) -> Iterator[pytest.Item]:
    """Yield each test function with its first rows of parameters, and with some of the others.

    Take a prime number for `every`: it divides no number of dialects or adapters, so that none of them is left out of
    every table.
    """
    seen: Counter[str] = Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        seen[function] += 1
        if is_sampled(seen[function], first=first, every=every):
            yield item
