"""The report of a run: its results, the counts of each level, the certificate, and `report.json`."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.cassettes import RECORDED_REALITY, SOURCES, Source
from art_compliance.findings import Finding, HarnessError, Verdict
from art_compliance.resources import data_folder
from art_compliance.run.rerun import Rerun
from art_compliance.scenarios import Level
from art_sdk import ART_STANDARD_VERSION

REPORT_VERSION: Final = 1
"""The version of `report.json`'s form."""


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check on one scenario.

    `purpose` is the scenario's purpose. `source` says who gave the answers that were replayed from `cassette`.
    `judged` is the number of generated requests that the check applied to: it stops when the profile's time is up.
    """

    check: str
    scenario: str
    purpose: str
    level: Level
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    source: Source | None = None
    cassette: str | None = None
    judged: int | None = None
    seconds: float = 0.0


class LevelCount(Struct, frozen=True, kw_only=True):
    """The results of one level. A level is passed when no check failed and at least one passed.

    A level that is not applicable proves nothing: `replay` is not applicable unless a real provider's answer was
    replayed.
    """

    passed: int
    failed: int
    not_applicable: int
    is_applicable: bool = True

    @property
    def is_passed(self) -> bool:
        """0 of 0 is never a pass."""
        return self.is_applicable and self.passed > 0 and self.failed == 0

    @property
    def holds(self) -> bool:
        """Whether the level allows a certificate."""
        return self.is_passed or not (self.is_applicable or self.failed)


class Adapter(Struct, frozen=True, kw_only=True):
    """The adapter that was judged, and what it declares."""

    name: str
    kind: str
    dialect: str | None
    capabilities: tuple[str, ...]
    losses: tuple[str, ...]
    repairs: tuple[str, ...]


class Report(Struct, frozen=True, kw_only=True):
    """One adapter's run. A filtered run (`is_filtered`) never certifies."""

    adapter: Adapter
    seed: int
    rerun: Rerun
    is_filtered: bool
    started: str
    seconds: float
    suite_version: str
    standard_version: str
    python: str
    fixtures_digest: str
    levels: dict[Level, LevelCount]
    recordings: dict[Source, int]
    results: tuple[Result, ...]

    @property
    def failures(self) -> list[Result]:
        """The results that count against the adapter."""
        return [result for result in self.results if result.verdict == "fail"]

    @property
    def harness_errors(self) -> list[Result]:
        """The results for which the suite itself could not do its work."""
        return [result for result in self.results if result.verdict == "harness error"]

    @property
    def is_certified(self) -> bool:
        """Whether a complete run passed every level that applies."""
        levels = self.levels.values()
        is_judged = any(count.is_passed for count in levels) and self.adapter.dialect is not None
        is_whole = is_judged and not self.is_filtered and not self.harness_errors
        return is_whole and all(count.holds for count in levels)


def make_report(
    adapter: Adapter, results: Iterable[Result], *, rerun: Rerun, is_filtered: bool, started: datetime, seconds: float
) -> Report:
    """The report of a run."""
    kept = tuple(results)
    return Report(
        adapter=adapter,
        seed=rerun.seed,
        rerun=rerun,
        is_filtered=is_filtered,
        started=started.astimezone(UTC).isoformat(timespec="seconds"),
        seconds=round(seconds, 3),
        suite_version=suite_version(),
        standard_version=ART_STANDARD_VERSION,
        python=platform.python_version(),
        fixtures_digest=fixtures_digest(),
        levels=_count(kept),
        recordings=_recordings(kept),
        results=kept,
    )


def _count(results: tuple[Result, ...]) -> dict[Level, LevelCount]:
    counts: dict[Level, Counter[Verdict]] = {}
    for result in results:
        counts.setdefault(result.level, Counter())[result.verdict] += 1
    reality = any(source in RECORDED_REALITY for source in _recordings(results))
    counts.setdefault("replay", Counter())
    return {
        level: LevelCount(
            passed=count["pass"],
            failed=count["fail"],
            not_applicable=count["not applicable"],
            is_applicable=level != "replay" or reality,
        )
        for level, count in sorted(counts.items())
        if level == "replay" or set(count) - {"not applicable"}
    }


def _recordings(results: tuple[Result, ...]) -> dict[Source, int]:
    """How many scenarios were replayed without a failure, by the source of their answers."""
    wrong = {result.scenario for result in results if result.source and result.verdict == "fail"}
    played = {
        result.scenario: result.source
        for result in results
        if result.source and result.verdict == "pass" and result.scenario not in wrong
    }
    return {source: count for source in SOURCES if (count := list(played.values()).count(source))}


def suite_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("art-adapter-sdk")
    except PackageNotFoundError:
        return "0+not-installed"


def fixtures_digest(folder: Path | None = None) -> str:
    """A digest of every file below `fixtures/` (or another folder): runs with equal digests were judged by equal data.

    It covers the files' names and bytes, and depends neither on where the folder is nor on the operating system.
    Hidden files are left out.
    """
    root = folder or data_folder("fixtures")
    files = {path.relative_to(root): path for path in root.rglob("*") if path.is_file()}
    digests = {
        name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if not any(part.startswith(".") for part in name.parts)
    }
    return f"sha256:{hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()}"


def write_reports(reports: Iterable[Report], folder: Path) -> Path:
    """Writes `report.json` for one or more adapters, and returns its path. Raises HarnessError."""
    written = [{**msgspec.to_builtins(report), "is_certified": report.is_certified} for report in reports]
    path = folder / "report.json"
    body = msgspec.json.encode({"report_version": REPORT_VERSION, "reports": written})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(body, indent=2) + b"\n")
    except OSError as error:
        raise HarnessError(f"cannot write {path}: {error.strerror}") from error
    return path
