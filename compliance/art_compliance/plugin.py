"""The pytest plugin: options and hooks only. It is loaded at every pytest start, so it imports nothing but pytest.

pytest --art-adapter my_pkg.adapters:MyAdapter        # no test file needed
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

RUN: Final = pytest.StashKey["Any"]()
"""Where the run of `--art-adapter` is kept: an `art_compliance.pytest_plugin.run.Run`."""


SEED: Final = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("art", "LLM provider adapter conformance")
    group.addoption("--art-adapter", metavar="MODULE:ATTR", help="certify this adapter, given by its factory")
    group.addoption("--art-dialect", metavar="NAME", help="its wire format, where the adapter does not say it")
    group.addoption("--art-check", metavar="ID", action="append", default=[], help="only this check")
    group.addoption("--art-scenario", metavar="ID", action="append", default=[], help="only this scenario")
    group.addoption("--art-scenarios-from", metavar="DIR", help="a folder of scenarios of your own, run as well")
    group.addoption("--art-seed", metavar="N", type=int, help="the seed of the canaries; random when not given")
    group.addoption("--art-profile", metavar="NAME", default="default", help="quick, default or thorough")
    group.addoption("--art-cassettes", metavar="DIR", help="recorded calls, to be replayed; ./cassettes by default")
    group.addoption("--art-record", action="store_true", help="record these calls first, from the real provider")
    group.addoption("--art-key-from", metavar="VARIABLE", help="the environment variable with the provider's key")
    group.addoption("--art-base-url", metavar="URL", help="with --art-record: the provider's URL, if not the usual")
    group.addoption("--art-model", metavar="NAME", help="with --art-record: the model, if not the adapter's own")
    group.addoption("--art-report", metavar="DIR", help="write report.json into this folder")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--art-adapter"):
        return
    try:
        from art_compliance.pytest_plugin.run import Run  # noqa: PLC0415 - only when it is asked for
    except ModuleNotFoundError as error:
        from art_compliance.cli import explain_missing  # noqa: PLC0415 - only when something is missing

        pytest.exit(explain_missing(error), returncode=2)
    config.stash[RUN] = run = Run.of_options(config)
    run.hold_preflight(config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """One more collector under the session: counted, and seen by -k, --lf, --ff, --deselect and xdist."""
    report = yield
    run = collector.config.stash.get(RUN, None)
    if run is not None and isinstance(collector, pytest.Session) and report.outcome == "passed":
        from art_compliance.pytest_plugin.items import Catalogue, make  # noqa: PLC0415 - only when it is asked for

        report.result.append(make(Catalogue, collector, name="art", nodeid="art"))
    return report


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module = metafunc.function.__module__
    if module in ("art_compliance.suite", "art_compliance.snapshots"):
        from art_compliance.pytest_plugin.run import parametrize, parametrize_payloads  # noqa: PLC0415 - only when it is used

        (parametrize if module.endswith("suite") else parametrize_payloads)(metafunc)


def pytest_collection_finish(session: pytest.Session) -> None:
    if "art_compliance.suite" in sys.modules:
        from art_compliance.pytest_plugin.run import hold_fixture_scope  # noqa: PLC0415 - only when the suite is used

        hold_fixture_scope(session)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    run = session.config.stash.get(RUN, None)
    if run is not None:
        run.finish(session)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and _has_results(terminalreporter):
        from art_compliance.pytest_plugin.summary import write_summary  # noqa: PLC0415 - only when checks were run

        write_summary(terminalreporter, config)


def _has_results(terminalreporter: pytest.TerminalReporter) -> bool:
    """Whether a check was run, here or in a worker."""
    reports: Any = terminalreporter.stats
    told = (report for kind in ("passed", "failed", "skipped") for report in reports.get(kind, ()))
    return any(name == "art_result" for report in told for name, _ in getattr(report, "user_properties", ()))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["art_seed"] = seed_of(node.config)


def seed_of(config: pytest.Config) -> int:
    """The seed of this test run: the controller's under xdist, else the one asked for, else a random one."""
    if SEED not in config.stash:
        given: dict[str, Any] = getattr(config, "workerinput", {})
        asked: Any = given.get("art_seed", config.getoption("--art-seed"))
        config.stash[SEED] = int.from_bytes(os.urandom(4)) if asked is None else asked
    return config.stash[SEED]
