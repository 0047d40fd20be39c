"""The report of a run: its results, the counts of each level, the certificate, and `report.json`."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.cassettes import RECORDED_REALITY, SOURCES, Source
from art_compliance.findings import CLASSES, Finding, FindingClass, HarnessError, Verdict
from art_compliance.resources import data_folder
from art_compliance.run.requirement_sets import Counting, RequirementSet
from art_compliance.run.rerun import Rerun
from art_compliance.run.sharding import ShardOf
from art_compliance.scenarios import Level
from art_sdk import ART_STANDARD_VERSION

REPORT_VERSION: Final = 3
"""The version of `report.json`'s form.

Version 2 has the classes of findings, and what each level demands. Version 3 has the verdicts `known` and
`provisional`, the baseline, the requirement set, and the exchange of a finding.
"""

NOT_MADE: Final = "not made"
"""The kind of an adapter whose process ended, or did not answer, before it was made: nothing else is known of it."""

_ALL: Final = tuple(CLASSES)
DEMANDS: Final[Mapping[Level, tuple[FindingClass, ...]]] = {
    "core": _ALL,
    "tools": _ALL,
    "streaming": ("loss", "contract"),
    "resilience": ("loss", "contract"),
    "properties": _ALL,
    "replay": ("loss", "contract"),
    "live": _ALL,
}
"""The classes of which an adapter must have no finding to pass a level. A level whose checks judge no request does not
demand `refused`. The requirement set of a version keeps what they are in that version."""


class Known(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the baseline says of a failure: its entry's number, `reason`, `issue` and `expires`."""

    entry: int
    reason: str = ""
    issue: str = ""
    expires: date | None = None


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check on one scenario.

    `purpose` is the scenario's purpose. `source` says who gave the answers that were replayed from `cassette`.
    `judged` is the number of generated requests that the check applied to: it stops when the profile's time is up.
    `shown` are the declared losses and repairs that the scenario was the first to show. `left_to` is the failed check
    that reports what this one, not applicable, would find. `known` are the entries of the baseline that the verdict
    `known` comes from.
    """

    check: str
    scenario: str
    purpose: str
    level: Level
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    left_to: str | None = None
    known: tuple[Known, ...] = ()
    source: Source | None = None
    cassette: str | None = None
    judged: int | None = None
    shown: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def classes(self) -> tuple[FindingClass, ...]:
        """The classes of the findings that count against the adapter, the worst first."""
        found = {finding.finding_class for finding in self.findings if finding.severity == "reject"}
        return tuple(one for one in CLASSES if one in found and self.verdict == "fail")


class ClassCount(Struct, frozen=True, kw_only=True):
    """The findings of one class that count against the adapter: how many, in how many results, of how many checks."""

    findings: int
    results: int
    checks: int


class LevelCount(Struct, frozen=True, kw_only=True):
    """The results of one level. It is passed when a check passed, and nothing was found of a class that it demands.

    `failed_by_class` counts the failed results with findings of a class; one with findings of two counts for both.
    `known` and `provisional` count the failures with these verdicts, which `failed` does not.
    `left` counts the results that are not applicable because another check, which failed in a class that the level
    demands, reports what they would find: with one of these, the level is not passed. A level
    that is not applicable proves nothing: `replay` is not applicable unless a real provider's answer was replayed, and
    a level that is newer than the requirement set is not either.
    """

    passed: int
    failed: int
    not_applicable: int
    known: int = 0
    provisional: int = 0
    left: int = 0
    is_applicable: bool = True
    demands: tuple[FindingClass, ...] = _ALL
    failed_by_class: dict[FindingClass, int] = msgspec.field(default_factory=dict[FindingClass, int])

    @property
    def is_passed(self) -> bool:
        """0 of 0 is never a pass."""
        is_clean = not any(self.failed_by_class.get(one) for one in self.demands)
        return self.is_applicable and self.passed > 0 and is_clean and not self.left

    @property
    def holds(self) -> bool:
        """Whether the level allows a certificate."""
        return self.is_passed or not (self.is_applicable or self.failed)


class Adapter(Struct, frozen=True, kw_only=True):
    """The adapter that was judged, and what it declares.

    `bridged` is the name and the version that an adapter in another language gives itself.
    """

    name: str
    kind: str
    dialect: str | None
    capabilities: tuple[str, ...]
    losses: tuple[str, ...]
    repairs: tuple[str, ...]
    bridged: str | None = None


class BaselineUse(Struct, frozen=True, kw_only=True):
    """The baseline of a run: its file, how many entries it has for this adapter, and what is wrong with them.

    Each of the `problems` is a sentence; one of them fails the run. `unused` are the numbers of the entries that are
    there for no failure.
    """

    file: str
    entries: int
    problems: tuple[str, ...] = ()
    unused: tuple[int, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """One adapter's run. A filtered run (`is_filtered`) never certifies, nor does one that was `stopped`.

    `in_process` says why the adapter ran in the suite's process; None where it had a process of its own.
    `shard` says which part of a run it is: a shard never certifies, and `art merge` puts all of them together.
    `requirements` is the version of the requirement set; with `is_preview`, newer checks count, too.
    """

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
    classes: dict[FindingClass, ClassCount]
    levels: dict[Level, LevelCount]
    recordings: dict[Source, int]
    results: tuple[Result, ...]
    requirements: str
    is_preview: bool = False
    baseline: BaselineUse | None = None
    stopped: str | None = None
    in_process: str | None = None
    shard: ShardOf | None = None

    @property
    def failures(self) -> list[Result]:
        """The results that count against the adapter."""
        return [result for result in self.results if result.verdict == "fail"]

    @property
    def harness_errors(self) -> list[Result]:
        """The results for which the suite itself could not do its work."""
        return [result for result in self.results if result.verdict == "harness error"]

    @property
    def known(self) -> list[Result]:
        """The failures that the baseline has."""
        return [result for result in self.results if result.verdict == "known"]

    @property
    def provisional(self) -> list[Result]:
        """The failures of checks that are newer than the requirement set."""
        return [result for result in self.results if result.verdict == "provisional"]

    @property
    def baseline_problems(self) -> tuple[str, ...]:
        """What is wrong with the entries of the baseline."""
        return () if self.baseline is None else self.baseline.problems

    @property
    def is_red(self) -> bool:
        """Whether the run has failed: a check failed, the run was stopped, or the baseline does not hold."""
        return bool(self.failures or self.stopped or self.baseline_problems)

    @property
    def is_partial(self) -> bool:
        """Whether it is of a part of the checks or scenarios."""
        return self.is_filtered or self.shard is not None

    @property
    def unseen(self) -> list[str]:
        """The declared losses and repairs that no scenario has shown. A filtered run says nothing about them."""
        shown = {name for result in self.results for name in result.shown}
        declared = () if self.is_partial else (*self.adapter.losses, *self.adapter.repairs)
        return [name for name in declared if name not in shown]

    @property
    def is_certified(self) -> bool:
        """Whether a complete run passed every level that applies, and nothing failed but what the baseline has."""
        levels = self.levels.values()
        is_judged = any(count.is_passed for count in levels) and self.adapter.dialect is not None
        is_whole = is_judged and not (self.is_partial or self.is_red or self.harness_errors)
        return is_whole and all(count.holds for count in levels)


def make_report(
    adapter: Adapter,
    results: Iterable[Result],
    *,
    rerun: Rerun,
    counting: Counting,
    is_filtered: bool,
    started: datetime,
    seconds: float,
    stopped: str | None = None,
    in_process: str | None = None,
    baseline: BaselineUse | None = None,
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
        classes={one: _count_class(one, kept) for one in CLASSES},
        levels=_count(kept, counting),
        recordings=_recordings(kept),
        results=kept,
        requirements=counting.requirements.version,
        is_preview=counting.is_preview,
        baseline=baseline,
        stopped=stopped,
        in_process=in_process,
    )


def _count_class(finding_class: FindingClass, results: tuple[Result, ...]) -> ClassCount:
    failed = [result for result in results if finding_class in result.classes]
    found = [one for result in failed for one in result.findings if one.finding_class == finding_class]
    return ClassCount(
        findings=sum(finding.severity == "reject" for finding in found),
        results=len(failed),
        checks=len({result.check for result in failed}),
    )


def _count(results: tuple[Result, ...], counting: Counting) -> dict[Level, LevelCount]:
    counts: dict[Level, Counter[Verdict]] = {}
    classes: dict[Level, Counter[FindingClass]] = {}
    for result in results:
        counts.setdefault(result.level, Counter())[result.verdict] += 1
        classes.setdefault(result.level, Counter()).update(result.classes)
    reality = any(source in RECORDED_REALITY for source in _recordings(results))
    counts.setdefault("replay", Counter())
    left = _count_left(results, counting.requirements)
    return {
        level: LevelCount(
            passed=count["pass"],
            failed=count["fail"],
            not_applicable=count["not applicable"],
            known=count["known"],
            provisional=count["provisional"],
            left=left[level],
            is_applicable=(level != "replay" or reality) and counting.has_level(level),
            demands=_demands(level, counting.requirements),
            failed_by_class={one: classes.get(level, Counter())[one] for one in CLASSES},
        )
        for level, count in sorted(counts.items())
        if level == "replay" or set(count) - {"not applicable"}
    }


def _count_left(results: tuple[Result, ...], requirements: RequirementSet) -> Counter[Level]:
    """By level, the results that are left to a check which failed in a class that the level demands."""
    found = {(result.check, result.scenario): set(result.classes) for result in results}
    return Counter(
        result.level
        for result in results
        if result.left_to is not None
        and found.get((result.left_to, result.scenario), {"loss"}).intersection(_demands(result.level, requirements))
    )


def _demands(level: Level, requirements: RequirementSet) -> tuple[FindingClass, ...]:
    """What the level demands in the set; of a level that is newer than the set, what the suite says."""
    return requirements.levels.get(level, DEMANDS[level])


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
    Hidden files are left out. That of `fixtures/` itself is computed once in a process.
    """
    return _digest_of_fixtures() if folder is None else _digest(folder)


@cache
def _digest_of_fixtures() -> str:
    return _digest(data_folder("fixtures"))


def _digest(root: Path) -> str:
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
