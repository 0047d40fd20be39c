"""What a run found: results, counts by level, the certificate, `report.json`."""

from __future__ import annotations

import hashlib
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
    """One check on one scenario; `purpose` is the scenario's, `source` who gave what was replayed from `cassette`.

    `judged` is how many generated requests the check had something to say of: the profile's time may end them.
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
    """How the checks of a level went. A level is passed when none failed and at least one passed.

    A level that is not applicable proves nothing: `replay` is so while no answer of a real provider was replayed.
    """

    passed: int
    failed: int
    not_applicable: int
    known: int
    is_applicable: bool = True

    @property
    def is_passed(self) -> bool:
        """0 of 0 is never a pass."""
        return self.is_applicable and self.passed > 0 and self.failed == 0

    @property
    def holds(self) -> bool:
        """Whether it does not stand in the way of a certificate."""
        return self.is_passed or not (self.is_applicable or self.failed)


class Adapter(Struct, frozen=True, kw_only=True):
    """What was judged."""

    name: str
    kind: str
    dialect: str | None
    capabilities: tuple[str, ...]
    losses: tuple[str, ...]
    repairs: tuple[str, ...]


class Report(Struct, frozen=True, kw_only=True):
    """One adapter's run. `is_filtered` runs never certify."""

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
        """The results in which the suite itself could not do its work."""
        return [result for result in self.results if result.verdict == "harness error"]

    @property
    def is_certified(self) -> bool:
        """Whether every level that has checks is passed, in a whole run."""
        levels = self.levels.values()
        is_judged = any(count.is_passed for count in levels) and self.adapter.dialect is not None
        is_whole = is_judged and not self.is_filtered and not self.harness_errors
        return is_whole and all(count.holds for count in levels)


def make_report(
    adapter: Adapter, results: Iterable[Result], *, rerun: Rerun, is_filtered: bool, started: datetime, seconds: float
) -> Report:
    """The report of a run."""
    told = tuple(results)
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
        levels=_count(told),
        recordings=_recordings(told),
        results=told,
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
            known=count["known"],
            is_applicable=level != "replay" or reality,
        )
        for level, count in sorted(counts.items())
        if level == "replay" or set(count) - {"not applicable"}
    }


def _recordings(results: tuple[Result, ...]) -> dict[Source, int]:
    """How many scenarios were replayed with nothing found wrong, by who gave the answers."""
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


def fixtures_digest() -> str:
    """One digest over every fixture file's name and bytes: two runs with equal digests were judged alike."""
    root = data_folder("fixtures")
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.json")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"sha256:{digest.hexdigest()}"


def write_reports(reports: Iterable[Report], folder: Path) -> Path:
    """Writes `report.json` for one or more adapters and gives its path. Raises HarnessError."""
    told = [{**msgspec.to_builtins(report), "is_certified": report.is_certified} for report in reports]
    path = folder / "report.json"
    body = msgspec.json.encode({"report_version": REPORT_VERSION, "reports": told})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(body, indent=2) + b"\n")
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise HarnessError(message) from error
    return path
