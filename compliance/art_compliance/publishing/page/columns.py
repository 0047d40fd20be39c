"""What the page says of each adapter: its verdict, levels, classes of findings, and what it declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from art_compliance.findings import CLASSES, FindingClass
from art_compliance.run.counts import LevelCount
from art_compliance.run.lines import counted
from art_compliance.run.report import ENDPOINT, Report
from art_compliance.run.summary import describe_verdict
from art_compliance.scenarios import Level
from art_compliance.subject.gateways import is_gateway

LevelState = Literal["pass", "fail", "open", "none"]


class LevelCell(NamedTuple):
    """One level of one adapter: how it ended, in a word, and in numbers."""

    level: Level
    state: LevelState
    word: str
    passed: int
    failed: int
    numbers: str


class Column(NamedTuple):
    """One adapter."""

    name: str
    title: str
    """The name for readers: a bridge's own, without the command; a server's URL, without what follows its `#`."""
    kind: str
    dialect: str
    is_certified: bool
    is_good: bool
    """Whether nothing is wrong: certified, or examined without a failure."""
    verdict: str
    standing: str
    """How it stands, in two or three words."""
    levels: tuple[LevelCell | None, ...]
    """In the order of `levels_of`; None for a level that the run does not have."""
    classes: tuple[int, ...]
    """The findings of each class."""
    versions: tuple[str, ...]
    """What the adapter is made of, each with its version, as far as they are known."""
    date: str
    suite: str
    facts: tuple[tuple[str, str], ...]
    """What else is known, each under its name."""

    @property
    def module(self) -> str:
        """The module of an adapter that is named by its module; of a server, what it is."""
        return self.kind if is_gateway(self.name) else self.title.rpartition(":")[0]

    @property
    def short(self) -> str:
        """The name without the module, or the server's host."""
        return urlsplit(self.name).netloc if is_gateway(self.name) else self.title.rpartition(":")[2]


def levels_of(reports: Sequence[Report]) -> list[Level]:
    """The levels that any of the reports has."""
    return sorted({level for report in reports for level in report.levels})


def column_of(report: Report, levels: Sequence[Level]) -> Column:
    """The adapter of a report."""
    adapter = report.adapter
    dialect = adapter.dialect or "unknown dialect"
    return Column(
        name=adapter.name,
        title=adapter.title,
        kind=adapter.kind,
        dialect=dialect if adapter.speaks is None else f"{adapter.speaks} to {dialect}",
        is_certified=report.is_certified,
        is_good=report.is_certified or (adapter.kind == ENDPOINT and not report.is_red),
        verdict=describe_verdict(report).text,
        standing=_standing(report),
        levels=tuple(_cell(level, report.levels[level]) if level in report.levels else None for level in levels),
        classes=tuple(report.classes[one].findings for one in CLASSES),
        versions=_versions(report),
        date=report.started[:10],
        suite=report.suite_version,
        facts=tuple(_facts(report)),
    )


def class_totals(reports: Sequence[Report]) -> Iterator[tuple[FindingClass, str, int, int]]:
    """Each class with its name, its findings and the checks that found them, over all reports."""
    for one, name in CLASSES.items():
        checks = {result.check for report in reports for result in report.failures if one in result.classes}
        yield one, name, sum(report.classes[one].findings for report in reports), len(checks)


def _versions(report: Report) -> tuple[str, ...]:
    known = (f"{name} {version}" for name, version in report.versions.items())
    return (*([report.adapter.bridged] if report.adapter.bridged else []), *known)


def _standing(report: Report) -> str:
    if report.is_certified:
        return f"certified with {counted(len(report.known), 'known failure')}" if report.known else "certified"
    if report.adapter.kind == ENDPOINT:
        return "examined"
    return f"shard {report.shard}" if report.shard else "not certified"


def _cell(level: Level, count: LevelCount) -> LevelCell:
    state: LevelState = "fail"
    if count.is_passed:
        state = "pass"
    elif count.allows_certificate:
        state = "none"
    elif count.left and not count.failed:
        state = "open"
    words = {"pass": "passed", "none": "n/a", "open": "left open", "fail": "failed"}
    apart = {"passed": count.passed, "failed": count.failed, "not applicable": count.not_applicable}
    more = {"known": count.known, "provisional": count.provisional, "left to failed checks": count.left}
    numbers = ", ".join(f"{number:,} {name}" for name, number in (apart | {k: v for k, v in more.items() if v}).items())
    return LevelCell(level, state, words[state], count.passed, count.failed, numbers)


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    adapter = report.adapter
    if versions := _versions(report):
        yield "versions", ", ".join(versions)
    if adapter.name != adapter.title:
        yield "named", adapter.name
    if adapter.kind != ENDPOINT:
        yield from _declared(report)
    yield from _apart(report)
    if report.recordings:
        yield "replayed answers", ", ".join(f"{count} by {name}" for name, count in report.recordings.items())
    if report.stopped:
        yield "stopped", report.stopped
    if report.in_process:
        yield "judged in the suite's own process", report.in_process
    if adapter.kind != ENDPOINT:
        yield "seed", str(report.seed)
        yield "profile", report.rerun.profile
    yield "seconds", f"{report.seconds:.1f}"


def _apart(report: Report) -> Iterator[tuple[str, str]]:
    """What else the verdict depends on."""
    if report.shard:
        yield "shard", str(report.shard)
    if report.baseline:
        yield "baseline", f"{report.baseline.file} ({report.baseline.entries:,})"
        yield from (("baseline", problem) for problem in report.baseline.problems)
    if report.known:
        yield "known failures", f"{len(report.known):,}"
    if report.provisional:
        yield "provisional failures", ", ".join(dict.fromkeys(result.check for result in report.provisional))
    if report.unseen:
        yield "declared, but never used in this run", ", ".join(report.unseen)


def _declared(report: Report) -> Iterator[tuple[str, str]]:
    adapter = report.adapter
    yield "capabilities", ", ".join(adapter.capabilities) or "none declared"
    yield "declared losses", ", ".join(adapter.losses) or "none"
    yield "declared repairs", ", ".join(adapter.repairs) or "none"
    yield "requirement set", f"{report.requirements}{', and newer checks' if report.is_preview else ''}"
