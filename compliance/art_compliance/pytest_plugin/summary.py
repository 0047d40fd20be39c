"""What the suite says at the end of pytest: the counts by level, and the report."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from art_compliance.findings import HarnessError
from art_compliance.plugin import RUN
from art_compliance.pytest_plugin.items import ADAPTER, Told, properties, results_of
from art_compliance.pytest_plugin.run import HARNESS_EXIT, option, selection_of
from art_compliance.run.report import Report, Result, make_report, write_reports
from art_compliance.run.reproducing import write_repros
from art_compliance.run.summary import describe_counts

if TYPE_CHECKING:
    import pytest


def write_summary(reporter: Any, config: pytest.Config) -> None:
    """The counts by level, and `report.json` where it is asked for."""
    selection, run = selection_of(config), config.stash.get(RUN, None)
    planned = selection.plan() if run is None else run.plan()
    reports: list[Report] = []
    for told, results in _by_adapter(reporter).items():
        report = make_report(
            msgspec.json.decode(told, type=Told).adapter,
            results,
            rerun=msgspec.json.decode(told, type=Told).rerun,
            is_filtered=not selection.is_whole or len(results) != len(planned),
            started=datetime.now(UTC),
            seconds=sum(result.seconds for result in results),
        )
        reports.append(report)
    reporter.section("adapter conformance")
    for report in reports:
        for line in describe_counts(report):
            reporter.write_line(line)
    _write(reporter, reports, option(config, "--art-report"))


def _write(reporter: Any, reports: list[Report], folder: str | None) -> None:
    if folder:
        try:
            reporter.write_line(f"report: {write_reports(reports, Path(folder))}")
            write_repros(reports, Path(folder))
        except HarnessError as error:
            reporter.write_line(f"harness: {error}", red=True)
            reporter._session.exitstatus = HARNESS_EXIT  # noqa: SLF001 - the summary is the last to speak


def _by_adapter(reporter: Any) -> dict[str, list[Result]]:
    """Each adapter's results: two test files may certify two."""
    told: dict[str, list[Result]] = {}
    for adapter, result in zip(properties(reporter, ADAPTER), results_of(reporter), strict=True):
        told.setdefault(adapter, []).append(result)
    return told
