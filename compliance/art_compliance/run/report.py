"""The report of a run: whom it judged, what was found, whether it certifies, and `report.json`."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.cassettes import Source
from art_compliance.findings import FindingClass
from art_compliance.run.counts import ClassCount, LevelCount, count_classes, count_levels, count_recordings
from art_compliance.run.identity import fixtures_digest, suite_version
from art_compliance.run.requirement_sets import Counting
from art_compliance.run.rerun import Rerun
from art_compliance.run.results import Result
from art_compliance.run.sharding import ShardOf
from art_compliance.run.versions import versions_around
from art_compliance.run.writing import write_json
from art_compliance.scenarios import Level
from art_compliance.subject.gateways import is_gateway
from art_sdk import ART_STANDARD_VERSION

REPORT_VERSION: Final = 3
"""The version of `report.json`'s form.

Version 2 has the classes of findings, and what each level demands. Version 3 has the verdicts `known` and
`provisional`, the baseline, the requirement set, and the exchange of a finding.
"""

NOT_MADE: Final = "not made"
"""The kind of an adapter whose process ended, or did not answer, before it was made: nothing else is known of it."""

ENDPOINT: Final = "endpoint"
"""The kind of a server that was examined alone, by laws of its own."""


class Adapter(Struct, frozen=True, kw_only=True):
    """The adapter that was judged, and what it declares.

    `bridged` is the name and the version that an adapter in another language gives itself, and `speaks` the format
    that a gateway is called in.
    """

    name: str
    kind: str
    dialect: str | None
    capabilities: tuple[str, ...]
    losses: tuple[str, ...]
    repairs: tuple[str, ...]
    bridged: str | None = None
    speaks: str | None = None

    @property
    def title(self) -> str:
        """The name for readers: a bridge's own, without its command; a server's URL, without what follows the `#`."""
        if self.bridged is not None:
            return self.bridged.rpartition(" ")[0] or self.bridged
        return self.name.partition("#")[0] if is_gateway(self.name) else self.name


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

    `in_process` says why the adapter ran in the suite's process; None where it had its own process.
    `shard` says which part of a run it is: a shard never certifies, and `art merge` puts all of them together.
    `requirements` is the version of the requirement set; with `is_preview`, newer checks count, too.
    `versions` are those of the installed distributions that have the adapter, or that its module imports.
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
    versions: dict[str, str] = msgspec.field(default_factory=dict[str, str])

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
        """Whether the run has failed: a check failed, the run was stopped, or the baseline is out of date."""
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
        return is_whole and all(count.allows_certificate for count in levels)


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
        classes=count_classes(kept),
        levels=count_levels(kept, counting),
        recordings=count_recordings(kept),
        results=kept,
        requirements=counting.requirements.version,
        is_preview=counting.is_preview,
        baseline=baseline,
        stopped=stopped,
        in_process=in_process,
        versions=versions_around(rerun.adapter),
    )


def write_reports(reports: Iterable[Report], folder: Path) -> Path:
    """Writes `report.json` for one or more adapters, and returns its path. Raises HarnessError."""
    written = [{**msgspec.to_builtins(report), "is_certified": report.is_certified} for report in reports]
    path = folder / "report.json"
    write_json(path, {"report_version": REPORT_VERSION, "reports": written})
    return path
