"""`art checks` and `art scenarios`: what there is, what applies to a wire format, and one scenario in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated

import msgspec
import typer

from art_compliance.checks import CHECKS, Check
from art_compliance.commands.console import say
from art_compliance.commands.options import ScenariosFrom
from art_compliance.dialects import DIALECTS, find_dialect
from art_compliance.findings import HarnessError
from art_compliance.run.lines import counted
from art_compliance.run.selection import Selection
from art_compliance.scenarios import DEFAULT, Scenario, load_scenarios


def checks_command(
    dialect: Annotated[str | None, typer.Option(help="Show what each check applies to in this wire format.")] = None,
) -> None:
    """List every check with its law, and how many there are."""
    for line in _list_checks() if dialect is None else _list_for(find_dialect(dialect).name):
        say(line)


def _list_checks() -> Iterator[str]:
    for check in CHECKS.values():
        yield f"{check.id}\n    {check.clause}"
    yield f"{len(CHECKS)} checks"


def _list_for(dialect: str) -> Iterator[str]:
    """Each check with the number of scenarios that it judges, unless all of them must be refused in the format."""
    scenarios = [one for one in load_scenarios() if _may_be_sent(one, dialect)]
    for check in CHECKS.values():
        yield f"{check.id}\n    {check.clause}\n    {_extent(check, scenarios)}"
    refused = len(load_scenarios()) - len(scenarios)
    rules = counted(len(DIALECTS[dialect].requests.rules), "rule")
    yield f"{len(CHECKS)} checks; {dialect} has {rules}, and an adapter must refuse {counted(refused, 'scenario')}"


def _may_be_sent(scenario: Scenario, dialect: str) -> bool:
    return not all(outcome.startswith("refused:") for outcome in scenario.outcomes_for(dialect))


def _extent(check: Check, scenarios: list[Scenario]) -> str:
    if check.families:
        return f"on {', '.join(check.families)}"
    if check.once:
        return "once"
    number = sum(check.applies_to(scenario) for scenario in scenarios)
    only = {"replay": ", with cassettes", "live": ", with --live"}.get(check.stage.name, "")
    return f"on {counted(number, 'scenario')}{only}"


def scenarios_command(
    action: Annotated[str | None, typer.Argument(metavar="[show]", help="Show one scenario in full.")] = None,
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="The scenario's id.")] = None,
    scenarios_from: ScenariosFrom = None,
) -> None:
    """List every scenario with its purpose, and how many there are; `show ID` shows one in full."""
    if (action, name) != (None, None) and (action != "show" or name is None):
        raise HarnessError("to show one scenario: art scenarios show ID")
    known = {one.id: one for one in Selection(extra=scenarios_from).known_scenarios()}
    listed = (*load_scenarios(), *(load_scenarios(scenarios_from) if scenarios_from else ()))
    for line in _list_scenarios(listed) if name is None else _describe(_find(known, name)):
        say(line)


def _list_scenarios(scenarios: tuple[Scenario, ...]) -> Iterator[str]:
    for scenario in scenarios:
        yield f"{scenario.group}/{scenario.id}\n    {scenario.purpose}"
    yield f"{len(scenarios)} scenarios"


def _find(known: Mapping[str, Scenario], name: str) -> Scenario:
    wanted = name.rpartition("/")[2]
    if wanted not in known:
        near = get_close_matches(wanted, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "art scenarios lists them all"
        raise HarnessError(f"there is no scenario {name!r}; {hint}")
    return known[wanted]


def _describe(scenario: Scenario) -> Iterator[str]:
    """Purpose, needs, the outcomes by wire format, options, prompt and answer."""
    yield f"{scenario.group}/{scenario.id}"
    yield f"  purpose   {scenario.purpose}"
    yield f"  needs     {', '.join(scenario.needs) or 'nothing'}"
    yield "  outcomes"
    for dialect in (DEFAULT, *(one for one in scenario.outcomes if one != DEFAULT)):
        yield f"    {'any other' if dialect == DEFAULT else dialect:<20}{', '.join(scenario.outcomes[dialect])}"
    fields = {"options": scenario.options, "prompt": scenario.prompt, "answer": scenario.answer}
    for field, value in fields.items():
        if value or field == "prompt":
            yield f"  {field}"
            text = json.dumps(msgspec.to_builtins(value), indent=2)
            yield "\n".join(f"    {line}" for line in text.splitlines())
