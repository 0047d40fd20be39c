"""A report as lines of text, for the terminal: the same for the command and for pytest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from art_compliance.checks import CHECKS
from art_compliance.generating.requests import FAMILIES
from art_compliance.quoting import AT_LENGTH, shorten
from art_compliance.run.report import Report, Result
from art_compliance.run.rerun import Rerun

_SCENARIOS_NAMED: Final = 6
_FINDINGS_SHOWN: Final = 3


def summarize(report: Report, *, verbose: bool = False) -> Iterator[str]:
    """What was found, what failed and where, and what it adds up to. `verbose` tells every failure whole."""
    yield from describe_failures(report, verbose=verbose)
    yield from describe_counts(report)


def describe_counts(report: Report) -> Iterator[str]:
    """One line a level, and the verdict."""
    adapter = report.adapter
    yield f"{adapter.name}  ({adapter.kind}, {adapter.dialect or 'unknown dialect: format-free checks only'})"
    for level, count in report.levels.items():
        mark = "pass" if count.is_passed else "n/a " if count.holds else "FAIL"
        numbers = f"{count.passed:>5} passed  {count.failed:>4} failed  {count.not_applicable:>4} not applicable"
        yield f"  {level:<10} {mark}   {numbers}"
    yield from _describe_generated(report)
    yield from _describe_recordings(report)
    if adapter.losses:
        yield f"  declared losses: {', '.join(adapter.losses)}"
    if adapter.repairs:
        yield f"  declared repairs: {', '.join(adapter.repairs)}"
    yield f"  {describe_verdict(report)}"


def _describe_generated(report: Report) -> Iterator[str]:
    """How many generated requests were judged: by the check that had something to say of most."""
    most: dict[str, int] = {}
    for result in report.results:
        if result.judged is not None:
            most[result.scenario] = max(most.get(result.scenario, 0), result.judged)
    if most:
        told = (f"{count} {family.removeprefix('generated-').replace('-', ' ')}" for family, count in most.items())
        yield f"  generated and judged: {', '.join(told)}"


def _describe_recordings(report: Report) -> Iterator[str]:
    """Whose answers were replayed, counted apart: the suite's own prove nothing of a provider."""
    replay = report.levels.get("replay")
    if replay is not None and not (replay.is_applicable or replay.failed):
        yield "  replay   not applicable: no answer of a real provider or engine was replayed"
    if report.recordings:
        yield "  replayed answers: " + ", ".join(f"{count} by {name}" for name, count in report.recordings.items())


def describe_verdict(report: Report) -> str:
    """What the run adds up to, in a sentence."""
    if report.harness_errors:
        return "no verdict: the suite could not do its work (see above)"
    if report.failures:
        checks = len({result.check for result in report.failures})
        trials = f"{len(report.failures)} trial{'s' if len(report.failures) > 1 else ''}"
        return f"NOT certified: {checks} of {len(CHECKS)} checks failed, in {trials} (seed {report.seed})"
    if report.is_filtered:
        return "nothing failed, but a filtered run never certifies"
    if report.adapter.dialect is None:
        return (
            f"passed the format-free checks of suite {report.suite_version}; its dialect is none that the suite knows"
        )
    return f"certified by suite {report.suite_version} in {report.seconds:.1f} s (seed {report.seed})"


def describe_failures(report: Report, *, verbose: bool = False, repros: Path | None = None) -> Iterator[str]:
    """Check by check: the law, one scenario told whole, and the names of the others.

    `repros` is the folder under which `repro/<check>/` is written.
    """
    by_check: dict[str, list[Result]] = {}
    for result in (*report.harness_errors, *report.failures):
        by_check.setdefault(result.check, []).append(result)
    for results in by_check.values():
        for result in results if verbose else results[:1]:
            yield from describe_failure(result, report.rerun)
            if repros and result.verdict == "fail" and result is results[0]:
                yield f"  repro   {repros / 'repro' / result.check}"
        others = [] if verbose else [result.scenario for result in results[1:]]
        if others:
            more = f" and {len(others) - _SCENARIOS_NAMED} more" if len(others) > _SCENARIOS_NAMED else ""
            yield f"  also    {', '.join(others[:_SCENARIOS_NAMED])}{more}"
        yield ""


def describe_failure(result: Result, rerun: Rerun) -> Iterator[str]:
    """One failure whole: check, law, scenario, what is wrong and where, and how to run it again."""
    word = "FAIL" if result.verdict == "fail" else "HARNESS"
    yield f"{word} {result.check}"
    yield f"  law     {CHECKS[result.check].clause}"
    yield f"  on      {result.scenario}: {result.purpose}"
    for finding in result.findings[:_FINDINGS_SHOWN]:
        places = [f"prompt {finding.path}"] if finding.path else []
        places += [f"payload {finding.pointer or '/'}"] if finding.pointer is not None else []
        yield f"  wrong   {finding.message}"
        if places:
            yield f"  where   {', '.join(places)}"
        if finding.provider_text:
            yield f"  says    {finding.provider_text} ({finding.source})"
    if len(result.findings) > _FINDINGS_SHOWN:
        yield f"  wrong   {len(result.findings) - _FINDINGS_SHOWN} findings more; all are in report.json"
    if result.reason:
        yield from (f"  {line}" for line in result.reason.rstrip().splitlines())
    if result.verdict == "fail":
        if result.scenario in FAMILIES:
            yield from _describe_example(result)
        yield f"  again   {rerun.command(result.check, result.scenario)}"


def _describe_example(result: Result) -> Iterator[str]:
    """The generated prompt that a finding is of, and what it gave."""
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
