"""Runs the checks on an adapter. Without pytest: the plugin and the command are views over this."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from art_compliance.cassettes import Cassette
from art_compliance.cassettes.matching import Tape
from art_compliance.checks import CHECKS, STAGES, Check, NotApplicable, Trial
from art_compliance.checks.trial import is_json
from art_compliance.dialects import Dialect
from art_compliance.factories import Factory, find_factory, name_of
from art_compliance.findings import Example, Finding, HarnessError, Verdict
from art_compliance.generated import FAMILIES
from art_compliance.profiles import Search
from art_compliance.report import Adapter, Report, Result, make_report
from art_compliance.rerun import Rerun
from art_compliance.resources import data_folder
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.subjects import TEST_KEY, Access, Sent, Subject
from art_sdk import BUILT_IN

GREETING_SCENARIO: Final = Scenario(
    id="greeting",
    group="preflight",
    purpose="The simplest prompt there is: one user message.",
    prompt=[{"role": "user", "content": "hello"}],
    outcomes={"default": ("exact",)},
)


FOLDER: Final = Path("cassettes")
"""Where cassettes are kept in an author's repository, unless another folder is named."""


CHEAP: Final = (
    "one-question",
    "short-exchange",
    "multi-turn-history",
    "two-leading-systems",
    "declared-tools",
    "choice-required",
    "choice-by-name",
    "one-call-and-result",
    "parallel-calls",
    "several-rounds",
    "text-beside-call",
    "role-tool",
    "same-tool-twice",
    "results-reversed",
    "plain-text",
    "failed-result",
    "unicode-result",
    "sampling",
    "one-stop",
    "response-schema",
    "answer-text",
    "answer-text-with-blanks",
    "answer-text-in-many-scripts",
    "answer-one-call",
    "answer-parallel-calls",
    "answer-text-beside-calls",
    "answer-call-with-rich-arguments",
    "answer-in-the-second-round",
    "answer-call-in-the-second-round",
    "answer-cut-by-length",
    "answer-usage-with-cache",
    "streamed",
    "streamed-call",
    "streamed-parallel-calls",
    "streamed-second-round",
)
"""What a real provider is asked where no scenario is named: each is short, and asks for something of its own."""


class Selection(Struct, frozen=True, kw_only=True):
    """Which checks and scenarios to run; empty means all. `extra` is a folder of scenarios of the author's own.

    `cassettes` is a folder of recorded calls, one folder a provider in it; without it nothing is replayed.
    `live` gives access to the real provider; without it that one is not asked.
    """

    checks: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    extra: Path | None = None
    cassettes: Path | None = None
    live: Access | None = None

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

        Raises HarnessError for a name that is unknown, for a scenario file that cannot be read, and for a vcrpy that
        cannot play what is to be replayed.
        """
        chosen = self.chosen()
        families = [family for family in FAMILIES.values() if not self.scenarios or family.id in self.scenarios]
        _hold_names("check", self.checks, tuple(CHECKS))
        names = {path.stem for path in self.cassettes.glob("*/*.yaml")} if self.cassettes else set[str]()
        of_stage = {
            "replay": [scenario for scenario in chosen if scenario.id in names],
            "live": [one for one in chosen if self.scenarios or one.id in CHEAP] if self.live else [],
        }
        planned: list[tuple[Check, Scenario]] = []
        for check in sorted(CHECKS.values(), key=lambda check: STAGES.index(check.stage)):
            if self.checks and check.id not in self.checks and check.stage != "preflight":
                continue
            usual = families if check.families else chosen
            trials = [GREETING_SCENARIO] if check.once else of_stage.get(check.stage, usual)
            planned += [(check, scenario) for scenario in trials if check.once or check.applies_to(scenario)]
        if any(check.stage == "replay" for check, _ in planned):
            _hold_player()
        return planned


class Session:
    """One adapter under the suite: runs single checks, observing each scenario once."""

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
            dialect=subject.asked_dialect,
            scenarios_from=str(selection.extra) if selection.extra else None,
            cassettes=None if selection.cassettes in usual else str(selection.cassettes),
            profile=search.profile.name,
        )
        self._failed: set[str] = set()
        self._cassettes = None if selection.cassettes is None else selection.cassettes / subject.provider
        self._trials: dict[str, Trial] = {}

    def run(self, check: Check, scenario: Scenario) -> Result:
        """One check on one scenario. Never raises: what goes wrong here is a harness error."""
        trial = self._trial(scenario)
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
        is_replay, is_live = check.stage == "replay", check.stage == "live"
        level = check.level(scenario)
        return Result(
            check=check.id,
            scenario=scenario.id,
            purpose=scenario.purpose,
            level="core"
            if trial.undeclared and not (is_replay or is_live)
            else level,  # a refusal proves nothing of the level
            verdict=verdict,
            findings=findings,
            reason=reason,
            source=trial.source if is_replay else None,
            cassette=f"{self.subject.provider}/{scenario.id}.yaml" if is_replay else None,
            judged=trial.judged.get(check.id),
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

    def _trial(self, scenario: Scenario) -> Trial:
        if scenario.id not in self._trials:
            kept = None if self._cassettes is None else self._cassettes / f"{scenario.id}.yaml"
            self._trials[scenario.id] = Trial(
                self.subject, scenario, self.seed, self.search, cassette=kept, player=_play, live=self._live
            )
        return self._trials[scenario.id]


def _hold_player() -> None:
    from art_compliance.cassettes.recording import hold_version  # noqa: PLC0415 - vcrpy is for those who have cassettes

    hold_version()


def _play(cassette: Cassette, dialect: Dialect) -> AbstractContextManager[Tape]:
    from art_compliance.cassettes.recording import playing  # noqa: PLC0415 - as above

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
    """Judges an adapter, given by its factory or by name, and reports.

    `on_result` is told each result, its number and how many there will be. Where preflight fails,
    the rest is not run. Raises HarnessError for what is no adapter's fault.
    """
    factory = find_factory(make) if isinstance(make, str) else make
    name = make if isinstance(make, str) else name_of(make)
    known_seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    selection = with_own_cassettes(selection, factory)
    plan = selection.plan()
    started, began = datetime.now(UTC), time.perf_counter()
    with ExitStack() as stack:
        subject = stack.enter_context(Subject(factory, name=name, dialect=dialect))
        live = None
        if selection.live is not None:
            live = stack.enter_context(Subject(factory, name=name, dialect=dialect, access=selection.live))
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


def with_own_cassettes(selection: Selection, make: Factory) -> Selection:
    """The reference adapters' cassettes come with the suite; whoever derives from them has cassettes of their own.

    What was found without being named gives way where it has none of them.
    """
    provider = next((name for name, place in BUILT_IN.items() if place == name_of(make)), None)
    is_found = selection.cassettes == FOLDER and provider is not None and not (FOLDER / provider).is_dir()
    if provider is None or not (selection.cassettes is None or is_found):
        return selection
    return structs.replace(selection, cassettes=data_folder("cassettes"))


def find_cassettes(asked: Path | None) -> Path | None:
    """The folder of cassettes that was asked for, or the usual one where it is there. Raises HarnessError."""
    if asked is not None and not asked.is_dir():
        message = f"there is no folder of cassettes {asked}"
        raise HarnessError(message)
    return asked if asked is not None else FOLDER if FOLDER.is_dir() else None


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
