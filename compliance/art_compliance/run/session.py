"""The checks of a run on one adapter, one at a time: what was observed, reported and shown before is kept."""

from __future__ import annotations

import time
from collections import defaultdict
from functools import partial
from typing import Final

from msgspec import structs

from art_compliance.checks import Check, Trial
from art_compliance.checks.base import Outcome
from art_compliance.checks.properties.laws import judge_alone
from art_compliance.checks.recording import Recording
from art_compliance.checks.requirements import is_json
from art_compliance.findings import Example, Finding, Verdict
from art_compliance.generating.profiles import Search
from art_compliance.generating.requests import as_scenario
from art_compliance.run.baseline import NO_BASELINE, Baseline
from art_compliance.run.causes import shape_of
from art_compliance.run.exchanges import with_exchanges
from art_compliance.run.judgements import Judgement, attempt, join, with_stop
from art_compliance.run.rerun import rerun_of
from art_compliance.run.results import Result
from art_compliance.run.selection import Selection
from art_compliance.run.sharding import Reported
from art_compliance.scenarios import Scenario
from art_compliance.subject.observations import Sent
from art_compliance.subject.opening import IN_PROCESS
from art_compliance.subject.subject import Subject

GIVEN_UP: Final = "the adapter is no longer called: more than once, it did not return, or ended its process"

_MOST_CAUSES_SHOWN: Final = 5
"""Causes of one check that a report has an example of."""

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
        self._causes_shown: defaultdict[str, set[str]] = defaultdict(set)
        self._reported = Reported(self._judge_for_another_shard)
        if selection.shard is not None:
            self._reported.is_of(selection.shard, selection.whole_plan())
        self._shown: set[str] = set()
        self._cassettes = None if selection.cassettes is None else selection.cassettes / subject.provider
        self._trials: dict[str, Trial] = {}
        self._counted: dict[str, Check] = {}

    def run(self, check: Check, scenario: Scenario) -> Result:
        """Runs one check on one scenario. A bug of the suite becomes a harness error.

        Raises OutOfTime if the run's time is up before the check has ended.
        """
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
            source=trial.recording.source if replays else None,
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
        """What the check finds; with what went over the wire where a cause is new: more would make reports long."""
        outcome = trial.once(self._counted.get(check.id) or self._as_counted(check))
        return with_exchanges(outcome, self.subject) if self._is_to_be_shown(outcome.findings) else outcome

    def _as_counted(self, check: Check) -> Check:
        """The check, which leaves nothing to a provisional one if it counts itself: what it finds would not count."""
        counts = self._counting.counts
        left_to = tuple(one for one in check.leaves_to if counts(one.id) or not counts(check.id))
        counted = check if left_to == check.leaves_to else structs.replace(check, leaves_to=left_to)
        return self._counted.setdefault(check.id, counted)

    def _with_example(self, trial: Trial, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Adds an example to the first failure of each cause, for the first causes of a check: a report stays short."""
        if not self._is_to_be_shown(findings) or any(finding.example for finding in findings):
            return findings
        first, *others = findings
        self._causes_shown[first.check].add(shape_of(first.message))
        seen = trial.observation
        payload = seen.payload if isinstance(seen, Sent) and is_json(seen.payload) else str(seen)
        example = Example(prompt=trial.scenario.prompt, options=trial.scenario.call_options(), payload=payload)
        return (structs.replace(first, example=example), *others)

    def _is_to_be_shown(self, findings: tuple[Finding, ...]) -> bool:
        """Whether the first of the findings has a cause of which the report has no example yet, nor enough others."""
        if not findings:
            return False
        known = self._causes_shown[findings[0].check]
        return len(known) < _MOST_CAUSES_SHOWN and shape_of(findings[0].message) not in known

    def _trial(self, scenario: Scenario) -> Trial:
        if scenario.id not in self._trials:
            kept = None if self._cassettes is None else self._cassettes / f"{scenario.id}.yaml"
            self._trials[scenario.id] = Trial(
                self.subject,
                scenario,
                self.seed,
                self.search,
                recording=Recording(scenario, kept, self.rerun.recording),
                live=self._live,
                is_known=partial(self._is_known, self._baseline.shapes(scenario.id)),
            )
        return self._trials[scenario.id]

    def _is_known(self, shapes: frozenset[str], message: str) -> bool:
        """Whether the cause of a message is reported already, or known of generated prompts."""
        shape = shape_of(message)
        return shape in shapes or self._reported.has(shape)
