"""Runs the checks on an adapter. Without pytest: the plugin and the command are views over this."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from art_compliance.checks import CHECKS, STAGES, Check, NotApplicable, Trial
from art_compliance.checks.trial import is_json
from art_compliance.factories import Factory, find_factory, name_of
from art_compliance.findings import Example, Finding, HarnessError, Verdict
from art_compliance.generated import FAMILIES
from art_compliance.profiles import Search
from art_compliance.report import Adapter, Report, Result, make_report
from art_compliance.rerun import Rerun
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.subjects import Sent, Subject

GREETING_SCENARIO: Final = Scenario(
    id="greeting",
    group="preflight",
    purpose="The simplest prompt there is: one user message.",
    prompt=[{"role": "user", "content": "hello"}],
    outcomes={"default": ("exact",)},
)


class Selection(Struct, frozen=True, kw_only=True):
    """Which checks and scenarios to run; empty means all. `extra` is a folder of scenarios of the author's own."""

    checks: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    extra: Path | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not (self.checks or self.scenarios)

    def chosen(self) -> list[Scenario]:
        """The scenarios. Raises HarnessError as `plan` does."""
        known = load_scenarios() + (load_scenarios(self.extra) if self.extra else ())
        _hold_unique([GREETING_SCENARIO.id, *FAMILIES, *(scenario.id for scenario in known)])
        _hold_names("scenario", self.scenarios, (*(scenario.id for scenario in known), *FAMILIES))
        return [scenario for scenario in known if not self.scenarios or scenario.id in self.scenarios]

    def plan(self) -> list[tuple[Check, Scenario]]:
        """Check and scenario, in order: preflight always, then stage by stage.

        Raises HarnessError for a name that is unknown, and for a scenario file that cannot be read.
        """
        chosen = self.chosen()
        families = [family for family in FAMILIES.values() if not self.scenarios or family.id in self.scenarios]
        _hold_names("check", self.checks, tuple(CHECKS))
        planned: list[tuple[Check, Scenario]] = []
        for check in sorted(CHECKS.values(), key=lambda check: STAGES.index(check.stage)):
            if self.checks and check.id not in self.checks and check.stage != "preflight":
                continue
            trials = [GREETING_SCENARIO] if check.once else families if check.families else chosen
            planned += [(check, scenario) for scenario in trials if check.once or check.applies_to(scenario)]
        return planned


class Session:
    """One adapter under the suite: runs single checks, observing each scenario once."""

    def __init__(
        self,
        subject: Subject,
        seed: int,
        search: Search = Search(),  # noqa: B008 - frozen
        extra: Path | None = None,
    ) -> None:
        self.subject = subject
        self.seed = seed
        self.search = search
        self.rerun = Rerun(
            adapter=subject.name,
            seed=seed,
            dialect=subject.asked_dialect,
            scenarios_from=str(extra) if extra else None,
            profile=search.profile.name,
        )
        self._failed: set[str] = set()
        self._trials: dict[str, Trial] = {}

    def run(self, check: Check, scenario: Scenario) -> Result:
        """One check on one scenario. Never raises: what goes wrong here is a harness error."""
        trial = self._trials.setdefault(scenario.id, Trial(self.subject, scenario, self.seed, self.search))
        began = time.perf_counter()
        findings: tuple[Finding, ...] = ()
        reason: str | None = None
        try:
            findings = tuple(check(trial))
        except NotApplicable as error:
            verdict: Verdict = "not applicable"
            reason = str(error)
        except Exception:  # noqa: BLE001 - a bug of the suite must not be taken for the adapter's
            verdict, reason = "harness error", traceback.format_exc()
        else:
            failed = any(finding.severity == "reject" for finding in findings)
            findings = self._with_example(trial, findings) if failed else findings
            verdict = "fail" if failed else "pass"
            if failed and check.stage == "preflight":
                verdict = "harness error"
        return Result(
            check=check.id,
            scenario=scenario.id,
            purpose=scenario.purpose,
            level="core" if trial.undeclared else check.level(scenario),  # a refusal proves nothing of the level
            verdict=verdict,
            findings=findings,
            reason=reason,
            seconds=round(time.perf_counter() - began, 6),
        )

    def _with_example(self, trial: Trial, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The first failure of a check tells what it was found on; all would make a long report."""
        first, *others = findings
        if first.check in self._failed or any(finding.example for finding in findings):
            return findings
        self._failed.add(first.check)
        seen = trial.observation
        payload = seen.payload if isinstance(seen, Sent) and is_json(seen.payload) else str(seen)
        example = Example(prompt=trial.scenario.prompt, options=trial.scenario.call_options(), payload=payload)
        return (structs.replace(first, example=example), *others)


def certify(
    make: Factory | str,
    *,
    dialect: str | None = None,
    selection: Selection = Selection(),  # noqa: B008 - frozen
    seed: int | None = None,
    search: Search = Search(),  # noqa: B008 - frozen
    on_result: Callable[[Result, int, int], None] | None = None,
) -> Report:
    """Judges an adapter, given by its factory or by name, and reports.

    `on_result` is told each result, its number and how many there will be. Where preflight fails,
    the rest is not run. Raises HarnessError for what is no adapter's fault.
    """
    factory = find_factory(make) if isinstance(make, str) else make
    name = make if isinstance(make, str) else name_of(make)
    known_seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    plan = selection.plan()
    started, began = datetime.now(UTC), time.perf_counter()
    with Subject(factory, name=name, dialect=dialect) as subject:
        results: list[Result] = []
        session = Session(subject, known_seed, search, selection.extra)
        for number, result in enumerate(_run_all(session, plan), 1):
            results.append(result)
            if on_result is not None:
                on_result(result, number, len(plan))
        adapter = describe(subject)
    seconds = time.perf_counter() - began
    return make_report(
        adapter, results, rerun=session.rerun, is_filtered=not selection.is_whole, started=started, seconds=seconds
    )


def _run_all(session: Session, plan: list[tuple[Check, Scenario]]) -> Iterator[Result]:
    """All results; only those of preflight where it fails."""
    stopped = False
    for check, scenario in plan:
        if stopped and check.stage != "preflight":
            return
        result = session.run(check, scenario)
        stopped = stopped or (check.stage == "preflight" and result.verdict == "harness error")
        yield result


def describe(subject: Subject) -> Adapter:
    """What was judged, for the report."""
    return Adapter(
        name=subject.name,
        kind=subject.kind,
        dialect=None if subject.dialect is None else subject.dialect.name,
        capabilities=tuple(sorted(subject.capabilities)),
        losses=tuple(sorted(subject.losses)),
        repairs=tuple(sorted(subject.repairs)),
    )


def _hold_unique(ids: list[str]) -> None:
    doubled = sorted({name for name in ids if ids.count(name) > 1})
    if doubled:
        message = f"the suite has scenarios of these ids already; call yours otherwise: {', '.join(doubled)}"
        raise HarnessError(message)


def _hold_names(what: str, asked: tuple[str, ...], known: tuple[str, ...]) -> None:
    from difflib import get_close_matches  # noqa: PLC0415 - only for the message

    for name in asked:
        if name not in known:
            near = get_close_matches(name, known, n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            message = f"there is no {what} {name!r}{hint}"
            raise HarnessError(message)
