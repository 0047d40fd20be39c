"""Reads `report.json` again."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.run.report import REPORT_VERSION, Report


class _Version(Struct, frozen=True):
    report_version: int


class _Reports(Struct, frozen=True):
    reports: tuple[Report, ...]


def read_reports(path: Path) -> dict[str, Report]:
    """The reports of a file, or of the `report.json` in a folder, by adapter. Raises HarnessError."""
    return {report.adapter.name: report for report in read_every_report(path)}


def read_every_report(path: Path) -> tuple[Report, ...]:
    """The reports of a file, or of the `report.json` in a folder.

    Raises HarnessError for a file that cannot be read, is not a report, or is a report of another version.
    """
    file = path / "report.json" if path.is_dir() else path
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise HarnessError(f"cannot read {file}: {error.strerror}") from error
    try:
        version = msgspec.json.decode(raw, type=_Version).report_version
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{file} is not a report of art certify: {error}") from error
    if version != REPORT_VERSION:
        raise HarnessError(
            f"{file} is a report of version {version}, and this suite reads version {REPORT_VERSION}; "
            "certify again with this suite, or compare with the suite that wrote it"
        )
    try:
        return msgspec.json.decode(raw, type=_Reports).reports
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{file} is a damaged report: {error}") from error
