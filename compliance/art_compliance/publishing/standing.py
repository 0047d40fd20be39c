"""The result of a run for an adapter, in the words of a badge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from art_compliance.findings import CLASSES, FindingClass
from art_compliance.run.lines import counted
from art_compliance.run.report import Report

Colour = Literal["brightgreen", "yellow", "red", "lightgrey"]
"""A colour that shields.io knows by this name."""

LABEL = "ART conformance"


class Standing(NamedTuple):
    """The result in a few words, and the colour of its badge."""

    words: str
    colour: Colour


def standing_of(report: Report) -> Standing:
    """The result of the adapter. A partial run, or one that could not be done, says nothing about it."""
    if report.harness_errors:
        return Standing("no verdict", "lightgrey")
    if report.is_certified:
        known = len(report.known)
        return Standing(f"certified, {counted(known, 'known failure')}", "yellow") if known else _certified(report)
    if report.stopped:
        return Standing("not certified: the run was not complete", "red")
    if report.failures:
        return Standing(f"not certified: {_findings(report)}", "red")
    if report.is_partial:
        return Standing("partial run", "lightgrey")
    return Standing("not certified", "red")


def says_all(report: Report) -> bool:
    """Whether the run was a whole one: only then is there a badge to show."""
    return not (report.is_partial or report.stopped or report.harness_errors)


def standing_of_all(reports: Sequence[Report]) -> Standing:
    """The result of several adapters together."""
    if len(reports) == 1:
        return standing_of(reports[0])
    certified = [report for report in reports if report.is_certified]
    words = f"{len(certified)} of {len(reports)} adapters certified"
    known = sum(len(report.known) for report in certified)
    if len(certified) < len(reports):
        return Standing(words, "red")
    if known:
        return Standing(f"{words}, {counted(known, 'known failure')}", "yellow")
    return Standing(words, "brightgreen")


def _certified(report: Report) -> Standing:
    levels = [level for level, count in report.levels.items() if count.is_passed]
    return Standing(f"certified ({counted(len(levels), 'level')})", "brightgreen")


def _findings(report: Report) -> str:
    """The findings of the worst class."""
    counts: dict[FindingClass, int] = {one: report.classes[one].findings for one in CLASSES}
    worst = [f"{counted(count, 'finding')} of {CLASSES[one]}" for one, count in counts.items() if count]
    return worst[0] if worst else counted(len(report.failures), "failure")
