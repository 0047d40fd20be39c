"""A report as lines for the terminal: the same ones for the command and for pytest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from art_compliance.checks import CHECKS
from art_compliance.findings import CLASSES
from art_compliance.run.brief import describe_in_brief
from art_compliance.run.counts import LevelCount
from art_compliance.run.failing import describe_every_failure, describe_in_full
from art_compliance.run.lines import Line, counted, rows_of
from art_compliance.run.report import ENDPOINT, NOT_MADE, Report
from art_compliance.subject.opening import IN_PROCESS

LONGEST: Final = 80
"""How many rows of a terminal a summary takes at most, if it does not show every failure in full."""

_AROUND: Final = 4
"""Rows that are left for others: the path of the report, pytest's headings, a prompt."""


def summarize(
    report: Report,
    *,
    verbose: bool = False,
    repros: Path | None = None,
    width: int | None = None,
    rest: str = "report.json has all of them",
) -> Iterator[Line]:
    """The failures and the counts, in at most `LONGEST` rows of a terminal that is `width` columns wide.

    Without a width a line is a row. `verbose` shows every failure in full, however long that is. `repros` is the folder
    under which `repro/<check>/` is written, and `rest` says where the failures are that are not shown.
    """
    counts = list(describe_counts(report))
    if verbose:
        yield from (*describe_every_failure(report, repros=repros), *counts)
        return
    rows = LONGEST - _AROUND - rows_of(counts, width)
    failures = list(describe_in_full(report, repros=repros))
    if rows_of(failures, width) > rows:
        failures = list(describe_in_brief(report, rows=rows, width=width, rest=rest))
    yield from (*failures, *counts)


def describe_counts(report: Report) -> Iterator[Line]:
    """The adapter, one line per class of findings if there are any, one line per level, and the verdict."""
    adapter = report.adapter
    format_ = () if adapter.kind == NOT_MADE else (adapter.dialect or "unknown dialect: format-free checks only",)
    behind = () if adapter.bridged is None else (f"{adapter.bridged} behind a bridge",)
    if adapter.speaks is not None:
        format_ = (f"{adapter.speaks} to {adapter.dialect}",)
    yield Line(f"{adapter.name}  ({', '.join((*behind, adapter.kind, *format_))})")
    if report.failures:
        yield from _describe_classes(report)
    yield from (_describe_level(level, count) for level, count in report.levels.items())
    for text in (*_describe_generated(report), *_describe_recordings(report)):
        yield Line(text)
    if adapter.losses:
        yield Line(f"  declared losses: {', '.join(adapter.losses)}")
    if adapter.repairs:
        yield Line(f"  declared repairs: {', '.join(adapter.repairs)}")
    if report.unseen:
        yield Line(f"  declared, but never used in this run: {', '.join(report.unseen)}")
    if report.stopped:
        yield Line(f"  stopped: {report.stopped}", "bad")
    yield from _describe_apart(report)
    if report.in_process not in (None, IN_PROCESS):
        yield Line(f"  judged in the suite's own process: {report.in_process}")
    verdict = describe_verdict(report)
    yield Line(f"  {verdict.text}", verdict.style)


def _describe_apart(report: Report) -> Iterator[Line]:
    """What the baseline says and does, and the failures that do not count for another reason."""
    for problem in report.baseline_problems:
        yield Line(f"  baseline: {problem}", "bad")
    if report.known and report.baseline:
        checks = len({result.check for result in report.known})
        numbers = f"{counted(len(report.known), 'trial')} of {counted(checks, 'check')}"
        yield Line(f"  known failures: {numbers}, in {report.baseline.file}")
        yield from _describe_unexplained(report)
    if report.provisional:
        yield Line(f"  {_describe_provisional(report)}")


def _describe_unexplained(report: Report) -> Iterator[Line]:
    """The entries of the baseline that say nothing of why their failures are known."""
    without = sorted({one.entry for result in report.known for one in result.known if not (one.reason or one.issue)})
    if without and report.baseline:
        more = " and others" if len(without) > _NAMED else ""
        numbers = ", ".join(map(str, without[:_NAMED])) + more
        verb, noun = ("has", "entry") if len(without) == 1 else ("have", "entries")
        yield Line(
            f"  {len(without):,} {noun} of {report.baseline.file} {verb} no reason ({numbers}): say why it is known"
        )


_NAMED: Final = 6


def _describe_provisional(report: Report) -> str:
    """Which checks failed that are newer than the requirement set."""
    checks = ", ".join(dict.fromkeys(result.check for result in report.provisional))
    return f"provisional, newer than the requirement set {report.requirements}: {checks}"


def _describe_classes(report: Report) -> Iterator[Line]:
    for one, name in CLASSES.items():
        count = report.classes[one]
        found, checks, trials = count.findings, count.checks, count.results
        numbers = f"{counted(found, 'finding')} of {counted(checks, 'check')}, in {counted(trials, 'trial')}"
        yield Line(f"  {name:<24}{numbers if count.findings else 'none'}", "bad" if count.findings else "plain")


def _describe_level(level: str, count: LevelCount) -> Line:
    is_open = count.left and not count.failed
    mark = "pass" if count.is_passed else "n/a " if count.allows_certificate else "open" if is_open else "FAIL"
    numbers = f"{count.passed:>5} passed  {count.failed:>4} failed  {count.not_applicable:>4} not applicable"
    classes = ", ".join(f"{number} {one}" for one, number in count.failed_by_class.items() if number)
    apart = {"known": count.known, "provisional": count.provisional, "left to failed checks": count.left}
    more = [*([classes] if classes else []), *(f"{number} {one}" for one, number in apart.items() if number)]
    line = f"  {level:<10} {mark}   {numbers}" + (f"  ({'; '.join(more)})" if more else "")
    return Line(line, "plain" if mark in {"pass", "n/a "} else "bad")


def _describe_generated(report: Report) -> Iterator[str]:
    """How many generated requests of each family were judged: the count of the check that judged most."""
    most: dict[str, int] = {}
    for result in report.results:
        if result.judged is not None:
            most[result.scenario] = max(most.get(result.scenario, 0), result.judged)
    if most:
        counts = (counted(count, _noun_of(family)) for family, count in most.items())
        yield f"  generated and judged: {', '.join(counts)}"


def _noun_of(family: str) -> str:
    """What one request of the family is: `broken conversation` for `generated-broken-conversations`."""
    return family.removeprefix("generated-").replace("-", " ").removesuffix("s")


def _describe_recordings(report: Report) -> Iterator[str]:
    """Who gave the replayed answers: those of the suite's own provider prove nothing about real ones."""
    replay = report.levels.get("replay")
    if replay is not None and not (replay.is_applicable or replay.failed):
        yield "  replay   not applicable: no answer of a real provider or engine was replayed"
    if report.recordings:
        yield "  replayed answers: " + ", ".join(f"{count} by {name}" for name, count in report.recordings.items())


def describe_verdict(report: Report) -> Line:
    """The outcome of the run in one sentence."""
    if report.harness_errors:
        return Line("no verdict: the suite could not do its work (see above)", "bad")
    if report.adapter.kind == ENDPOINT:
        return _describe_examined(report)
    if report.is_red:
        return Line(f"NOT certified: {_describe_red(report)}", "bad")
    if report.is_partial:
        return _describe_partial(report)
    if report.adapter.dialect is None:
        passed = f"passed the format-free checks of suite {report.suite_version}"
        return Line(f"{passed}; the suite does not know its dialect")
    if not report.is_certified:
        levels = ", ".join(level for level, count in report.levels.items() if not count.allows_certificate)
        return Line(f"NOT certified: no check of {levels or 'any level'} passed", "bad")
    known = f" with {counted(len(report.known), 'known failure')}" if report.known else ""
    certified = f"certified{known} by suite {report.suite_version}"
    return Line(f"{certified} in {report.seconds:.1f} s (seed {report.seed})", "good")


def _describe_partial(report: Report) -> Line:
    """The outcome of a run in which nothing failed, of a part of the checks or scenarios."""
    if report.shard is not None:
        return Line(f"nothing failed in shard {report.shard}; art merge puts the shards together")
    return Line(f"nothing failed{' except known failures' if report.known else ''}; a filtered run never certifies")


def _describe_examined(report: Report) -> Line:
    """The outcome for a server: one that is examined alone is never certified."""
    asked = f"{len({result.scenario for result in report.results}):,} scenarios and rules"
    if report.failures:
        broken = counted(len({result.check for result in report.failures}), "law")
        wrong = len({result.scenario for result in report.failures})
        return Line(f"{broken} broken, on {wrong:,} of {asked}", "bad")
    if report.is_red:
        return Line("the examination was not complete" if report.stopped else "the baseline is out of date", "bad")
    return Line(f"no law is broken{' except known failures' if report.known else ''}, on {asked}", "good")


def _describe_red(report: Report) -> str:
    """Why the run has failed."""
    if report.failures:
        checks = len({result.check for result in report.failures})
        return (
            f"{checks} of {len(CHECKS)} checks failed, in {counted(len(report.failures), 'trial')} (seed {report.seed})"
        )
    return "the run was not complete" if report.stopped else "the baseline is out of date (see above)"
