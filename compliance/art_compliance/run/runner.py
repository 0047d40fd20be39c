"""Runs the checks on an adapter. It does not know pytest: the plugin and the command call it."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct, structs

from art_compliance.checks import Check, NotApplicable, Trial
from art_compliance.checks.requirements import LeftTo, Misbehaved, is_json
from art_compliance.findings import Example, Finding, HarnessError, NotMade, Verdict
from art_compliance.generating.profiles import Search
from art_compliance.resources import data_folder
from art_compliance.run.causes import shape_of
from art_compliance.run.report import NOT_MADE, Adapter, Report, Result, make_report
from art_compliance.run.rerun import Rerun
from art_compliance.run.selection import FOLDER, Plan, Selection, with_own_cassettes
from art_compliance.scenarios import Scenario
from art_compliance.subject.factories import Factory, Named, name_of
from art_compliance.subject.observations import Sent
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject

GIVEN_UP: Final = "the adapter is not used any more: it did not return, or ended its process, more than once"
MOST_SECONDS: Final = 3600.0
"""Seconds that a run may take."""


class _Judgement(Struct, frozen=True):
    """The part of a result that the check decides."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    judged: int | None = None
    left_to: str | None = None


class Session:
    """Runs single checks on one adapter, and observes each scenario only once."""

    def __init__(
        self,
        subject: Subject,
        seed: int,
        search: Search = Search(),  # noqa: B008 - frozen
        selection: Selection = Selection(),  # noqa: B008 - as above
        *,
        live: Subject | None = None,
    ) -> None:
        self.subject = subject
        self._live = live
        self._counting = selection.counting
        self.seed = seed
        self.search = structs.replace(search, only=search.only or frozenset(selection.checks))
        self.rerun = _rerun(subject.name, seed, subject.requested_dialect, selection, search)
        self.stopped: str | None = None
        """Why the run ended before its time, if it did."""
        self._failed: set[str] = set()
        self._reported: set[str] = set()
        self._shown: set[str] = set()
        self._cassettes = None if selection.cassettes is None else selection.cassettes / subject.provider
        self._trials: dict[str, Trial] = {}

    def run(self, check: Check, scenario: Scenario) -> Result:
        """Runs one check on one scenario. Never raises: a bug of the suite becomes a harness error."""
        trial = self._trial(scenario)
        began = time.perf_counter()
        if self.subject.is_given_up:
            return self._result(check, trial, _Judgement("not applicable", reason=GIVEN_UP), began)
        stops = len(self.subject.stops)
        judgement = _with_stop(check, self._judge(check, trial), self.subject.stops[stops:])
        return self._result(check, trial, judgement, began)

    def _result(self, check: Check, trial: Trial, judgement: _Judgement, began: float) -> Result:
        scenario = trial.scenario
        self._reported |= {shape_of(one.message) for one in judgement.findings if one.severity == "reject"}
        replays = check.stage.replays_cassettes
        shown = trial.shown - self._shown
        self._shown |= shown
        return Result(
            check=check.id,
            scenario=scenario.id,
            purpose=scenario.purpose,
            level=check.level(scenario, is_refused=bool(trial.undeclared)),
            verdict=self._verdict(check, judgement),
            findings=judgement.findings,
            reason=judgement.reason,
            source=trial.source if replays else None,
            cassette=f"{self.subject.provider}/{scenario.id}.yaml" if replays else None,
            judged=judgement.judged,
            left_to=judgement.left_to,
            shown=tuple(sorted(shown)),
            seconds=round(time.perf_counter() - began, 6),
        )

    def _verdict(self, check: Check, judgement: _Judgement) -> Verdict:
        """The verdict of the check, or `provisional` for a failure that does not count."""
        is_failure = judgement.verdict == "fail" and not check.stage.stops_the_run
        return "provisional" if is_failure and not self._counting.counts(check.id) else judgement.verdict

    def _judge(self, check: Check, trial: Trial) -> _Judgement:
        try:
            outcome = trial.once(self._as_counted(check))
        except NotApplicable as error:
            left_to = error.check if isinstance(error, LeftTo) else None
            return _Judgement("not applicable", reason=str(error), judged=error.judged, left_to=left_to)
        except Misbehaved as error:
            return _Judgement("fail", (_contract_finding(check, str(error)),))
        except Exception:  # noqa: BLE001 - a bug of the suite must not look like the adapter's
            return _Judgement("harness error", reason=traceback.format_exc())
        if not any(finding.severity == "reject" for finding in outcome.findings):
            return _Judgement("pass", outcome.findings, judged=outcome.judged)
        verdict: Verdict = "harness error" if check.stage.stops_the_run else "fail"
        return _Judgement(verdict, self._with_example(trial, outcome.findings), judged=outcome.judged)

    def _as_counted(self, check: Check) -> Check:
        """The check, which leaves nothing to a provisional one if it counts itself: what it finds would not count."""
        counts = self._counting.counts
        counted = tuple(one for one in check.leaves_to if counts(one.id))
        if counted == check.leaves_to or not counts(check.id):
            return check
        return structs.replace(check, leaves_to=counted)

    def _with_example(self, trial: Trial, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Adds an example to the first failure of each check; more of them would make the report long."""
        first, *others = findings
        if first.check in self._failed or any(finding.example for finding in findings):
            return findings
        self._failed.add(first.check)
        seen = trial.observation
        payload = seen.payload if isinstance(seen, Sent) and is_json(seen.payload) else str(seen)
        example = Example(prompt=trial.scenario.prompt, options=trial.scenario.call_options(), payload=payload)
        return (structs.replace(first, example=example), *others)

    def _trial(self, scenario: Scenario) -> Trial:
        if scenario.id not in self._trials:
            kept = None if self._cassettes is None else self._cassettes / f"{scenario.id}.yaml"
            self._trials[scenario.id] = Trial(
                self.subject,
                scenario,
                self.seed,
                self.search,
                cassette=kept,
                live=self._live,
                record_command=self.rerun.recording,
                is_known=lambda message: shape_of(message) in self._reported,
            )
        return self._trials[scenario.id]


def _rerun(name: str, seed: int, dialect: str | None, selection: Selection, search: Search) -> Rerun:
    usual = (None, FOLDER, data_folder("cassettes"))  # what is found without being named
    return Rerun(
        adapter=name,
        seed=seed,
        dialect=dialect,
        scenarios_from=str(selection.extra) if selection.extra else None,
        cassettes=None if selection.cassettes in usual else str(selection.cassettes),
        profile=search.profile.name,
    )


def _with_stop(check: Check, judgement: _Judgement, stops: list[str]) -> _Judgement:
    """A check during which the adapter did not return, or ended its process, has failed, whatever it looks at."""
    if not stops or (judgement.verdict == "fail" and any(stops[0] in one.message for one in judgement.findings)):
        return judgement
    finding = _contract_finding(check, f"while this was checked: {stops[0]}")
    findings = [one for one in judgement.findings if one.severity != "reject" or judgement.verdict == "fail"]
    return _Judgement("fail", (*findings, finding), judged=judgement.judged)


def _contract_finding(check: Check, message: str) -> Finding:
    return Finding(check=check.id, finding_class="contract", message=message)


def certify(
    make: Factory | str,
    *,
    dialect: str | None = None,
    selection: Selection = Selection(),  # noqa: B008 - frozen
    seed: int | None = None,
    search: Search = Search(),  # noqa: B008 - frozen
    isolated: bool = True,
    seconds: float = MOST_SECONDS,
    call_seconds: float | None = None,
    on_result: Callable[[Result, int, int], None] | None = None,
) -> Report:
    """Judges an adapter, given as a factory or by name, and returns the report.

    The adapter runs in a process of its own, where it can be made in one, unless it is not to be `isolated`.
    `call_seconds` is what one call may take. `on_result` is called with each result, its number and the total. Where
    preflight fails, nothing else runs; neither after the adapter did not return, or ended its process, `MOST_STOPS`
    times, nor after `seconds`.
    Raises HarnessError for what is not the adapter's fault.
    """
    factory = Named(make) if isinstance(make, str) else make
    name = make if isinstance(make, str) else name_of(make)
    known_seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    started, began = datetime.now(UTC), time.perf_counter()
    results: list[Result] = []
    with _opening(results) as stack:
        try:
            subject = stack.enter_context(
                open_subject(factory, name=name, dialect=dialect, isolated=isolated, limit=call_seconds)
            )
        except NotMade as error:
            rerun = _rerun(name, known_seed, dialect, selection, search)
            return _report_of_none(str(error), rerun, selection, started, time.perf_counter() - began)
        selection = with_own_cassettes(selection, subject.factory_name)
        plan = selection.plan()
        live = None
        if selection.live is not None:
            access = selection.live
            live = stack.enter_context(
                open_subject(factory, name=name, dialect=dialect, access=access, isolated=isolated, limit=call_seconds)
            )
        session = Session(subject, known_seed, search, selection, live=live)
        for number, result in enumerate(_run_all(session, plan, began + seconds), 1):
            results.append(result)
            if on_result is not None:
                on_result(result, number, len(plan))
        adapter = describe(subject)
    return make_report(
        adapter,
        results,
        rerun=session.rerun,
        is_filtered=not selection.is_whole,
        started=started,
        seconds=time.perf_counter() - began,
        stopped=session.stopped,
        in_process=subject.in_process,
        counting=selection.counting,
    )


def _report_of_none(why: str, rerun: Rerun, selection: Selection, started: datetime, seconds: float) -> Report:
    """The report of an adapter that was never made, which fails the first check."""
    (check, scenario), *rest = selection.plan()
    failed = Result(
        check=check.id,
        scenario=scenario.id,
        purpose=scenario.purpose,
        level=check.level(scenario, is_refused=False),
        verdict="fail",
        findings=(_contract_finding(check, why),),
    )
    return make_report(
        Adapter(name=rerun.adapter, kind=NOT_MADE, dialect=None, capabilities=(), losses=(), repairs=()),
        [failed],
        rerun=rerun,
        is_filtered=not selection.is_whole,
        started=started,
        seconds=seconds,
        stopped=f"{why}; {_not_run(len(rest))}",
        counting=selection.counting,
    )


@contextmanager
def _opening(results: list[Result]) -> Generator[ExitStack]:
    """What is opened until the block ends. Where a check has failed, a harness error in closing it adds nothing."""
    try:
        with ExitStack() as stack:
            yield stack
    except HarnessError:
        if not any(one.verdict == "fail" for one in results):
            raise


def _run_all(session: Session, plan: Plan, ends: float) -> Iterator[Result]:
    """All results, up to the end of a stage that stops the run, to the end of the time, or of the adapter."""
    bad: Result | None = None
    for number, (check, scenario) in enumerate(plan):
        if bad is not None and (not check.stage.stops_the_run or bad.verdict == "fail"):  # a failure says it all
            return
        session.stopped = _why_stopped(session, ends, left=len(plan) - number)
        if session.stopped is not None:
            return
        result = session.run(check, scenario)
        if check.stage.stops_the_run and result.verdict in ("harness error", "fail"):
            bad = result
        yield result


def _why_stopped(session: Session, ends: float, *, left: int) -> str | None:
    """Why the run ends here, with so many checks left; None if it goes on."""
    rest = _not_run(left)
    if session.subject.is_given_up:
        return f"{session.subject.stops[-1]}, and not for the first time; {rest}"
    return f"the run's time is up; {rest}" if time.perf_counter() > ends else None


def _not_run(count: int) -> str:
    return f"{count:,} of the checks that were planned were not run"


def describe(subject: Subject) -> Adapter:
    """The adapter, as the report describes it."""
    return Adapter(
        name=subject.name,
        kind=subject.kind,
        dialect=None if subject.dialect is None else subject.dialect.name,
        capabilities=tuple(sorted(subject.capabilities)),
        losses=tuple(sorted(subject.losses)),
        repairs=tuple(sorted(subject.repairs)),
    )
