"""The results of a run, counted by level, by class of finding and by recording."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.cassettes import RECORDED_REALITY, SOURCES, Source
from art_compliance.findings import CLASSES, FindingClass, Verdict
from art_compliance.run.requirement_sets import Counting, RequirementSet
from art_compliance.run.results import Result
from art_compliance.scenarios import Level

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
    def allows_certificate(self) -> bool:
        """Whether the level allows a certificate."""
        return self.is_passed or not (self.is_applicable or self.failed)


def count_classes(results: tuple[Result, ...]) -> dict[FindingClass, ClassCount]:
    """The findings of each class."""
    return {one: _count_class(one, results) for one in CLASSES}


def _count_class(finding_class: FindingClass, results: tuple[Result, ...]) -> ClassCount:
    """The findings of a class in all results."""
    failed = [result for result in results if finding_class in result.classes]
    found = [one for result in failed for one in result.findings if one.finding_class == finding_class]
    return ClassCount(
        findings=sum(finding.severity == "reject" for finding in found),
        results=len(failed),
        checks=len({result.check for result in failed}),
    )


def count_levels(results: tuple[Result, ...], counting: Counting) -> dict[Level, LevelCount]:
    """The results by level, of the levels of which a check was run."""
    counts: defaultdict[Level, Counter[Verdict]] = defaultdict(Counter)
    classes: defaultdict[Level, Counter[FindingClass]] = defaultdict(Counter)
    for result in results:
        counts[result.level][result.verdict] += 1
        if result.findings:
            classes[result.level].update(result.classes)
    reality = any(source in RECORDED_REALITY for source in count_recordings(results))
    counts["replay"]  # it is shown, whether or not a check of it was run
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
            failed_by_class={one: classes[level][one] for one in CLASSES},
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


def count_recordings(results: tuple[Result, ...]) -> dict[Source, int]:
    """How many scenarios were replayed without a failure, by the source of their answers."""
    wrong = {result.scenario for result in results if result.source and result.verdict == "fail"}
    played = {
        result.scenario: result.source
        for result in results
        if result.source and result.verdict == "pass" and result.scenario not in wrong
    }
    return {source: count for source in SOURCES if (count := list(played.values()).count(source))}
