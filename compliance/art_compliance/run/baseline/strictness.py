"""Whether a baseline still holds: every entry must be there for a failure, and none may be past its date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from msgspec import Struct

from art_compliance.checks import CHECKS
from art_compliance.run.baseline.entries import Baseline, Entry
from art_compliance.run.report import BaselineUse
from art_compliance.run.results import Result
from art_compliance.run.selection import Plan, Selection


class Fault(Struct, frozen=True, kw_only=True):
    """What is wrong with an entry, from its number. Without `is_past`, it is there for no failure."""

    entry: int
    text: str
    is_past: bool = False


def use_of(baseline: Baseline, selection: Selection, plan: Plan, results: Sequence[Result]) -> BaselineUse:
    """What came of the baseline in a run of this plan. Its entries are those of the run's adapter."""
    faults = list(find_faults(baseline, selection, plan, results))
    return BaselineUse(
        file=str(baseline.file),
        entries=len(baseline.entries),
        problems=tuple(f"{baseline.file}, entry {one.entry}: {one.text}" for one in faults),
        unused=tuple(one.entry for one in faults if not one.is_past),
    )


def find_faults(
    baseline: Baseline, selection: Selection, plan: Plan, results: Sequence[Result], *, today: date | None = None
) -> Iterator[Fault]:
    """The faults of the entries, as far as the run says anything about them."""
    now = today or datetime.now(UTC).date()
    used = {known.entry for result in results for known in result.known}
    judged = _Judged(selection, plan, results)
    for number, entry in baseline.entries.items():
        if entry.expires is not None and now > entry.expires:
            text = f"{entry} was to be fixed by {entry.expires}; fix it, or set a later date"
            yield Fault(entry=number, text=text, is_past=True)
        if number not in used and (why := judged.why_unused(entry)):
            yield Fault(entry=number, text=f"{why}; remove the entry")


class _Judged:
    """What a run says of the trials that it was to judge."""

    def __init__(self, selection: Selection, plan: Plan, results: Sequence[Result]) -> None:
        self._is_whole = selection.is_whole
        in_other_shards = () if selection.shard is None else selection.whole_plan()
        self._in_other_shards = {(check.id, scenario.id) for check, scenario in in_other_shards}
        self._planned = [(check.id, scenario.id) for check, scenario in plan]
        self._results = {(result.check, result.scenario): result for result in results}

    def why_unused(self, entry: Entry) -> str | None:
        """Why an entry that has no failure is there for none; None where the run does not say."""
        if CHECKS[entry.check].families and entry.request is None:
            return None  # a search may find it or not
        if entry.scenario is None:
            return f"no failure of {entry.check} has this cause any more" if self._is_judged(entry.check) else None
        trial = (entry.check, entry.scenario)
        if trial in self._planned:
            result = self._results.get(trial)
            return None if result is None else _why_unmatched(entry, result)
        is_here = self._is_whole and trial not in self._in_other_shards
        is_run = is_here and CHECKS[entry.check].stage.name not in ("live", "replay")
        return f"{entry.check} is not run on {entry.scenario}" if is_run else None

    def _is_judged(self, check: str) -> bool:
        """Whether a check was run on all of its scenarios."""
        planned = [trial for trial in self._planned if trial[0] == check]
        return bool(planned) and self._is_whole and all(trial in self._results for trial in planned)


def _why_unmatched(entry: Entry, result: Result) -> str | None:
    where = f"{entry.check} on {entry.scenario}"
    match result.verdict:
        case "pass":
            return f"{where} passes now"
        case "not applicable":
            return f"{where} is not applicable now ({result.reason})"
        case "harness error":
            return None
        case _:
            return f"{where} fails for another cause now"
