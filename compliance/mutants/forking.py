"""Runs pytest in a fork of a process that has imported everything except the suite: slow imports happen only once."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

WARM = ("hypothesis.strategies", "httpx2", "jsonschema_rs", "anyio", "h11", "vcr", "typer.testing", "rich", "art_sdk")
"""What tests import besides the suite itself; modules that are not installed are skipped."""

SWITCHES = ("-q", "--thorough", "-p", "no:cacheprovider", "-p", "syrupy", "-p", "anyio", "--assert=plain", "--tb=no")
"""Loads only the plugins that the tests need, and explains no assertions: nobody reads the explanations."""

TICK = 0.01


class Outcome(Struct, frozen=True):
    """The result of a run: `by` is the first failure, or whatever else ended it. `times` are seconds by test."""

    verdict: str
    by: str
    seconds: float
    times: dict[str, float]
    failed: tuple[str, ...] = ()


def warm_up(tree: Path) -> None:
    """Imports what never changes, and makes the tree the place that the suite is imported from. Does not import it."""
    sys.path[:0] = [str(tree), str(tree / "compliance")]
    sys.dont_write_bytecode = True
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(sys.path[:2]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    for name in WARM:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    from hypothesis import Phase, settings  # noqa: PLC0415 - it was imported above, if it is installed

    settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate], database=None, deadline=None)
    settings.load_profile("mutants")


def run(tree: Path, arguments: list[str], *, order: list[str] | None, limit: float) -> Outcome:
    """Runs tests in a fork for at most `limit` seconds: in the given order until one fails, or all without an order."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.json")
        child = os.fork()
        if child == 0:
            _be_pytest(tree, arguments, Watcher(order), results)
        status = _await(child, begun + limit)
        seconds = time.monotonic() - begun
        if status is None:
            return Outcome("timeout", f"{limit:.0f} s", seconds, {})
        if not results.exists():
            return Outcome("killed", f"the process ended with {status}", seconds, {})
        found: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
        failed = tuple(found["failed"])
        by = next(iter(failed), f"pytest exited with {found['code']}")
        return Outcome("survived" if found["code"] == 0 else "killed", by, seconds, found["times"], failed)


class Watcher:
    """A pytest plugin: puts tests in order, and remembers how long each took and which ones failed."""

    def __init__(self, order: list[str] | None) -> None:
        self.order = order
        self.times: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Puts the tests in order, and leaves out those that the order does not name."""
        if self.order is not None:
            places = {name: place for place, name in enumerate(self.order)}
            items[:] = sorted((one for one in items if one.nodeid in places), key=lambda one: places[one.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remembers durations and failures."""
        self.times[report.nodeid] = self.times.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Counts a module that cannot be imported as a failure."""
        if report.failed:
            self.failed.append(f"{report.nodeid} cannot be collected")


def _be_pytest(tree: Path, arguments: list[str], watcher: Watcher, results: Path) -> None:
    """Never returns."""
    code = 1
    try:
        os.setsid()
        os.chdir(tree)
        for stream in range(3):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        until = [] if watcher.order is None else ["-x"]
        code = int(pytest.main([*SWITCHES, *until, *arguments], plugins=[watcher]))
    finally:
        found = {"code": code, "failed": watcher.failed, "times": watcher.times}
        results.write_text(json.dumps(found), encoding="utf-8")
        os._exit(code)


def _await(child: int, until: float) -> int | None:
    """The exit code of the process, or None if it did not end in time. Kills its whole process group in any case."""
    status: int | None = None
    try:
        while status is None and time.monotonic() < until:
            ended, code = os.waitpid(child, os.WNOHANG)
            status = os.waitstatus_to_exitcode(code) if ended else None
            time.sleep(0 if ended else TICK)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if status is None:
            os.waitpid(child, 0)
    return status
