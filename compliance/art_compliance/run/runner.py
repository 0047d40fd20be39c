"""Runs the checks on an adapter. It does not know pytest: the plugin and the command call it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import structs

from art_compliance.checks import Check, Trial
from art_compliance.checks.base import Outcome
from art_compliance.checks.properties.laws import judge_alone
from art_compliance.checks.requirements import is_json
from art_compliance.findings import Example, Finding, HarnessError, NotMade, Verdict
from art_compliance.generating.profiles import Search
from art_compliance.generating.requests import as_scenario
from art_compliance.run.baseline import NO_BASELINE, Baseline, read_baseline, use_of
from art_compliance.run.causes import shape_of
from art_compliance.run.ending import first_failure, interrupted, not_run, why_stopped
from art_compliance.run.exchanges import with_exchanges
from art_compliance.run.judgements import Judgement, attempt, contract_finding, join, with_stop
from art_compliance.run.report import NOT_MADE, Adapter, Report, Result, make_report
from art_compliance.run.rerun import Rerun, rerun_of
from art_compliance.run.selection import Plan, Selection, with_own_cassettes
from art_compliance.run.sharding import Reported
from art_compliance.scenarios import Scenario
from art_compliance.subject.factories import Factory, Named, name_of
from art_compliance.subject.observations import Sent
from art_compliance.subject.opening import IN_PROCESS, open_subject
from art_compliance.subject.subject import Subject

GIVEN_UP: Final = "the adapter is not used any more: it did not return, or ended its process, more than once"
MOST_SECONDS: Final = 3600.0
"""Seconds that a run may take."""


_SHOWN_BY_EXAMPLE: Final[frozenset[Verdict]] = frozenset({"fail", "provisional", "harness error"})


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
        baseline: Baseline | None = None,
    ) -> None:
        self.subject = subject
        self._live = live
        self._counting = selection.counting
        self.fail_fast = selection.fail_fast
        self._baseline = NO_BASELINE if baseline is None else baseline.of(subject.name)
        self.seed = seed
        self.search = structs.replace(search, only=search.only or frozenset(selection.checks))
        rerun = rerun_of(subject.name, seed, subject.requested_dialect, selection, search, subject.factory_name)
        self.rerun = structs.replace(rerun, in_process=subject.in_process == IN_PROCESS)
        self.stopped: str | None = None
        """Why the run ended before its time, if it did."""
        self._failed: set[str] = set()
        self._reported = Reported(self._judge_for_another_shard)
        if selection.shard is not None:
            self._reported.is_of(selection.shard, selection.whole_plan())
        self._shown: set[str] = set()
        self._cassettes = None if selection.cassettes is None else selection.cassettes / subject.provider
        self._trials: dict[str, Trial] = {}

    def run(self, check: Check, scenario: Scenario) -> Result:
        """Runs one check on one scenario. Never raises: a bug of the suite becomes a harness error."""
        trial = self._trial(scenario)
        began = time.perf_counter()
        if self.subject.is_given_up:
            return self._result(check, trial, Judgement("not applicable", reason=GIVEN_UP), began)
        before = len(self.subject.stops)
        with self._reported.judging(check, scenario):
            judgement = self._judge(check, trial)
        stops = self.subject.stops[before:]
        judgement = with_stop(check, judgement, stops)
        self._note(check, scenario, judgement)
        judgement = judgement if check.stage.stops_the_run else self._weigh(check, scenario, judgement)
        if judgement.verdict in _SHOWN_BY_EXAMPLE and not stops:  # it might not return again
            judgement = structs.replace(judgement, findings=self._with_example(trial, judgement.findings))
        return self._result(check, trial, judgement, began)

    def _judge_for_another_shard(self, check: Check, scenario: Scenario) -> None:
        """Runs a check of another shard: what it reports is not reported again in this one."""
        with self._reported.judging(check, scenario):
            self._note(check, scenario, self._judge(check, self._trial(scenario)))

    def _note(self, check: Check, scenario: Scenario, judgement: Judgement) -> None:
        wrong = (shape_of(one.message) for one in judgement.findings if one.severity == "reject")
        self._reported.add(wrong, check, scenario)

    def _result(self, check: Check, trial: Trial, judgement: Judgement, began: float) -> Result:
        scenario = trial.scenario
        replays = check.stage.replays_cassettes
        shown = trial.shown - self._shown
        self._shown |= shown
        return Result(
            check=check.id,
            scenario=scenario.id,
            purpose=scenario.purpose,
            level=check.level(scenario, is_refused=bool(trial.undeclared)),
            verdict=judgement.verdict,
            findings=judgement.findings,
            reason=judgement.reason,
            known=judgement.known,
            source=trial.source if replays else None,
            cassette=f"{self.subject.provider}/{scenario.id}.yaml" if replays else None,
            judged=judgement.judged,
            left_to=judgement.left_to,
            shown=tuple(sorted(shown)),
            seconds=round(time.perf_counter() - began, 6),
        )

    def _weigh(self, check: Check, scenario: Scenario, judgement: Judgement) -> Judgement:
        """The judgement, with `known` or `provisional` as the verdict of a failure that does not count.

        Where only some findings of a failure are known, these become notes.
        """
        if judgement.verdict != "fail":
            return judgement
        counted, known, said = self._baseline.sort(scenario.id, judgement.findings)
        if any(finding.severity == "reject" for finding in counted):
            notes = [structs.replace(one, severity="note", message=f"known: {one.message}") for one in known]
            verdict: Verdict = "fail" if self._counting.counts(check.id) else "provisional"
            return structs.replace(judgement, verdict=verdict, findings=(*counted, *notes), known=tuple(said))
        return structs.replace(judgement, verdict="known", findings=(*counted, *known), known=tuple(said))

    def _judge(self, check: Check, trial: Trial) -> Judgement:
        """What the check makes of the trial, and of the generated prompts that the baseline keeps for it."""
        judgement = attempt(check, lambda: self._look(check, trial))
        for entry, request in self._baseline.requests(check.id, trial.scenario.id):
            if not any(entry.has(check.id, trial.scenario.id, shape_of(one.message)) for one in judgement.findings):
                scenario = as_scenario(trial.scenario.id, request)
                kept = Trial(self.subject, scenario, self.seed, self.search, turns=request.turns)
                judgement = join(judgement, attempt(check, lambda: Outcome(tuple(judge_alone(check, kept)))))  # noqa: B023 - at once
        return judgement

    def _look(self, check: Check, trial: Trial) -> Outcome:
        """What the check finds; with what went over the wire until it has failed once: more would make reports long."""
        outcome = trial.once(self._as_counted(check))
        return outcome if check.id in self._failed else with_exchanges(outcome, self.subject)

    def _as_counted(self, check: Check) -> Check:
        """The check, which leaves nothing to a provisional one if it counts itself: what it finds would not count."""
        counts = self._counting.counts
        counted = tuple(one for one in check.leaves_to if counts(one.id))
        if counted == check.leaves_to or not counts(check.id):
            return check
        return structs.replace(check, leaves_to=counted)

    def _with_example(self, trial: Trial, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Adds an example to the first failure of each check; more of them would make the report long."""
        if not findings or findings[0].check in self._failed or any(finding.example for finding in findings):
            return findings
        first, *others = findings
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
                is_known=partial(self._is_known, self._baseline.shapes(scenario.id)),
            )
        return self._trials[scenario.id]

    def _is_known(self, shapes: frozenset[str], message: str) -> bool:
        """Whether the cause of a message is reported already, or known of generated prompts."""
        shape = shape_of(message)
        return shape in shapes or self._reported.has(shape)


def certify(
    make: Factory | str,
    *,
    dialect: str | None = None,
    selection: Selection = Selection(),  # noqa: B008 - frozen
    seed: int | None = None,
    search: Search = Search(),  # noqa: B008 - frozen
    baseline: Baseline | Path | str | None = None,
    isolated: bool = True,
    seconds: float = MOST_SECONDS,
    call_seconds: float | None = None,
    on_result: Callable[[Result, int, int], None] | None = None,
) -> Report:
    """Judges an adapter, given as a factory or by name, and returns the report.

    The adapter runs in a process of its own, where it can be made in one, unless it is not to be `isolated`.
    `baseline` is the file of the known failures; without it, none is known.
    `call_seconds` is what one call may take. `on_result` is called with each result, its number and the total. Where
    preflight fails, nothing else runs; neither after the adapter did not return, or ended its process, `MOST_STOPS`
    times, nor after `seconds`. KeyboardInterrupt ends the run, too: the report has what was judged until then.
    Raises HarnessError for what is not the adapter's fault.
    """
    factory = Named(make) if isinstance(make, str) else make
    name = make if isinstance(make, str) else name_of(make)
    known_seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    started, began = datetime.now(UTC), time.perf_counter()
    known = baseline if isinstance(baseline, Baseline | None) else read_baseline(Path(baseline), selection)
    results: list[Result] = []
    with _opening(results) as stack:
        try:
            subject = stack.enter_context(
                open_subject(factory, name=name, dialect=dialect, isolated=isolated, limit=call_seconds)
            )
        except NotMade as error:
            rerun = rerun_of(name, known_seed, dialect, selection, search)
            return _report_of_none(str(error), rerun, selection, started, time.perf_counter() - began)
        selection = with_own_cassettes(selection, subject.factory_name)
        plan = selection.plan()
        live = None
        if selection.live is not None:
            access = selection.live
            live = stack.enter_context(
                open_subject(factory, name=name, dialect=dialect, access=access, isolated=isolated, limit=call_seconds)
            )
        adapter = describe(subject)
        session = Session(subject, known_seed, search, selection, live=live, baseline=known)
        try:
            for number, result in enumerate(_run_all(session, plan, began + seconds), 1):
                results.append(result)
                if on_result is not None:
                    on_result(result, number, len(plan))
        except KeyboardInterrupt:
            session.stopped = interrupted(len(plan) - len(results))
            with suppress(HarnessError):  # the adapter may be in the middle of a call
                stack.close()
    report = make_report(
        adapter,
        results,
        rerun=session.rerun,
        is_filtered=not selection.is_whole,
        started=started,
        seconds=time.perf_counter() - began,
        stopped=session.stopped,
        in_process=subject.in_process,
        baseline=None if known is None else use_of(known.of(name), selection, plan, results),
        counting=selection.counting,
    )
    return structs.replace(report, shard=selection.shard_of(name))


def _report_of_none(why: str, rerun: Rerun, selection: Selection, started: datetime, seconds: float) -> Report:
    """The report of an adapter that was never made, which fails the first check."""
    (check, scenario), *rest = selection.plan()
    failed = Result(
        check=check.id,
        scenario=scenario.id,
        purpose=scenario.purpose,
        level=check.level(scenario, is_refused=False),
        verdict="fail",
        findings=(contract_finding(check, why),),
    )
    report = make_report(
        Adapter(name=rerun.adapter, kind=NOT_MADE, dialect=None, capabilities=(), losses=(), repairs=()),
        [failed],
        rerun=rerun,
        is_filtered=not selection.is_whole,
        started=started,
        seconds=seconds,
        stopped=f"{why}; {not_run(len(rest))}",
        counting=selection.counting,
    )
    return structs.replace(report, shard=selection.shard_of(rerun.adapter))


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
    """All results, up to the end of a stage that stops the run, to the end of the time, or of the adapter.

    With `Selection.fail_fast`, the first failure is the last result.
    """
    bad: Result | None = None
    for number, (check, scenario) in enumerate(plan):
        if bad is not None and (not check.stage.stops_the_run or bad.verdict == "fail"):  # a failure says it all
            return
        session.stopped = why_stopped(session.subject, ends, left=len(plan) - number)
        if session.stopped is not None:
            return
        result = session.run(check, scenario)
        if check.stage.stops_the_run and result.verdict in ("harness error", "fail"):
            bad = result
        yield result
        if session.fail_fast and result.verdict == "fail":
            session.stopped = first_failure(len(plan) - number - 1)
            return


def describe(subject: Subject) -> Adapter:
    """The adapter, as the report describes it."""
    return Adapter(
        name=subject.name,
        kind=subject.kind,
        dialect=None if subject.dialect is None else subject.dialect.name,
        capabilities=tuple(sorted(subject.capabilities)),
        losses=tuple(sorted(subject.losses)),
        repairs=tuple(sorted(subject.repairs)),
        bridged=subject.bridged,
    )
