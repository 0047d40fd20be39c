"""Runs pytest in a fork of a process that has imported everything except the suite: slow imports happen only once."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

WARM = (
    *("hypothesis.strategies", "httpx2", "jsonschema_rs", "anyio", "anyio._backends._asyncio", "h11", "vcr"),
    *(
        "typer.testing",
        "rich",
        "numpy",
        "pydantic",
        "jinja2",
        "coverage",
        "xdist",
        "PIL",
        "jsonschema",
        "multiprocessing",
    ),
    *("mistral_common.protocol.instruct.validator", "mistral_common.protocol.instruct.request", "art_sdk"),
)
"""What tests import besides the suite itself; modules that are not installed are skipped."""

SWITCHES = (
    *("-q", "--thorough", "--assert=plain", "--tb=no", "--snapshot-warn-unused"),
    *("-p", "no:cacheprovider", "-p", "syrupy", "-p", "anyio"),
)
"""Loads only the plugins that the tests need, and explains no assertions: nobody reads the explanations."""

TICK = 0.02
NO_TESTS = 5
"""pytest's exit code if it found no test to run."""
UNREADABLE = " cannot be collected"


class Outcome(Struct, frozen=True):
    """The result of a run: `test` is the one that failed first or never ended, `code` is pytest's, if it ended."""

    verdict: str
    test: str = ""
    code: int | None = None
    seconds: float = 0.0
    times: dict[str, float] = {}

    @property
    def by(self) -> str:
        """What ended the run, in words."""
        return self.test or f"pytest exited with {self.code}"


class Plan(Struct, frozen=True):
    """Which tests run, in which order, and how long each may take: functions of a test's id. `stops` at a failure."""

    wants: Callable[[str], bool]
    place: Callable[[str], Any]
    limit: Callable[[str], float]
    stops: bool = True


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


def run(tree: Path, arguments: list[str], plan: Plan, *switches: str) -> Outcome:
    """Runs tests in a fork. The time limit is that of each test, and that of no test ("") until the first begins."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        log.touch()
        child = os.fork()
        if child == 0:
            _be_pytest(tree, [*switches, *arguments], plan, log)
        ended = _await(child, log, plan.limit)
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    times: dict[str, float] = {}
    for kind, test, seconds in lines:
        if kind == "took":
            times[test] = times.get(test, 0.0) + seconds
    failed = next((test for kind, test, _ in lines if kind == "failed"), "")
    last = next((test for kind, test, _ in reversed(lines) if kind == "began"), "")
    code = next((code for kind, _, code in lines if kind == "exited"), None)
    verdict = "timeout" if not ended else "survived" if code in {0, NO_TESTS} else "killed"
    return Outcome(verdict, failed or ("" if code is not None else last), code, time.monotonic() - begun, times)


class Watcher:
    """A pytest plugin: puts tests in order, and writes down when each began, how long it took and which failed."""

    def __init__(self, plan: Plan, log: Path) -> None:
        self.plan = plan
        self.file = log.open("a", buffering=1, encoding="utf-8")

    def note(self, kind: str, test: str, value: float = 0) -> None:
        """One line of the log."""
        self.file.write(json.dumps((kind, test, value)) + "\n")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Puts the tests in order, and leaves out those that are not wanted."""
        items[:] = sorted(
            (one for one in items if self.plan.wants(one.nodeid)), key=lambda one: self.plan.place(one.nodeid)
        )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Notes that the test begins: its time limit counts from now on."""
        self.note("began", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes durations and failures."""
        self.note("took", report.nodeid, report.duration)
        if report.failed:
            self.note("failed", report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Counts a module that cannot be imported as a failure."""
        if report.failed:
            self.note("failed", f"{report.nodeid}{UNREADABLE}")


def _be_pytest(tree: Path, arguments: list[str], plan: Plan, log: Path) -> None:
    """Never returns."""
    code = 1
    watcher = Watcher(plan, log)
    try:
        os.setsid()
        os.chdir(tree)
        for stream in range(3):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        code = int(pytest.main([*SWITCHES, *(["-x"] if plan.stops else []), *arguments], plugins=[watcher]))
        watcher.note("exited", "", code)
    finally:
        os._exit(code)


def _await(child: int, log: Path, limit: Callable[[str], float]) -> bool:
    """Whether the process ended by itself. Kills its whole process group in any case."""
    written, until = 0, time.monotonic() + limit("")
    ended = 0
    try:
        while not ended and time.monotonic() < until:
            ended, _ = os.waitpid(child, os.WNOHANG)
            if (size := log.stat().st_size) != written:
                written, until = size, time.monotonic() + limit(_running(log))
            time.sleep(0 if ended else TICK)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if not ended:
            os.waitpid(child, 0)
    return bool(ended)


def _running(log: Path) -> str:
    """The test that began last, by the log; none while it is written."""
    lines = log.read_text(encoding="utf-8").splitlines()
    with suppress(json.JSONDecodeError):
        return next((test for kind, test, _ in map(json.loads, reversed(lines)) if kind == "began"), "")
    return ""
