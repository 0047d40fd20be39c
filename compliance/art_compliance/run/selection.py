"""What of the suite is run: which checks, scenarios and cassettes, and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from art_compliance.checks import CHECKS, Check
from art_compliance.findings import HarnessError
from art_compliance.generating.requests import FAMILIES
from art_compliance.resources import data_folder
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.subject.access import Access
from art_compliance.subject.factories import Factory, name_of
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


class Selection(Struct, frozen=True, kw_only=True):
    """Which checks and scenarios to run; empty means all. Scenarios alone: what looks at no scenario is not run.

    `extra` is a folder of scenarios of the author's own; `cassettes` one of recorded calls, a folder a provider
    in it: without it nothing is replayed.
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

    def _asks_for(self, check: Check) -> bool:
        """Who names scenarios alone asks for no check that looks at none of them."""
        if self.checks:
            return check.id in self.checks
        return not (check.once and self.scenarios)

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
            "live": [one for one in chosen if self.scenarios or one.id in live_scenarios()] if self.live else [],
        }
        planned: list[tuple[Check, Scenario]] = []
        for check in CHECKS.values():
            if not check.stage.stops_the_run and not self._asks_for(check):
                continue
            usual = families if check.families else chosen
            trials = [GREETING_SCENARIO] if check.once else of_stage.get(check.stage.name, usual)
            planned += [(check, scenario) for scenario in trials if check.once or check.applies_to(scenario)]
        if any(check.stage.replays_cassettes for check, _ in planned):
            _hold_player()
        return planned


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


def _hold_player() -> None:
    from art_compliance.cassettes.recording import require_version  # noqa: PLC0415 - vcrpy is for those who have cassettes

    require_version()


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
