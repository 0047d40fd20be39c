"""Runs the checks on an adapter. It does not know pytest: the plugin and the command call it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from art_compliance.findings import HarnessError, NotMade
from art_compliance.generating.profiles import Search
from art_compliance.run.baseline import Baseline, read_baseline, use_of
from art_compliance.run.ending import MOST_SECONDS, first_failure, interrupted, not_run, out_of_time, why_stopped
from art_compliance.run.judgements import contract_finding
from art_compliance.run.report import NOT_MADE, Adapter, Report, make_report
from art_compliance.run.rerun import Rerun, rerun_of
from art_compliance.run.results import Result
from art_compliance.run.selection import Plan, Selection, with_own_cassettes
from art_compliance.run.session import Session
from art_compliance.subject.deadlines import OutOfTime
from art_compliance.subject.factories import Factory, Named, name_of
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject

"""Seconds that a run may take."""


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

    The adapter runs in its own process if another process can import its factory, unless `isolated` is False.
    `baseline` is the file with the known failures; without it, none is known. `seconds` limits the run, `call_seconds`
    one call. `on_result` is called with each result, its number and the total.

    The run ends early if preflight fails, if the adapter hangs or ends its process `MOST_STOPS` times, after `seconds`,
    and on KeyboardInterrupt: the report then has what was judged until then.
    Raises HarnessError for what is not the adapter's fault.
    """
    factory = Named(make) if isinstance(make, str) else make
    name = make if isinstance(make, str) else name_of(make)
    known_seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    clock = _Clock(datetime.now(UTC), time.perf_counter())
    known = baseline if isinstance(baseline, Baseline | None) else read_baseline(Path(baseline), selection)
    open_adapter = partial(open_subject, factory, name=name, dialect=dialect, isolated=isolated, limit=call_seconds)
    results: list[Result] = []
    with _opening(results) as stack:
        try:
            subject = stack.enter_context(open_adapter(seconds=seconds))
        except NotMade as error:
            return _report_of_none(str(error), rerun_of(name, known_seed, dialect, selection, search), selection, clock)
        selection = with_own_cassettes(selection, subject.factory_name)
        plan = selection.plan()
        live = None if selection.live is None else stack.enter_context(open_adapter(access=selection.live))
        adapter = describe(subject)
        session = Session(subject, known_seed, search, selection, live=live, baseline=known)
        try:
            for result in _run_all(session, plan):
                results.append(result)
                if on_result is not None:
                    on_result(result, len(results), len(plan))
        except KeyboardInterrupt:
            session.stopped = interrupted(len(plan) - len(results))
            with suppress(HarnessError):  # the adapter may be in the middle of a call
                stack.close()
    used = None if known is None else use_of(known.of(name), selection, plan, results)
    ran = {"stopped": session.stopped, "in_process": subject.in_process, "baseline": used}
    return _report(adapter, results, session.rerun, selection, clock, **ran)


class _Clock(NamedTuple):
    """When a run began: the time of day, and that of a clock which nobody sets, in seconds."""

    started: datetime
    began: float


def _report(
    adapter: Adapter, results: list[Result], rerun: Rerun, selection: Selection, clock: _Clock, **ran: Any
) -> Report:
    """The report of a run that ends now; `ran` are further arguments of `make_report`."""
    report = make_report(
        adapter,
        results,
        rerun=rerun,
        is_filtered=not selection.is_whole,
        started=clock.started,
        seconds=time.perf_counter() - clock.began,
        counting=selection.counting,
        **ran,
    )
    return structs.replace(report, shard=selection.shard_of(rerun.adapter))


def _report_of_none(why: str, rerun: Rerun, selection: Selection, clock: _Clock) -> Report:
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
    nobody = Adapter(name=rerun.adapter, kind=NOT_MADE, dialect=None, capabilities=(), losses=(), repairs=())
    return _report(nobody, [failed], rerun, selection, clock, stopped=f"{why}; {not_run(len(rest))}")


@contextmanager
def _opening(results: list[Result]) -> Generator[ExitStack]:
    """What is opened until the block ends. Where a check has failed, a harness error in closing it adds nothing."""
    try:
        with ExitStack() as stack:
            yield stack
    except HarnessError:
        if not any(one.verdict == "fail" for one in results):
            raise


def _run_all(session: Session, plan: Plan) -> Iterator[Result]:
    """All results, up to the end of a stage that stops the run, to the end of the time, or of the adapter.

    With `Selection.fail_fast`, the first failure is the last result.
    """
    bad: Result | None = None
    for number, (check, scenario) in enumerate(plan):
        if bad is not None and (not check.stage.stops_the_run or bad.verdict == "fail"):  # a failure says it all
            return
        session.stopped = why_stopped(session.subject, left=len(plan) - number)
        if session.stopped is not None:
            return
        try:
            result = session.run(check, scenario)
        except OutOfTime:
            session.stopped = out_of_time(len(plan) - number)
            return
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
        speaks=subject.speaks,
    )
