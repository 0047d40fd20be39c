"""`art checks`, `scenarios`, `schema`, `explain` and `version`: what the suite holds, printed."""

from __future__ import annotations

from typing import Annotated

import typer

from art_compliance.checks import CHECKS
from art_compliance.commands.console import say
from art_compliance.findings import HarnessError
from art_compliance.judging.explaining import explain, rule_ids, rules_page
from art_compliance.run.report import suite_version
from art_compliance.scenarios import load_scenarios
from art_compliance.schemas import SCHEMAS, published


def checks_command() -> None:
    """List every check with its law."""
    for check in CHECKS.values():
        say(f"{check.id}\n    {check.clause}")


def scenarios_command() -> None:
    """List every scenario with what it is for."""
    for scenario in load_scenarios():
        say(f"{scenario.group}/{scenario.id}\n    {scenario.purpose}")


def schema_command(what: Annotated[str, typer.Argument(help="prompt or scenario")]) -> None:
    """Print the JSON Schema of the prompt format, or of a scenario file."""
    if what not in SCHEMAS:
        message = f"no schema of {what!r}; there are {', '.join(SCHEMAS)}"
        raise HarnessError(message)
    say(published(what))


def explain_command(
    rule: Annotated[str | None, typer.Argument(help="The rule's id; without it, all ids are listed.")] = None,
    page: Annotated[bool, typer.Option("--page", help="Every rule, as Markdown.")] = False,
) -> None:
    """Tell a provider's rule: what it says, how it is known, and a request that breaks it."""
    for line in [rules_page().rstrip()] if page else explain(rule) if rule else rule_ids():
        say(line)


def version_command() -> None:
    """Print the suite's version."""
    say(suite_version())
