"""Whether a baseline is up to date: every entry must be there for a failure, and none may be past its date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from msgspec import Struct

from art_compliance.checks import CHECKS
from art_compliance.examining.laws import LAWS
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
    return _use(baseline, list(find_faults(baseline, selection, plan, results)))


def use_of_examination(baseline: Baseline, results: Sequence[Result], *, is_whole: bool) -> BaselineUse:
    """What came of the baseline when a server was examined, by every request if the examination `is_whole`."""
    judged = _Examined(results, is_whole=is_whole)
    return _use(baseline, list(_find_faults(baseline, judged, results, datetime.now(UTC).date())))


def _use(baseline: Baseline, faults: Sequence[Fault]) -> BaselineUse:
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
    judged = _Judged(selection, plan, results)
    yield from _find_faults(baseline, judged, results, today or datetime.now(UTC).date())


def _find_faults(
    baseline: Baseline, judged: _Judged | _Examined, results: Sequence[Result], now: date
) -> Iterator[Fault]:
    used = {known.entry for result in results for known in result.known}
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
        if entry.check in LAWS:
            return None  # it is about servers
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


class _Examined:
    """As `_Judged`, for the examination of a server."""

    def __init__(self, results: Sequence[Result], *, is_whole: bool) -> None:
        self._is_whole = is_whole
        self._results = {(result.check, result.scenario): result for result in results}

    def why_unused(self, entry: Entry) -> str | None:
        """As `_Judged.why_unused`."""
        if entry.check not in LAWS:
            return None  # it is about adapters
        if entry.scenario is None:
            return f"no failure of {entry.check} has this cause any more" if self._is_whole else None
        result = self._results.get((entry.check, entry.scenario))
        if result is not None:
            return _why_unmatched(entry, result)
        return f"{entry.check} is not judged on {entry.scenario}" if self._is_whole else None


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
            return f"{where} now fails for another cause"
