"""Finds the reports of a board: each subject once, each of a whole report that nobody edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.run.counts import count_classes
from art_compliance.run.reading import read_every_report
from art_compliance.run.report import Report


def read_subjects(paths: Iterable[Path]) -> list[Report]:
    """The reports of these files and folders, one for each subject.

    A folder without a `report.json` stands for the folders in it that have one. Raises HarnessError for a file that
    is not a report of this version or was edited, for a shard, and for a subject that is in two reports.
    """
    found: dict[str, tuple[Path, Report]] = {}
    for path in paths:
        for file in _files(path):
            for report in _read(file):
                name = report.adapter.name
                if name in found:
                    raise HarnessError(f"{name} is in {found[name][0]} and in {file}; give one report of each subject")
                found[name] = (file, report)
    if not found:
        raise HarnessError("none of the reports has a subject")
    return [report for _, report in found.values()]


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir() or (path / "report.json").exists():
        yield path / "report.json" if path.is_dir() else path
        return
    inner = sorted(path.glob("*/report.json"))
    if not inner:
        raise HarnessError(f"there is no report.json in {path}, nor in the folders in it")
    yield from inner


class _Claim(Struct, frozen=True):
    is_certified: bool


class _Claims(Struct, frozen=True):
    reports: tuple[_Claim, ...]


def _read(file: Path) -> Iterator[Report]:
    """The reports of a file, whose counts must be those of their results."""
    reports = read_every_report(file)
    try:
        claims = msgspec.json.decode(file.read_bytes(), type=_Claims).reports
    except (OSError, ValueError, RecursionError) as error:
        raise HarnessError(f"{file} was edited: it does not say what is certified ({error})") from error
    for report, one in zip(reports, claims, strict=True):
        name = report.adapter.name
        if report.classes != count_classes(report.results):
            raise HarnessError(f"{file} was edited: its counts of {name} are not those of its results")
        if one.is_certified != report.is_certified:
            raise HarnessError(f"{file} was edited: its verdict of {name} is not that of its results")
        if report.shard is not None:
            raise HarnessError(f"{file} is shard {report.shard} of {name}; put all of them together with art merge")
        yield report
