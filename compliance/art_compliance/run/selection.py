"""Selects what to run: checks, scenarios and cassettes, and their order."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple, get_args

from msgspec import Struct, structs

from art_compliance.checks import CHECKS, Check
from art_compliance.findings import HarnessError
from art_compliance.generating.requests import FAMILIES
from art_compliance.resources import data_folder
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.run.requirement_sets import Counting, RequirementSet, set_in_force
from art_compliance.run.sharding import Shard, ShardOf, part_of
from art_compliance.run.versions import version_of
from art_compliance.scenarios import Level, Scenario, load_scenarios
from art_compliance.subject.access import Access
from art_sdk import BUILT_IN

GREETING_SCENARIO: Final = Scenario(
    id="greeting",
    group="preflight",
    purpose="The simplest prompt: one user message.",
    prompt=[{"role": "user", "content": "hello"}],
    outcomes={"default": ("exact",)},
)

FOLDER: Final = Path("cassettes")
"""The folder of cassettes in an author's repository, unless another one is named."""


Plan = list[tuple[Check, Scenario]]
"""What is run, in order: each check on each of its scenarios."""


class Trials(NamedTuple):
    """One check and its scenarios."""

    check: Check
    scenarios: tuple[Scenario, ...]


def by_check(plan: Plan) -> list[Trials]:
    """The plan, check by check."""
    return [Trials(check, tuple(one for _, one in pairs)) for check, pairs in groupby(plan, lambda pair: pair[0])]


class Selection(Struct, frozen=True, kw_only=True):
    """Which checks and scenarios to run; empty means all.

    If only scenarios are named, checks that use none are left out, unless the greeting is named: they run on it.
    `skipped` are checks that are not run; of other levels than `levels`, none are. With `fail_fast`, nothing is run
    after the first failure.
    `extra` is a folder with scenarios of the author's own. `cassettes` is a folder of recorded calls with one folder
    per provider; without it, nothing is replayed. `live` gives access to the real provider; without it, no real call
    is made.
    `requirements` is the requirement set that counts, by default that of this version of the suite; with `preview`,
    checks that are newer count, too. `shard` is the part of all this that is run.
    """

    checks: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    fail_fast: bool = False
    extra: Path | None = None
    cassettes: Path | None = None
    live: Access | None = None
    preview: bool = False
    requirements: RequirementSet | None = None
    shard: Shard | None = None

    @property
    def is_whole(self) -> bool:
        """Whether everything is run."""
        return not (self.checks or self.scenarios or self.skipped or self.levels)

    @property
    def counting(self) -> Counting:
        """Which checks count."""
        return Counting(requirements=self.requirements or set_in_force(), is_preview=self.preview)

    def _includes(self, check: Check) -> bool:
        """Whether the check is selected. If only scenarios are named, checks that use none are not."""
        if check.id in self.skipped:
            return False
        if self.checks:
            return check.id in self.checks
        return not (check.once and self.scenarios) or GREETING_SCENARIO.id in self.scenarios

    def known_scenarios(self) -> tuple[Scenario, ...]:
        """Every scenario there is, selected or not. Raises HarnessError for a file that cannot be read."""
        own = load_scenarios(self.extra) if self.extra else ()
        return (GREETING_SCENARIO, *FAMILIES.values(), *load_scenarios(), *own)

    def chosen(self) -> list[Scenario]:
        """The selected scenarios. Raises HarnessError as `plan` does."""
        known = load_scenarios() + (load_scenarios(self.extra) if self.extra else ())
        _require_unique([GREETING_SCENARIO.id, *FAMILIES, *(scenario.id for scenario in known)])
        ids = (GREETING_SCENARIO.id, *(scenario.id for scenario in known), *FAMILIES)
        _require_known("scenario", self.scenarios, ids)
        return [scenario for scenario in known if not self.scenarios or scenario.id in self.scenarios]

    def plan(self) -> Plan:
        """The checks and scenarios to run, in order: preflight always, then stage by stage.

        Raises HarnessError for an unknown name, and for a scenario file that cannot be read.
        """
        chosen = self.chosen()
        families = [family for family in FAMILIES.values() if not self.scenarios or family.id in self.scenarios]
        _require_known("check", (*self.checks, *self.skipped), tuple(CHECKS))
        _require_known("level", self.levels, get_args(Level))
        names = {path.stem for path in self.cassettes.glob("*/*.yaml")} if self.cassettes else set[str]()
        of_stage = {
            "replay": [scenario for scenario in chosen if scenario.id in names],
            "live": [one for one in chosen if self.scenarios or one.id in live_scenarios()] if self.live else [],
        }
        planned: Plan = []
        for check in CHECKS.values():
            if not check.stage.stops_the_run and not self._includes(check):
                continue
            usual = families if check.families else chosen
            trials = [GREETING_SCENARIO] if check.once else of_stage.get(check.stage.name, usual)
            planned += [(check, scenario) for scenario in trials if check.once or check.applies_to(scenario)]
        planned = [trial for trial in planned if self._has_level(*trial)] if self.levels else planned
        return planned if self.shard is None else part_of(planned, self.shard)

    def _has_level(self, check: Check, scenario: Scenario) -> bool:
        return check.stage.stops_the_run or check.level(scenario) in self.levels

    def whole_plan(self) -> Plan:
        """The plan of all shards together."""
        return structs.replace(self, shard=None).plan()

    def shard_of(self, adapter: str) -> ShardOf | None:
        """What the report of a shard says of it."""
        if self.shard is None:
            return None
        checks = dict.fromkeys(check.id for check, _ in self.whole_plan())
        return ShardOf(
            number=self.shard.number, count=self.shard.count, checks=tuple(checks), code=version_of(adapter).digest
        )


def with_own_cassettes(selection: Selection, factory_name: str) -> Selection:
    """The selection with the suite's own cassettes, if the factory is a reference adapter; derived ones have none.

    Cassettes that were named explicitly stay. Those in the usual folder are replaced if there are none of the adapter.
    """
    provider = next((name for name, place in BUILT_IN.items() if place == factory_name), None)
    is_found = selection.cassettes == FOLDER and provider is not None and not (FOLDER / provider).is_dir()
    if provider is None or not (selection.cassettes is None or is_found):
        return selection
    return structs.replace(selection, cassettes=data_folder("cassettes"))


def find_cassettes(requested: Path | None) -> Path | None:
    """The requested folder of cassettes, or the usual one if it exists. Raises HarnessError."""
    if requested is not None and not requested.is_dir():
        raise HarnessError(f"there is no cassette folder {requested}")
    return requested if requested is not None else FOLDER if FOLDER.is_dir() else None


def _require_unique(ids: list[str]) -> None:
    doubled = sorted({name for name in ids if ids.count(name) > 1})
    if doubled:
        raise HarnessError(f"the suite already has scenarios with these ids; rename yours: {', '.join(doubled)}")


def _require_known(what: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    from difflib import get_close_matches  # noqa: PLC0415 - only for the message

    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=3)
            lists = f"levels: {', '.join(known)}" if what == "level" else f"art {what}s lists them all"
            hint = f"did you mean {' or '.join(near)}?" if near else lists
            raise HarnessError(f"there is no {what} {name!r}; {hint}")
