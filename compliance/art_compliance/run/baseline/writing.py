"""`--baseline-write`: makes a baseline of the failures of now, and keeps what an author has written in the old one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import structs

from art_compliance.checks import CHECKS
from art_compliance.findings import HarnessError
from art_compliance.generating.requests import FAMILIES
from art_compliance.run.baseline.entries import Baseline, Entry
from art_compliance.run.baseline.requests import write_request
from art_compliance.run.causes import shape_of
from art_compliance.run.report import Report
from art_compliance.run.results import Result


def write_baseline(file: Path, old: Baseline | None, reports: Sequence[Report]) -> tuple[int, int]:
    """Writes the failures of the reports, and returns how many entries were added and removed. Raises HarnessError.

    Entries of the old baseline stay as they are, with their comments; those that are there for no failure go.
    """
    added = list(_entries_for(reports))
    used = {one.entry for report in reports for result in report.results for one in result.known}
    unused = {number for report in reports if report.baseline for number in report.baseline.unused}
    gone = sorted(unused - used, reverse=True)
    from art_compliance.run.baseline.document import change  # noqa: PLC0415 - tomlkit is only needed here

    try:
        text = file.read_bytes().decode() if old is not None else None  # its ends of lines stay as they are
        file.write_bytes(change(text, gone, added).encode())
    except OSError as error:
        raise HarnessError(f"cannot write the baseline {file}: {error.strerror}") from error
    return len(added), len(gone)


def is_red_after_writing(report: Report) -> bool:
    """Whether a run fails though its failures are in the baseline now: some never are, and some entries are too old."""
    past = 0 if report.baseline is None else len(report.baseline.problems) - len(report.baseline.unused)
    return bool(report.stopped or past or any(map(_stops_the_run, report.failures)))


def _entries_for(reports: Sequence[Report]) -> Iterator[Entry]:
    """An entry for each failure; for each cause of one on generated prompts. An adapter is named if there are more."""
    for report in reports:
        adapter = report.adapter.name if len(reports) > 1 else None
        for result in report.failures:
            if not _stops_the_run(result):
                for entry in _causes_of(result) if result.scenario in FAMILIES else _entry_of(result):
                    yield structs.replace(entry, adapter=adapter)


def _stops_the_run(result: Result) -> bool:
    """Whether nothing else was judged: no baseline has such a failure."""
    return result.check in CHECKS and CHECKS[result.check].stage.stops_the_run


def _entry_of(result: Result) -> Iterator[Entry]:
    yield Entry(check=result.check, scenario=result.scenario)


def _causes_of(result: Result) -> Iterator[Entry]:
    """The causes of a generated failure, the first with the prompt that shows it: the search gives one per check."""
    wrong = [finding for finding in result.findings if finding.severity == "reject"]
    example = next((finding.example for finding in wrong if finding.example is not None), None)
    for cause in dict.fromkeys(shape_of(finding.message) for finding in wrong):
        kept = None if example is None else write_request(example)
        yield Entry(check=result.check, scenario=result.scenario, cause=cause, request=kept)
