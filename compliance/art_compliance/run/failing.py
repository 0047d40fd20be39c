"""The failures of a report in full: cause by cause, or one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from art_compliance.findings import CLASSES, Finding, FindingClass, WireExchange
from art_compliance.generating.requests import FAMILIES
from art_compliance.quoting import AT_LENGTH, shorten
from art_compliance.run.causes import Cause, find_causes
from art_compliance.run.clauses import clause_of
from art_compliance.run.lines import Line, counted
from art_compliance.run.report import Report
from art_compliance.run.rerun import Rerun
from art_compliance.run.results import Result

_SCENARIOS_NAMED: Final = 6
_FINDINGS_SHOWN: Final = 3
_WIRE_SHOWN: Final = 240
"""Characters of a body that a terminal shows; `repro/<check>/exchange.txt` has more."""


def describe_in_full(report: Report, *, repros: Path | None = None) -> Iterator[Line]:
    """Cause by cause: the law, one failed scenario in full, and the names of the others.

    `repros` is the folder under which `repro/<check>/` is written.
    """
    for result in report.harness_errors:
        yield from (*describe_failure(result, report.rerun), Line(""))
    causes, written = find_causes(report.failures), _written(report)
    for one in CLASSES:
        if causes[one]:
            yield describe_class(one, report)
        for cause in causes[one]:
            yield from _describe_cause(cause, report.rerun)
            first = cause.results[0]
            if repros and written[first.check] is first:
                yield _repro(repros, first)
            yield from _describe_others(cause)
            yield Line("")


def describe_results(results: Sequence[Result], rerun: Rerun, *, most: int | None = None) -> Iterator[Line]:
    """The failures of one check, cause by cause, and of many causes the first of the worst class: at most `most`."""
    for result in results:
        if result.verdict == "harness error":
            yield from (*describe_failure(result, rerun), Line(""))
    found = find_causes(result for result in results if result.verdict == "fail")
    causes = [cause for one in CLASSES for cause in found[one]]
    for cause in causes[:most]:
        yield from _describe_cause(cause, rerun)
        yield from _describe_others(cause)
        yield Line("")
    if left := len(causes[len(causes) if most is None else most :]):
        yield Line(f"  and {counted(left, 'more cause')}; -v shows all of them")


def describe_every_failure(report: Report, *, repros: Path | None = None) -> Iterator[Line]:
    """Every failure with all its findings, however many there are, those with findings of the worst class first."""
    written = _written(report)
    for result in (*report.harness_errors, *sorted(report.failures, key=_class_of)):
        yield from describe_failure(result, report.rerun, is_whole=True)
        if repros and written.get(result.check) is result:
            yield _repro(repros, result)
        yield Line("")


def _class_of(result: Result) -> int:
    return min(map(_rank, result.findings))


def _written(report: Report) -> dict[str, Result]:
    """The result of each check whose prompt is written to `repro/<check>/`."""
    return {result.check: result for result in reversed(report.failures)}


def _repro(folder: Path, result: Result) -> Line:
    return Line(f"  repro   {folder / 'repro' / result.check}")


def describe_class(finding_class: FindingClass, report: Report) -> Line:
    """The heading of a class."""
    count = report.classes[finding_class]
    return Line(f"{CLASSES[finding_class]}: {counted(count.findings, 'finding')}", "bad")


def heading_of(cause: Cause) -> Line:
    """The check, and how often it found this."""
    counts = f"{counted(cause.count, 'finding')} in {counted(len(cause.results), 'scenario')}"
    return Line(f"FAIL {cause.results[0].check}{f': {counts}' if cause.count > 1 else ''}", "bad")


def _describe_cause(cause: Cause, rerun: Rerun) -> Iterator[Line]:
    yield heading_of(cause)
    yield from map(Line, _describe_details(cause.results[0], cause.examples, rerun))


def _describe_others(cause: Cause) -> Iterator[Line]:
    if others := cause.results[1:]:
        yield Line(f"  also    {_names([result.scenario for result in others])}")


def _names(scenarios: list[str]) -> str:
    more = f" and {len(scenarios) - _SCENARIOS_NAMED} more" if len(scenarios) > _SCENARIOS_NAMED else ""
    return f"{', '.join(scenarios[:_SCENARIOS_NAMED])}{more}"


def describe_failure(result: Result, rerun: Rerun, *, is_whole: bool = False) -> Iterator[Line]:
    """One failure: check, law, scenario, what is wrong and where, and how to run it again.

    Of many findings, and of a long generated prompt, only the beginning is shown, unless it `is_whole`.
    """
    yield Line(f"{'FAIL' if result.verdict == 'fail' else 'HARNESS'} {result.check}", "bad")
    wrong = sorted((one for one in result.findings if one.severity == "reject"), key=_rank)
    yield from map(Line, _describe_details(result, wrong, rerun, is_whole=is_whole))


def describe_expected(result: Result) -> str:
    """Why a failure does not count, in one line: what the baseline says of it, or that the check is new."""
    if result.verdict == "provisional":
        return "provisional: the check is newer than the requirement set"
    said = dict.fromkeys(text for one in result.known for text in (one.reason, one.issue) if text)
    return f"known: {'; '.join(said) or 'the baseline has it'}"


def _describe_details(
    result: Result, wrong: Sequence[Finding], rerun: Rerun, *, is_whole: bool = False
) -> Iterator[str]:
    yield f"  law     {clause_of(result.check)}"
    yield f"  on      {result.scenario}: {result.purpose}"
    yield from _describe_findings(wrong, most=len(wrong) if is_whole else _FINDINGS_SHOWN)
    if result.reason:
        yield from (f"  {line}" for line in result.reason.rstrip().splitlines())
    if result.verdict == "fail":
        if result.scenario in FAMILIES:
            yield from _describe_example(result, longest=None if is_whole else AT_LENGTH)
        yield f"  again   {rerun.command(result.check, result.scenario)}"


def _describe_findings(wrong: Sequence[Finding], *, most: int) -> Iterator[str]:
    for finding in wrong[:most]:
        yield f"  wrong   {finding.message}"
        if places := describe_place(finding):
            yield f"  where   {places}"
        if finding.provider_text:
            yield f"  says    {finding.provider_text} ({finding.source})"
        if finding.exchange:
            yield from _describe_exchange(finding.exchange)
    if more := len(wrong[most:]):
        yield f"  wrong   {counted(more, 'more finding')}; report.json has all of them"


def _describe_exchange(exchange: WireExchange) -> Iterator[str]:
    """What was sent and what came back, in two lines."""
    length = f"{exchange.body_bytes:,} bytes"
    yield f"  sent    {exchange.method} {exchange.url}, {length}: {_in_one_line(exchange.body)}"
    if exchange.status is not None:
        yield f"  got     {exchange.status} {exchange.content_type}: {_in_one_line(exchange.answer)}"
    elif exchange.answer:
        yield f"  got     bytes that are not HTTP: {_in_one_line(exchange.answer)}"


def _in_one_line(text: str) -> str:
    return shorten(" ".join(text.split()), _WIRE_SHOWN)


def _rank(finding: Finding) -> int:
    return list(CLASSES).index(finding.finding_class)


def describe_place(finding: Finding) -> str:
    """Where in the prompt and where in the payload; empty if it has no place."""
    places = [f"prompt {finding.path}"] if finding.path else []
    places += [f"payload {finding.pointer or '/'}"] if finding.pointer is not None else []
    return ", ".join(places)


def _describe_example(result: Result, *, longest: int | None) -> Iterator[str]:
    """The generated prompt that failed, and what came of it."""
    for example in (finding.example for finding in result.findings if finding.example):
        options = {name: value for name, value in example.options.items() if name != "thread_id"}
        yield f"  prompt  {_shown(example.prompt, longest)}"
        if options:
            yield f"  options {_shown(options, longest)}"
        if example.answer is not None:
            yield f"  answer  {_shown(example.answer, longest)}"
        if example.payload is not None:
            yield f"  gave    {_shown(example.payload, longest)}"


def _shown(value: Any, longest: int | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if longest is None else shorten(text, longest)
