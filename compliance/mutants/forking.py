"""Runs pytest in a fork of a process that has imported all but the suite: what is slow to import is imported once."""

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
"""What tests import besides the suite itself. What is not installed is left out."""

SWITCHES = ("-q", "-p", "no:cacheprovider", "-p", "syrupy", "-p", "anyio", "--assert=plain", "--tb=no")
"""Only the plugins that the tests need: the others are not loaded. Nobody reads what an assertion said."""

TICK = 0.01


class Outcome(Struct, frozen=True):
    """What became of a run: `by` is what failed first, or what else ended it. `times` are seconds by test."""

    verdict: str
    by: str
    seconds: float
    times: dict[str, float]
    failed: tuple[str, ...] = ()


def warm_up(tree: Path) -> None:
    """Imports what never changes, and has the suite imported from the tree. The suite itself is not imported."""
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
    from hypothesis import Phase, settings  # noqa: PLC0415 - imported above, where it is there

    settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate], database=None, deadline=None)
    settings.load_profile("mutants")


def run(tree: Path, arguments: list[str], *, order: list[str] | None, limit: float) -> Outcome:
    """Runs tests in a fork until the seconds are up: those of an order, until one fails; without one, all."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told.json")
        child = os.fork()
        if child == 0:
            _be_pytest(tree, arguments, Watcher(order), told)
        status = _await(child, begun + limit)
        seconds = time.monotonic() - begun
        if status is None:
            return Outcome("timeout", f"{limit:.0f} s", seconds, {})
        if not told.exists():
            return Outcome("killed", f"the process ended with {status}", seconds, {})
        said: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
        failed = tuple(said["failed"])
        by = next(iter(failed), f"pytest ended with {said['code']}")
        return Outcome("survived" if said["code"] == 0 else "killed", by, seconds, said["times"], failed)


class Watcher:
    """A pytest plugin: puts tests in order, and remembers how long each took and which ones failed."""

    def __init__(self, order: list[str] | None) -> None:
        self.order = order
        self.times: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Puts the tests in order, and leaves out those that are not of it."""
        if self.order is not None:
            places = {name: place for place, name in enumerate(self.order)}
            items[:] = sorted((one for one in items if one.nodeid in places), key=lambda one: places[one.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remembers seconds and failures."""
        self.times[report.nodeid] = self.times.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot be imported kills, too."""
        if report.failed:
            self.failed.append(f"{report.nodeid} cannot be collected")


def _be_pytest(tree: Path, arguments: list[str], watcher: Watcher, told: Path) -> None:
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
        said = {"code": code, "failed": watcher.failed, "times": watcher.times}
        told.write_text(json.dumps(said), encoding="utf-8")
        os._exit(code)


def _await(child: int, until: float) -> int | None:
    """How the process ended; None where it did not in time. It and what it started are ended in any case."""
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
