"""A report as lines for the terminal: the same ones for the command and for pytest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from art_compliance.checks import CHECKS
from art_compliance.generating.requests import FAMILIES
from art_compliance.quoting import AT_LENGTH, shorten
from art_compliance.run.report import LevelCount, Report, Result
from art_compliance.run.rerun import Rerun

_SCENARIOS_NAMED: Final = 6
_FINDINGS_SHOWN: Final = 3

Style = Literal["plain", "good", "bad"]


class Line(NamedTuple):
    """One line of text, and whether it is good or bad news."""

    text: str
    style: Style = "plain"


def as_text(lines: Iterable[Line]) -> str:
    """The lines without their styles."""
    return "\n".join(line.text for line in lines)


def summarize(report: Report, *, verbose: bool = False) -> Iterator[Line]:
    """The failures and the counts. `verbose` shows every failure in full."""
    yield from describe_failures(report, verbose=verbose)
    yield from describe_counts(report)


def describe_counts(report: Report) -> Iterator[Line]:
    """One line per level, and the verdict."""
    adapter = report.adapter
    yield Line(f"{adapter.name}  ({adapter.kind}, {adapter.dialect or 'unknown dialect: format-free checks only'})")
    yield from (_describe_level(level, count) for level, count in report.levels.items())
    for text in (*_describe_generated(report), *_describe_recordings(report)):
        yield Line(text)
    if adapter.losses:
        yield Line(f"  declared losses: {', '.join(adapter.losses)}")
    if adapter.repairs:
        yield Line(f"  declared repairs: {', '.join(adapter.repairs)}")
    verdict = describe_verdict(report)
    yield Line(f"  {verdict.text}", verdict.style)


def _describe_level(level: str, count: LevelCount) -> Line:
    mark = "pass" if count.is_passed else "n/a " if count.holds else "FAIL"
    numbers = f"{count.passed:>5} passed  {count.failed:>4} failed  {count.not_applicable:>4} not applicable"
    return Line(f"  {level:<10} {mark}   {numbers}", "bad" if mark == "FAIL" else "plain")


def _describe_generated(report: Report) -> Iterator[str]:
    """How many generated requests of each family were judged: the count of the check that judged most."""
    most: dict[str, int] = {}
    for result in report.results:
        if result.judged is not None:
            most[result.scenario] = max(most.get(result.scenario, 0), result.judged)
    if most:
        counts = (f"{count} {family.removeprefix('generated-').replace('-', ' ')}" for family, count in most.items())
        yield f"  generated and judged: {', '.join(counts)}"


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
    if report.failures:
        checks = len({result.check for result in report.failures})
        trials = f"{len(report.failures)} trial{'s' if len(report.failures) > 1 else ''}"
        return Line(f"NOT certified: {checks} of {len(CHECKS)} checks failed, in {trials} (seed {report.seed})", "bad")
    if report.is_filtered:
        return Line("nothing failed, but a filtered run never certifies")
    if report.adapter.dialect is None:
        passed = f"passed the format-free checks of suite {report.suite_version}"
        return Line(f"{passed}; the suite does not know its dialect")
    certified = f"certified by suite {report.suite_version}"
    return Line(f"{certified} in {report.seconds:.1f} s (seed {report.seed})", "good")


def describe_failures(report: Report, *, verbose: bool = False, repros: Path | None = None) -> Iterator[Line]:
    """Check by check: its law, one failed scenario in full, and the names of the others.

    `repros` is the folder under which `repro/<check>/` is written.
    """
    by_check: dict[str, list[Result]] = {}
    for result in (*report.harness_errors, *report.failures):
        by_check.setdefault(result.check, []).append(result)
    for results in by_check.values():
        for result in results if verbose else results[:1]:
            yield from describe_failure(result, report.rerun)
            if repros and result.verdict == "fail" and result is results[0]:
                yield Line(f"  repro   {repros / 'repro' / result.check}")
        others = [] if verbose else [result.scenario for result in results[1:]]
        if others:
            more = f" and {len(others) - _SCENARIOS_NAMED} more" if len(others) > _SCENARIOS_NAMED else ""
            yield Line(f"  also    {', '.join(others[:_SCENARIOS_NAMED])}{more}")
        yield Line("")


def describe_failure(result: Result, rerun: Rerun) -> Iterator[Line]:
    """One failure in full: check, law, scenario, what is wrong and where, and how to run it again."""
    yield Line(f"{'FAIL' if result.verdict == 'fail' else 'HARNESS'} {result.check}", "bad")
    yield from map(Line, _describe_details(result, rerun))


def _describe_details(result: Result, rerun: Rerun) -> Iterator[str]:
    yield f"  law     {CHECKS[result.check].clause}"
    yield f"  on      {result.scenario}: {result.purpose}"
    yield from _describe_findings(result)
    if result.reason:
        yield from (f"  {line}" for line in result.reason.rstrip().splitlines())
    if result.verdict == "fail":
        if result.scenario in FAMILIES:
            yield from _describe_example(result)
        yield f"  again   {rerun.command(result.check, result.scenario)}"


def _describe_findings(result: Result) -> Iterator[str]:
    for finding in result.findings[:_FINDINGS_SHOWN]:
        places = [f"prompt {finding.path}"] if finding.path else []
        places += [f"payload {finding.pointer or '/'}"] if finding.pointer is not None else []
        yield f"  wrong   {finding.message}"
        if places:
            yield f"  where   {', '.join(places)}"
        if finding.provider_text:
            yield f"  says    {finding.provider_text} ({finding.source})"
    more = len(result.findings) - _FINDINGS_SHOWN
    if more > 0:
        yield f"  wrong   {more} more finding{'s' if more > 1 else ''}; report.json has all of them"


def _describe_example(result: Result) -> Iterator[str]:
    """The generated prompt that failed, and what came of it."""
    for example in (finding.example for finding in result.findings if finding.example):
        options = {name: value for name, value in example.options.items() if name != "thread_id"}
        yield f"  prompt  {_shortened(example.prompt)}"
        if options:
            yield f"  options {_shortened(options)}"
        if example.answer is not None:
            yield f"  answer  {_shortened(example.answer)}"
        if example.payload is not None:
            yield f"  gave    {_shortened(example.payload)}"


def _shortened(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return shorten(text, AT_LENGTH)
