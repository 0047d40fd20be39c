"""The summary at the end of pytest: the counts of each level, the verdict, and the report."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from art_compliance.findings import HarnessError
from art_compliance.publishing.files import publish
from art_compliance.pytest_plugin.options import HARNESS_EXIT, option, selection_of
from art_compliance.pytest_plugin.results import results_by_run
from art_compliance.pytest_plugin.run import find_runs
from art_compliance.run.lines import Style
from art_compliance.run.report import Report, make_report
from art_compliance.run.reproducing import write_repros
from art_compliance.run.summary import describe_counts

if TYPE_CHECKING:
    import pytest


_MARKUP: Final[dict[Style, dict[str, bool]]] = {
    "plain": {},
    "good": {"green": True, "bold": True},
    "bad": {"red": True, "bold": True},
}


def write_summary(reporter: Any, config: pytest.Config) -> None:
    """Prints the counts, and writes `report.json` if `--art-report` says where. Failures are pytest's to print."""
    reports, folder = list(_reports(reporter, config)), option(config, "--art-report")
    reporter.section("adapter conformance")
    for report in reports:
        for line in describe_counts(report):
            reporter.write_line(line.text, **_MARKUP[line.style])
    if folder:
        _write(reporter, reports, Path(folder))


def _reports(reporter: Any, config: pytest.Config) -> Iterator[Report]:
    selection, planned = selection_of(config), {run.name: len(run.plan) for run in find_runs(config)}
    for facts, results in results_by_run(reporter):
        wanted = planned.get(facts.adapter.name) or len(selection.plan())
        yield make_report(
            facts.adapter,
            results,
            rerun=facts.rerun,
            counting=selection.counting,
            is_filtered=not selection.is_whole or len(results) != wanted,
            started=datetime.now(UTC),
            seconds=sum(result.seconds for result in results),
            in_process=facts.in_process,
        )


def _write(reporter: Any, reports: list[Report], folder: Path) -> None:
    try:
        reporter.write_line(f"report: {publish(reports, folder)}")
        write_repros(reports, folder)
    except HarnessError as error:
        reporter.write_line(f"harness: {error}", red=True)
        reporter._session.exitstatus = HARNESS_EXIT  # noqa: SLF001 - no hook runs after the summary
