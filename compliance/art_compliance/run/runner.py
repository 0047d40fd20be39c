"""Runs the checks on an adapter. It does not know pytest: the plugin and the command call it."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime

from msgspec import Struct, structs

from art_compliance.cassettes import Cassette
from art_compliance.cassettes.matching import Tape
from art_compliance.checks import Check, NotApplicable, Trial
from art_compliance.checks.requirements import is_json
from art_compliance.dialects import Dialect
from art_compliance.findings import Example, Finding, Verdict
from art_compliance.generating.profiles import Search
from art_compliance.resources import data_folder
from art_compliance.run.report import Adapter, Report, Result, make_report
from art_compliance.run.rerun import Rerun
from art_compliance.run.selection import FOLDER, Plan, Selection, with_own_cassettes
from art_compliance.scenarios import Scenario
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.factories import Factory, find_factory, name_of
from art_compliance.subject.observations import Sent
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject


class _Judgement(Struct, frozen=True):
    """The part of a result that the check decides."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    judged: int | None = None


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
        self.seed = seed
        self.search = structs.replace(search, only=search.only or frozenset(selection.checks))
        usual = (None, FOLDER, data_folder("cassettes"))  # what is found without being named
        self.rerun = Rerun(
            adapter=subject.name,
            seed=seed,
            dialect=subject.requested_dialect,
            scenarios_from=str(selection.extra) if selection.extra else None,
            cassettes=None if selection.cassettes in usual else str(selection.cassettes),
            profile=search.profile.name,
        )
        self._failed: set[str] = set()
        self._cassettes = None if selection.cassettes is None else selection.cassettes / subject.provider
        self._trials: dict[str, Trial] = {}

    def run(self, check: Check, scenario: Scenario) -> Result:
        """Runs one check on one scenario. Never raises: a bug of the suite becomes a harness error."""
        trial = self._trial(scenario)
        began = time.perf_counter()
        judgement = self._judge(check, trial)
        replays = check.stage.replays_cassettes
        return Result(
            check=check.id,
            scenario=scenario.id,
            purpose=scenario.purpose,
            level=check.level(scenario, is_refused=bool(trial.undeclared)),
            verdict=judgement.verdict,
            findings=judgement.findings,
            reason=judgement.reason,
            source=trial.source if replays else None,
            cassette=f"{self.subject.provider}/{scenario.id}.yaml" if replays else None,
            judged=judgement.judged,
            seconds=round(time.perf_counter() - began, 6),
        )

    def _judge(self, check: Check, trial: Trial) -> _Judgement:
        try:
            outcome = check(trial)
        except NotApplicable as error:
            return _Judgement("not applicable", reason=str(error), judged=error.judged)
        except Exception:  # noqa: BLE001 - a bug of the suite must not look like the adapter's
            return _Judgement("harness error", reason=traceback.format_exc())
        if not any(finding.severity == "reject" for finding in outcome.findings):
            return _Judgement("pass", outcome.findings, judged=outcome.judged)
        verdict: Verdict = "harness error" if check.stage.stops_the_run else "fail"
        return _Judgement(verdict, self._with_example(trial, outcome.findings), judged=outcome.judged)

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
                player=_play,
                live=self._live,
                record_command=self.rerun.recording,
            )
        return self._trials[scenario.id]


def _play(cassette: Cassette, dialect: Dialect) -> AbstractContextManager[Tape]:
    from art_compliance.cassettes.recording import playing  # noqa: PLC0415 - vcrpy is for those who have cassettes

    return playing(cassette, dialect, (TEST_KEY,))


def certify(
    make: Factory | str,
    *,
    dialect: str | None = None,
    selection: Selection = Selection(),  # noqa: B008 - frozen
    seed: int | None = None,
    search: Search = Search(),  # noqa: B008 - frozen
    on_result: Callable[[Result, int, int], None] | None = None,
) -> Report:
    """Judges an adapter, given as a factory or by name, and returns the report.

    `on_result` is called with each result, its number and the total. Where preflight fails,
    nothing else runs. Raises HarnessError for what is not the adapter's fault.
    """
    factory = find_factory(make) if isinstance(make, str) else make
    name = make if isinstance(make, str) else name_of(make)
    known_seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    selection = with_own_cassettes(selection, factory)
    plan = selection.plan()
    started, began = datetime.now(UTC), time.perf_counter()
    with ExitStack() as stack:
        subject = stack.enter_context(open_subject(factory, name=name, dialect=dialect))
        live = None
        if selection.live is not None:
            live = stack.enter_context(open_subject(factory, name=name, dialect=dialect, access=selection.live))
        results: list[Result] = []
        session = Session(subject, known_seed, search, selection, live=live)
        for number, result in enumerate(_run_all(session, plan), 1):
            results.append(result)
            if on_result is not None:
                on_result(result, number, len(plan))
        adapter = describe(subject)
    seconds = time.perf_counter() - began
    return make_report(
        adapter, results, rerun=session.rerun, is_filtered=not selection.is_whole, started=started, seconds=seconds
    )


def _run_all(session: Session, plan: Plan) -> Iterator[Result]:
    """All results, up to the end of a stage that stops the run."""
    stopped = False
    for check, scenario in plan:
        if stopped and not check.stage.stops_the_run:
            return
        result = session.run(check, scenario)
        stopped = stopped or (check.stage.stops_the_run and result.verdict == "harness error")
        yield result


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
