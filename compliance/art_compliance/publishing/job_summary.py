"""The report as Markdown, for the page that a CI job has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from art_compliance.findings import CLASSES
from art_compliance.publishing.page.columns import levels_of
from art_compliance.publishing.standing import standing_of, standing_of_all
from art_compliance.quoting import escape, shorten
from art_compliance.run.causes import find_causes
from art_compliance.run.counts import LevelCount
from art_compliance.run.lines import counted
from art_compliance.run.report import Report
from art_compliance.scenarios import Level

_CAUSES: Final = 10
"""Causes of one adapter that are listed."""

_SIGNS: Final = {"brightgreen": "✅", "yellow": "🟡", "red": "❌", "lightgrey": "⚪"}
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()#+!|<>~&@:$-])")


def job_summary(reports: Sequence[Report]) -> str:
    """One table of all adapters by levels, and below it what failed, cause by cause."""
    levels = levels_of(reports)
    together = standing_of_all(reports)
    lines = [
        f"## {_SIGNS[together.colour]} ART conformance: {_plain(together.words)}",
        "",
        _row("adapter", *levels, *CLASSES, "verdict"),
        _row(*["---"] * (len(levels) + len(CLASSES) + 2)),
        *(_row(_plain(report.adapter.name), *_cells(report, levels)) for report in reports),
    ]
    for report in reports:
        lines += _failures(report)
    first = reports[0]
    lines += ["", f"Suite {first.suite_version}, requirement set {first.requirements}, seed {first.seed}."]
    return "\n".join(lines) + "\n"


def _cells(report: Report, levels: Sequence[Level]) -> Iterator[str]:
    yield from (_level(report.levels.get(level)) for level in levels)
    yield from (f"{report.classes[one].findings:,}" if report.classes[one].findings else "-" for one in CLASSES)
    yield _plain(standing_of(report).words)


def _level(count: LevelCount | None) -> str:
    if count is None:
        return ""
    if count.is_passed:
        return f"✅ {count.passed:,}"
    return "n/a" if count.allows_certificate else f"❌ {count.failed:,} of {count.passed + count.failed:,}"


def _failures(report: Report) -> Iterator[str]:
    causes = [cause for causes in find_causes(report.failures).values() for cause in causes]
    if causes:
        yield from ("", f"### {_plain(report.adapter.name)}", "")
    for cause in causes[:_CAUSES]:
        first = cause.results[0]
        trials = counted(len(cause.results), "trial")
        yield f"- **{_plain(first.check)}** ({CLASSES[cause.example.finding_class]}, {trials}):"
        yield f"  {_plain(shorten(cause.example.message, 300))}  "
        yield f"  `{escape(report.rerun.command(first.check, first.scenario)).replace('`', '')}`"
    if left := len(causes[_CAUSES:]):
        yield f"- and {left} more; `index.html` has all of them"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """The text without markup, in one line."""
    return _MARKUP.sub(r"\\\1", escape(text))
