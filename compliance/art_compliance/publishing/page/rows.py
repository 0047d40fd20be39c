"""What the page says of each check: a cell per adapter, and what lies behind it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from msgspec import structs

from art_compliance.checks import CHECKS
from art_compliance.examining.laws import LAWS
from art_compliance.findings import CLASSES, Finding, FindingClass, WireExchange
from art_compliance.publishing.page.json_lines import JsonLine, Limits, json_lines
from art_compliance.publishing.page.marking import Marker, given_in
from art_compliance.publishing.without_suite import Reproduction, without_suite
from art_compliance.quoting import AT_LENGTH, shorten
from art_compliance.run.causes import Cause, find_causes, shape_of
from art_compliance.run.clauses import clause_of
from art_compliance.run.failing import describe_place
from art_compliance.run.report import Report
from art_compliance.run.results import Result

State = Literal["fail", "harness", "known", "provisional", "pass", "none", "absent"]

_MARKED: Final = 6
"""Findings whose places are marked on one example."""
_WORST_FIRST: Final[Mapping[str, State]] = {
    "harness error": "harness",
    "fail": "fail",
    "known": "known",
    "provisional": "provisional",
    "pass": "pass",
    "not applicable": "none",
}

_ODD: Final = re.compile(r"[^\w.:/+-]+", re.ASCII)
"""What an address of a place in the page cannot have as it is."""

_FAILED: Final = ("fail", "known", "provisional")


class Detail(NamedTuple):
    """How much is said of each cell that failed."""

    causes: int
    scenarios: int
    findings: int
    examples: int
    json: Limits
    wire: int
    """Characters of what went over the wire."""
    program: int
    """Characters of a program that shows a failure without the suite."""


class Cell(NamedTuple):
    """A check on an adapter: how it ended, of which classes its findings are, and the number of each verdict."""

    state: State
    classes: tuple[FindingClass, ...]
    counts: Mapping[str, int]
    reasons: tuple[tuple[str, int], ...]
    """Why it was not applicable, with how often, the most frequent ones."""
    anchor: str = ""
    """Where the page says what is wrong; empty where it says nothing."""

    @property
    def shown(self) -> str:
        """What is in the cell: the number of failed trials, or a sign."""
        signs: Mapping[State, str] = {"pass": "✓", "none": "-", "absent": "", "harness": "!"}
        return signs[self.state] if self.state in signs else str(self.counts.get(self.state, ""))

    @property
    def words(self) -> str:
        """The counts in words."""
        return ", ".join(f"{count:,} {_WORDS.get(verdict, verdict)}" for verdict, count in self.counts.items() if count)


_WORDS: Final = {"pass": "passed", "fail": "failed"}


class Shown(NamedTuple):
    """A finding: what is wrong, where, and what the provider says of it."""

    message: str
    place: str
    provider_text: str
    source: str
    severity: str

    @property
    def link(self) -> str:
        """The source, if it is an address."""
        return self.source if self.source.startswith("https://") and " " not in self.source else ""


class Sides(NamedTuple):
    """What was given and what came of it, side by side."""

    given: list[JsonLine]
    payload: list[JsonLine]


class Wire(NamedTuple):
    """An exchange, in lines: what was sent, and what came back."""

    sent: tuple[str, ...]
    came: tuple[str, ...]


class OnScenario(NamedTuple):
    """What a check found on one scenario."""

    scenario: str
    purpose: str
    findings: tuple[Shown, ...]
    more: int
    again: str


class Trouble(NamedTuple):
    """Findings of one adapter with one cause."""

    adapter: str
    finding_class: FindingClass
    class_name: str
    verdict: str
    found: int
    scenarios: tuple[OnScenario, ...]
    others: tuple[str, ...]
    sides: Sides | None = None
    wire: tuple[Wire, ...] = ()
    alone: Reproduction | None = None
    anchor: str = ""


class Row(NamedTuple):
    """A check."""

    id: str
    clause: str
    cells: tuple[Cell, ...]
    troubles: tuple[Trouble, ...]
    left_out: int
    """Causes that are not shown."""
    broken: tuple[tuple[str, str], ...]
    """Adapters with what the suite itself could not do."""

    @property
    def states(self) -> list[str]:
        """The states of the cells, each once."""
        return sorted({cell.state for cell in self.cells})

    @property
    def classes(self) -> list[str]:
        """The classes of what was found."""
        return sorted({one for cell in self.cells for one in cell.classes})


class Gathered(NamedTuple):
    """What the reports have of one check: the results of each, and the causes of all that failed."""

    check: str
    results: tuple[tuple[Result, ...], ...]
    causes: tuple[tuple[Cause, ...], ...]
    """Those of each report."""


def gather(reports: Sequence[Report]) -> list[Gathered]:
    """Every check that any of the reports has, in the suite's order; those of other suites last."""
    by_check = [_by_check(report) for report in reports]
    names = {name for results in by_check for name in results}
    gathered: list[Gathered] = []
    for name in (*(name for name in (*CHECKS, *LAWS) if name in names), *sorted(names - CHECKS.keys() - LAWS.keys())):
        of_name = [tuple(results.get(name, ())) for results in by_check]
        gathered.append(Gathered(name, tuple(of_name), tuple(tuple(_causes(one)) for one in of_name)))
    return gathered


def row_of(gathered: Gathered, reports: Sequence[Report], detail: Detail, marker: Marker) -> Row:
    """The row of a check, with as much detail as that. One `marker` serves all rows of a page."""
    troubles = [
        list(_troubles(report, causes[: detail.causes], detail, marker))
        for report, causes in zip(reports, gathered.causes, strict=True)
    ]
    return Row(
        id=gathered.check,
        clause=clause_of(gathered.check),
        cells=tuple(
            _cell(results)._replace(anchor=found[0].anchor if found else "")
            for results, found in zip(gathered.results, troubles, strict=True)
        ),
        troubles=tuple(one for found in troubles for one in found),
        left_out=sum(len(causes[detail.causes :]) for causes in gathered.causes),
        broken=tuple(_broken(reports, gathered.results)),
    )


def _by_check(report: Report) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in report.results:
        found.setdefault(result.check, []).append(result)
    return found


def _causes(results: Sequence[Result]) -> Iterator[Cause]:
    """What failed, then what failed and does not count."""
    for verdict in _FAILED:
        for causes in find_causes(result for result in results if result.verdict == verdict).values():
            yield from map(_on_the_shortest, causes)


def _on_the_shortest(cause: Cause) -> Cause:
    """The cause with its shortest example first: who reads it wants to see little, and to run it."""
    first = min(cause.results, key=_length)
    if first is cause.results[0]:
        return cause
    of_class, shape = cause.example.finding_class, shape_of(cause.example.message)
    found = (one for one in first.findings if one.finding_class == of_class and shape_of(one.message) == shape)
    rest = (one for one in cause.results if one is not first)
    return structs.replace(cause, results=(first, *rest), examples=tuple(found))


def _length(result: Result) -> float:
    """The characters of what it shows; a result that shows nothing is the longest."""
    shown = [one.example for one in result.findings if one.example]
    return min((len(repr((one.prompt, one.options, one.payload))) for one in shown), default=math.inf)


def _cell(results: Sequence[Result]) -> Cell:
    counts: Counter[str] = Counter(result.verdict for result in results)
    reasons = Counter(shorten(one.reason) for one in results if one.reason and one.verdict == "not applicable")
    found = {one for result in results for one in result.classes}
    classes: tuple[FindingClass, ...] = tuple(one for one in CLASSES if one in found)
    return Cell(state_of(results), classes, counts, tuple(reasons.most_common(3)))


def state_of(results: Sequence[Result]) -> State:
    """How a check ended on an adapter: as the worst of its results did."""
    counts = {result.verdict for result in results}
    for verdict, state in _WORST_FIRST.items():
        if verdict in counts:
            return state
    return "absent"


def _broken(reports: Sequence[Report], of_check: Sequence[Sequence[Result]]) -> Iterator[tuple[str, str]]:
    for report, results in zip(reports, of_check, strict=True):
        for result in results:
            if result.verdict == "harness error":
                yield report.adapter.name, shorten(result.reason or "", 2 * AT_LENGTH)


def _troubles(report: Report, causes: Sequence[Cause], detail: Detail, marker: Marker) -> Iterator[Trouble]:
    """Each cause, with an example for the first ones."""
    examples = detail.examples
    for number, cause in enumerate(causes):
        trouble = _trouble(report, cause, detail)
        if not number:
            place = shorten(f"{cause.results[0].check}/{report.adapter.name}", 2 * AT_LENGTH)
            trouble = trouble._replace(anchor=_ODD.sub("-", place))
        if examples and (shown := _shown_on(report, cause, detail, marker)):
            examples -= 1
            trouble = trouble._replace(**shown)
        yield trouble


def _shown_on(report: Report, cause: Cause, detail: Detail, marker: Marker) -> dict[str, Any]:
    """What the cause's first finding was found on, and how to see it without the suite. Empty without an example."""
    found = cause.results[0].findings
    if not any(one.example or one.exchange for one in found):
        return {}
    return {
        "sides": _sides(cause, detail.json, marker),
        "wire": tuple(_wire(one.exchange, detail.wire) for one in found if one.exchange) if detail.wire else (),
        "alone": without_suite(report, cause.results[0], cause.example, longest=detail.program),
    }


def _wire(exchange: WireExchange, longest: int) -> Wire:
    sent = f"{exchange.method} {exchange.url}  ({exchange.body_bytes:,} bytes)\n{shorten(exchange.body, longest)}"
    came = f"{exchange.status or 'nothing'} {exchange.content_type}\n{shorten(exchange.answer, longest)}"
    return Wire(tuple(sent.split("\n")), tuple(came.split("\n")))


def _trouble(report: Report, cause: Cause, detail: Detail) -> Trouble:
    finding_class = cause.example.finding_class
    shown, others = cause.results[: detail.scenarios], cause.results[detail.scenarios :]
    return Trouble(
        adapter=report.adapter.title,
        finding_class=finding_class,
        class_name=CLASSES[finding_class],
        verdict=cause.results[0].verdict,
        found=cause.count,
        scenarios=tuple(_on_scenario(report, result, finding_class, detail) for result in shown),
        others=tuple(result.scenario for result in others[: 4 * detail.scenarios]),
    )


def _on_scenario(report: Report, result: Result, finding_class: FindingClass, detail: Detail) -> OnScenario:
    wrong = [one for one in result.findings if one.severity == "reject" and one.finding_class == finding_class]
    return OnScenario(
        scenario=result.scenario,
        purpose=result.purpose,
        findings=tuple(map(_shown, wrong[: detail.findings])),
        more=len(wrong[detail.findings :]),
        again=report.rerun.command(result.check, result.scenario),
    )


def _shown(finding: Finding) -> Shown:
    return Shown(
        shorten(finding.message, AT_LENGTH),
        shorten(describe_place(finding)),
        shorten(finding.provider_text or "", AT_LENGTH),
        shorten(finding.source or "", 2 * AT_LENGTH),
        finding.severity,
    )


def _sides(cause: Cause, limits: Limits, marker: Marker) -> Sides | None:
    """Prompt and payload of the cause's example. None without one: only the first failure of a check has one."""
    first = cause.results[0]
    example = next((one.example for one in first.findings if one.example), None)
    if example is None:
        return None
    marks = marker.mark(cause.examples[:_MARKED], example)
    given = json_lines(given_in(example).value, marks.given, limits)
    return Sides(given, json_lines(example.payload, marks.payload, limits))
