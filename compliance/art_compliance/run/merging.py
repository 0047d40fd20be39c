"""Puts the reports of shards together: the result is that of one run of everything, but for the times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec import structs

from art_compliance.findings import HarnessError
from art_compliance.run.report import BaselineUse, Report, make_report
from art_compliance.run.requirement_sets import Counting, find_sets
from art_compliance.run.results import Result
from art_compliance.run.sharding import ShardOf

_SAME = {
    "seed": "seed",
    "rerun": "settings",
    "adapter": "adapter",
    "suite_version": "version of the suite",
    "fixtures_digest": "data of the suite",
    "requirements": "requirement set",
    "is_preview": "setting of --preview",
    "is_filtered": "selection",
}
"""What the shards of one run have in common, in words."""


def merge(reports: Iterable[Report]) -> list[Report]:
    """One report for each adapter, made of those of its shards.

    Raises HarnessError for what is not a shard, for shards that are missing or doubled, and for those of different
    runs.
    """
    by_adapter: dict[str, list[Report]] = {}
    for report in reports:
        by_adapter.setdefault(report.adapter.name, []).append(report)
    return [_merge_one(name, shards) for name, shards in by_adapter.items()]


def _merge_one(name: str, reports: list[Report]) -> Report:
    parts = [(report, _shard_of(name, report)) for report in reports]
    parts.sort(key=lambda part: part[1].number)
    _require_all(name, [shard for _, shard in parts])
    _require_same(name, parts)
    first, shard = parts[0]
    made = make_report(
        first.adapter,
        _in_order([report for report, _ in parts], shard.checks),
        rerun=first.rerun,
        counting=Counting(requirements=find_sets()[first.requirements], is_preview=first.is_preview),
        is_filtered=first.is_filtered,
        started=min(datetime.fromisoformat(report.started) for report, _ in parts),
        seconds=sum(report.seconds for report, _ in parts),
        stopped=next((report.stopped for report, _ in parts if report.stopped), None),
        in_process=first.in_process,
        baseline=_baseline_of([report.baseline for report, _ in parts if report.baseline]),
    )
    return structs.replace(made, versions=first.versions)


def _baseline_of(found: Sequence[BaselineUse]) -> BaselineUse | None:
    """What is wrong with the entries of the baseline, in any shard."""
    if not found:
        return None
    problems = dict.fromkeys(problem for one in found for problem in one.problems)
    unused = sorted({entry for one in found for entry in one.unused})
    return structs.replace(found[0], problems=tuple(problems), unused=tuple(unused))


def _shard_of(name: str, report: Report) -> ShardOf:
    if report.shard is None:
        raise HarnessError(f"a report of {name} is of a whole run, not of a shard: there is nothing to merge")
    return report.shard


def _require_all(name: str, shards: Sequence[ShardOf]) -> None:
    counts = sorted({shard.count for shard in shards})
    if len(counts) > 1:
        found = ", ".join(map(str, shards))
        raise HarnessError(f"the shards of {name} are not of one run: {found}")
    numbers = [shard.number for shard in shards]
    for number in range(1, counts[0] + 1):
        if (count := numbers.count(number)) != 1:
            problem = "missing" if not count else "given more than once"
            raise HarnessError(f"shard {number}/{counts[0]} of {name} is {problem}")


def _require_same(name: str, parts: Sequence[tuple[Report, ShardOf]]) -> None:
    first, first_shard = parts[0]
    for report, shard in parts[1:]:
        differing = [words for field, words in _SAME.items() if getattr(report, field) != getattr(first, field)]
        differing += ["version of the adapter"] if shard.code != first_shard.code else []
        differing += ["checks"] if shard.checks != first_shard.checks else []
        if differing:
            what = f"another {differing[0]}{_values(first, report, differing[0])}"
            raise HarnessError(f"shard {shard} of {name} is of another run than shard {first_shard}: {what}")


def _values(first: Report, other: Report, words: str) -> str:
    """The two values, if they are short."""
    field = next((field for field, name in _SAME.items() if name == words), None)
    values: list[Any] = [] if field is None else [getattr(other, field), getattr(first, field)]
    is_short = values and all(isinstance(value, int | str) and len(str(value)) < 20 for value in values)
    return f" ({values[0]}, not {values[1]})" if is_short else ""


def _in_order(reports: Sequence[Report], checks: Sequence[str]) -> Iterator[Result]:
    """The results in the order of the whole run. What every shard has is taken from the first one."""
    by_check: dict[str, list[Result]] = {}
    for report in reversed(reports):
        ours: dict[str, list[Result]] = {}
        for result in report.results:
            ours.setdefault(result.check, []).append(result)
        by_check |= ours
    shown: set[str] = set()
    for check in checks:
        for result in by_check.get(check, ()):
            yield structs.replace(result, shown=tuple(name for name in result.shown if name not in shown))
            shown |= set(result.shown)
