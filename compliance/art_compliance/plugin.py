"""The pytest plugin: its options and hooks. pytest loads it at every start, so at first it imports only pytest.

pytest --art-adapter my_pkg.adapters:MyAdapter        # no test file needed
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any, Final

import pytest

_SUITE: Final = "art_compliance.suite"
_SNAPSHOTS: Final = "art_compliance.snapshots"
_NOT_APPLICABLE: Final = "not applicable"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("art", "LLM provider adapter conformance")
    group.addoption("--art", action="store_true", help="certify the adapters that [tool.art] in pyproject.toml names")
    group.addoption(
        "--art-adapter",
        metavar="MODULE:ATTR",
        action="append",
        default=[],
        help="certify this adapter (its class or factory; repeatable)",
    )
    group.addoption("--art-dialect", metavar="NAME", help="its wire format, if the adapter does not declare one")
    group.addoption("--art-check", metavar="ID", action="append", default=[], help="run only this check (repeatable)")
    group.addoption("--art-scenario", metavar="ID", action="append", default=[], help="only this scenario (repeatable)")
    group.addoption("--art-skip", metavar="ID", action="append", default=[], help="do not run this check (repeatable)")
    group.addoption("--art-level", metavar="NAME", action="append", default=[], help="only this level (repeatable)")
    group.addoption("--art-scenarios-from", metavar="DIR", help="also run the scenarios in this folder")
    group.addoption("--art-seed", metavar="N", type=int, help="the seed of all random choices (default: random)")
    group.addoption("--art-profile", metavar="NAME", help="quick, default (unless set) or thorough")
    group.addoption("--art-cassettes", metavar="DIR", help="recorded calls to replay (default: ./cassettes)")
    group.addoption("--art-record", action="store_true", help="first record these calls from the real provider")
    group.addoption("--art-key-from", metavar="VARIABLE", help="the environment variable with the provider's key")
    group.addoption("--art-base-url", metavar="URL", help="with --art-record: the provider's URL, if not the usual one")
    group.addoption("--art-model", metavar="NAME", help="with --art-record: the model, if not the adapter's default")
    group.addoption("--art-in-process", action="store_true", help="run the adapter in this process, for debuggers")
    group.addoption("--art-time-limit", metavar="SECONDS", type=float, help="fail what has not ended by then (an hour)")
    group.addoption("--art-baseline", metavar="FILE", help="the known failures (default: art-baseline.toml)")
    group.addoption("--art-no-baseline", action="store_true", help="count known failures, too")
    group.addoption("--art-baseline-write", action="store_true", help="write the failures into the baseline")
    group.addoption("--art-preview", action="store_true", help="also count checks newer than the requirement set")
    group.addoption("--art-shard", metavar="K/N", help="run one part of several, as 2/3; art merge joins the reports")
    group.addoption("--art-report", metavar="DIR", help="write report.json into this folder")


def pytest_configure(config: pytest.Config) -> None:
    if _is_run(config):
        with _explaining_missing():
            from art_compliance.pytest_plugin.run import start_runs  # noqa: PLC0415 - only when it is used
        start_runs(config)
    elif config.getoption("--art-report"):
        with _explaining_missing():
            from art_compliance.pytest_plugin.options import require_report_folder  # noqa: PLC0415 - likewise
        require_report_folder(config)


def _explaining_missing() -> AbstractContextManager[None]:
    """For imports of the suite: without its extra, pytest ends with one sentence."""
    from art_compliance.cli import explaining_missing  # noqa: PLC0415 - likewise

    return explaining_missing(lambda message: pytest.exit(message, returncode=2))


def _is_run(config: pytest.Config) -> bool:
    """Whether the command line asks for checks without a test file."""
    return bool(config.getoption("--art-adapter") or config.getoption("--art"))


@pytest.fixture(scope="session")
def art_adapter(request: pytest.FixtureRequest) -> Any:
    """The factory of the adapter under test: that of `[tool.art]` unless your test file or conftest defines its own."""
    with _explaining_missing():
        from art_compliance.pytest_plugin.options import default_factory  # noqa: PLC0415 - only when it is used

    return default_factory(request.config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module = metafunc.function.__module__
    if module in (_SUITE, _SNAPSHOTS):
        from art_compliance.pytest_plugin.parameters import (  # noqa: PLC0415 - only when they are used
            parametrize_checks,
            parametrize_payloads,
        )

        (parametrize_checks if module == _SUITE else parametrize_payloads)(metafunc)


def pytest_collection_finish(session: pytest.Session) -> None:
    if _SUITE in sys.modules:
        from art_compliance.pytest_plugin.fixtures import explain_fixtures  # noqa: PLC0415 - as above
        from art_compliance.pytest_plugin.parameters import require_session_scope  # noqa: PLC0415 - as above

        require_session_scope(session)
        explain_fixtures(session.config)


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Counts a check that is not applicable in its own category: it did not pass, and nothing was skipped."""
    is_left_out = getattr(report, "art_verdict", None) == _NOT_APPLICABLE
    return (_NOT_APPLICABLE, "n", (_NOT_APPLICABLE.upper(), {"cyan": True})) if is_left_out else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and _has_results(terminalreporter):
        from art_compliance.pytest_plugin.summary import write_summary  # noqa: PLC0415 - only when checks were run

        write_summary(terminalreporter, config)


def _has_results(terminalreporter: pytest.TerminalReporter) -> bool:
    """Whether a check was run, in this process or in a worker."""
    stats: Any = terminalreporter.stats
    outcomes = ("passed", "failed", "xfailed", _NOT_APPLICABLE)
    return any(hasattr(report, "art_results") for outcome in outcomes for report in stats.get(outcome, ()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Ends pytest as a worker of pytest-xdist wanted to, and with its message: pytest-xdist would show none."""
    message, code = getattr(node, "workeroutput", {}).get("art_exit", ("", 0))
    if message:
        pytest.exit(message, returncode=code)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Gives every worker of pytest-xdist the same seed, and the names of the adapters' factories."""
    from art_compliance.pytest_plugin.seed import seed_of  # noqa: PLC0415 - only under pytest-xdist

    node.workerinput["art_seed"] = seed_of(node.config)
    if _is_run(node.config):
        from art_compliance.pytest_plugin.run import find_runs  # noqa: PLC0415 - only when it is used

        node.workerinput["art_factories"] = {run.name: run.factory_name for run in find_runs(node.config)}
