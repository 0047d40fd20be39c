"""The history of a board: a file of JSON lines, one line for each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.publishing.page.rows import State, gather, state_of
from art_compliance.run.report import Report
from art_compliance.run.writing import writing

HISTORY_VERSION: Final = 1
"""The version of a line's form."""


class CheckOutcome(Struct, frozen=True, forbid_unknown_fields=True):
    """How a check ended on a subject, and how many of its trials failed."""

    state: State
    failed: int = 0


class SubjectOutcome(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outcomes of one subject: its checks by their ids, when it was judged, and by which suite."""

    started: str
    suite: str
    versions: dict[str, str]
    is_certified: bool
    checks: dict[str, CheckOutcome]


class Run(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line: every subject of a board."""

    history_version: int = HISTORY_VERSION
    subjects: dict[str, SubjectOutcome]

    @property
    def date(self) -> str:
        """The date of the latest of its reports."""
        return max((one.started for one in self.subjects.values()), default="")[:10]


def run_of(reports: Sequence[Report]) -> Run:
    """The line of these reports."""
    checks: list[dict[str, CheckOutcome]] = [{} for _ in reports]
    for one in gather(reports):
        for found, results in zip(checks, one.results, strict=True):
            if results:
                found[one.check] = CheckOutcome(state_of(results), sum(result.verdict == "fail" for result in results))
    return Run(
        subjects={
            report.adapter.name: SubjectOutcome(
                started=report.started,
                suite=report.suite_version,
                versions=_versions(report),
                is_certified=report.is_certified,
                checks=found,
            )
            for report, found in zip(reports, checks, strict=True)
        }
    )


def _versions(report: Report) -> dict[str, str]:
    name, _, version = (report.adapter.bridged or "").rpartition(" ")
    return {**({name: version} if name else {}), **report.versions}


def read_history(path: Path) -> list[Run]:
    """The runs of a history, the oldest first; none if there is no file. Raises HarnessError, naming the line."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror}") from error
    return [_read(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


class _Form(Struct, frozen=True):
    history_version: int


def _read(path: Path, number: int, line: bytes) -> Run:
    try:
        form = msgspec.json.decode(line, type=_Form).history_version
        if form == HISTORY_VERSION:
            return msgspec.json.decode(line, type=Run)
    except (ValueError, RecursionError) as error:
        raise HarnessError(
            f"{path}, line {number}: this is not a run of a board ({error}); delete the line, or begin another history"
        ) from error
    raise HarnessError(f"{path}, line {number} has version {form}; this suite reads version {HISTORY_VERSION}")


def add_run(path: Path, run: Run) -> None:
    """Adds a line to the history. Raises HarnessError."""
    with writing(path):
        is_open = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")  # an editor left out the last line end
        with path.open("ab") as file:
            file.write((b"\n" if is_open else b"") + msgspec.json.encode(run) + b"\n")
