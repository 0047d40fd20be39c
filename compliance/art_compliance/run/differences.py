"""What changed from one report to another: what fails now, what no longer does, and which checks are new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from art_compliance.findings import Verdict
from art_compliance.run.lines import Line, Style, counted
from art_compliance.run.report import Report

Trials = dict[str, tuple[str, ...]]
"""Scenarios by check."""


class Difference(Struct, frozen=True, kw_only=True):
    """What changed for one adapter.

    - `failing` fails now and did not before, though its check was there.
    - `failing_new` are failures of checks that the old report does not have.
    - `counted` fails now, and was known or provisional before.
    - `excused` is known or provisional now, and passed or failed before.
    - `fixed` failed in whatever way, and passes now.
    - `not_judged` passed or failed, and is not judged now: not applicable, or not part of the run.
    - `still` failed before, too.

    A suite that cannot do its work counts as failing.
    """

    failing: Trials
    failing_new: Trials
    counted: Trials
    excused: Trials
    fixed: Trials
    not_judged: Trials
    still: Trials
    new_checks: tuple[str, ...]
    gone_checks: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """Whether something counts as failing that did not before."""
        return bool(self.failing or self.failing_new or self.counted)


def compare_reports(old: Report, new: Report) -> Difference:
    """The difference between two reports of one adapter."""
    before, now = _verdicts(old), _verdicts(new)
    checks_before, checks_now = ({check for check, _ in verdicts} for verdicts in (before, now))
    failing = [trial for trial in now if _fails(now[trial]) and before.get(trial) not in _BROKEN]
    return Difference(
        failing=_by_check(trial for trial in failing if trial[0] in checks_before),
        failing_new=_by_check(trial for trial in failing if trial[0] not in checks_before),
        counted=_by_check(trial for trial in now if _fails(now[trial]) and before.get(trial) in _EXCUSED),
        excused=_by_check(trial for trial in now if now[trial] in _EXCUSED and before.get(trial) not in _EXCUSED),
        fixed=_by_check(trial for trial in before if before[trial] in _BROKEN and now.get(trial) == "pass"),
        not_judged=_by_check(trial for trial in before if _is_judged(before[trial]) and not _is_judged(now.get(trial))),
        still=_by_check(trial for trial in now if _fails(now[trial]) and _fails(before.get(trial))),
        new_checks=tuple(sorted(checks_now - checks_before)),
        gone_checks=tuple(sorted(checks_before - checks_now)),
    )


_FAILURES: Final[frozenset[Verdict]] = frozenset({"fail", "harness error"})
_EXCUSED: Final[frozenset[Verdict]] = frozenset({"known", "provisional"})
_BROKEN: Final = _FAILURES | _EXCUSED


def _verdicts(report: Report) -> dict[tuple[str, str], Verdict]:
    return {(result.check, result.scenario): result.verdict for result in report.results}


def _fails(verdict: Verdict | None) -> bool:
    return verdict in _FAILURES


def _is_judged(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict != "not applicable"


def _by_check(trials: Iterable[tuple[str, str]]) -> Trials:
    found: dict[str, list[str]] = {}
    for check, scenario in trials:
        found.setdefault(check, []).append(scenario)
    return {check: tuple(scenarios) for check, scenarios in found.items()}


_SHOWN: Final = 3
"""Scenarios that are named per check."""


def describe_differences(old: Mapping[str, Report], new: Mapping[str, Report]) -> Iterator[Line]:
    """The differences of all adapters, each under its name. One report each is compared whatever the adapter's name."""
    for before, now in _pairs(old, new):
        if before is not None and now is not None:
            yield Line(_heading(before, now))
            yield from _describe(before, now, compare_reports(before, now))
        elif before is not None:
            yield Line(f"{before.adapter.name}  (only in the old report)")
        elif now is not None:
            yield Line(f"{now.adapter.name}  (only in the new report: {counted(len(now.failures), 'failed trial')})")


def is_worse(old: Mapping[str, Report], new: Mapping[str, Report]) -> bool:
    """Whether something fails in the new reports that did not fail in the old ones. A new adapter's failures count.

    So do entries of the baseline that became out of date.
    """
    return any(_is_worse(before, now) for before, now in _pairs(old, new) if now is not None)


def _is_worse(before: Report | None, now: Report) -> bool:
    if before is None:
        return bool(now.failures or now.harness_errors or now.baseline_problems)
    return compare_reports(before, now).is_worse or bool(_new_problems(before, now))


def _new_problems(old: Report, new: Report) -> list[str]:
    """The problems of the baseline that the old report does not have. Numbers of entries may have changed."""
    before = {problem.partition(": ")[2] for problem in old.baseline_problems}
    return [problem for problem in new.baseline_problems if problem.partition(": ")[2] not in before]


def _pairs(old: Mapping[str, Report], new: Mapping[str, Report]) -> list[tuple[Report | None, Report | None]]:
    if len(old) == len(new) == 1:
        return [(next(iter(old.values())), next(iter(new.values())))]
    return [(old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]


def _heading(old: Report, new: Report) -> str:
    names = list(dict.fromkeys((old.adapter.name, new.adapter.name)))
    return f"{' -> '.join(names)}  ({_run(old)} -> {_run(new)})"


def _run(report: Report) -> str:
    known = f" with {counted(len(report.known), 'known failure')}" if report.known else ""
    verdict = "certified" if report.is_certified else "filtered" if report.is_filtered else "not certified"
    return f"{verdict}{known}, suite {report.suite_version}, seed {report.seed}"


def _describe(old: Report, new: Report, found: Difference) -> Iterator[Line]:
    yield from _describe_trials("newly failing", found.failing, "bad")
    yield from _describe_trials("failing, in new checks", found.failing_new, "bad")
    yield from _describe_trials("failing, no longer known or provisional", found.counted, "bad")
    yield from _describe_trials("failing, but known or provisional now", found.excused, "plain")
    for problem in _new_problems(old, new):
        yield Line(f"  baseline: {problem}", "bad")
    yield from _describe_trials("fixed", found.fixed, "good")
    yield from _describe_trials("no longer judged", found.not_judged, "plain")
    for title, checks in (("new checks", found.new_checks), ("checks that are gone", found.gone_checks)):
        if checks:
            yield Line(f"  {title}: {', '.join(checks)}")
    if found.still:
        trials = sum(map(len, found.still.values()))
        yield Line(f"  still failing: {counted(trials, 'trial')} of {counted(len(found.still), 'check')}")
    if not (found.is_worse or found.excused or found.fixed):
        yield Line("  nothing new fails, and nothing was fixed")
    if (old.requirements, old.is_preview) != (new.requirements, new.is_preview):
        yield Line(f"  other checks count: requirement set {_set_of(old)} before, {_set_of(new)} now")
    if old.fixtures_digest != new.fixtures_digest:
        yield Line("  the two runs were judged by different data (scenarios, schemas or rules)")


def _set_of(report: Report) -> str:
    return f"{report.requirements}{' and newer checks' if report.is_preview else ''}"


def _describe_trials(title: str, trials: Trials, style: Style) -> Iterator[Line]:
    if not trials:
        return
    yield Line(
        f"  {title}: {counted(sum(map(len, trials.values())), 'trial')} of {counted(len(trials), 'check')}", style
    )
    for check, scenarios in trials.items():
        more = f" and {len(scenarios) - _SHOWN} more" if len(scenarios) > _SHOWN else ""
        yield Line(f"    {check}  on {', '.join(scenarios[:_SHOWN])}{more}")
