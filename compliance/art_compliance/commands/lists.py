"""`art requirements`, `schema`, `explain` and `version`: print what the suite contains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from art_compliance.auditing.schema import audit_schema
from art_compliance.checks import CHECKS, Check
from art_compliance.commands.console import say
from art_compliance.findings import CLASSES, HarnessError
from art_compliance.judging.explaining import explain, rule_ids, rules_page
from art_compliance.publishing.report_schema import report_schema
from art_compliance.resources import folder_to_write
from art_compliance.run.counts import DEMANDS
from art_compliance.run.identity import suite_version
from art_compliance.run.requirement_sets import FOLDER, make_set, minor_version, set_before, set_in_force, write_set
from art_compliance.schemas import SCHEMAS, published


def requirements_command(
    write: Annotated[
        bool, typer.Option("--write", help="Write the set of a version that is not released yet.")
    ] = False,
) -> None:
    """Show which checks count: the requirement set in force, and the checks that are newer."""
    if write:
        version = minor_version(suite_version())
        made = make_set(version, set_before(version), CHECKS, DEMANDS)
        say(f"written: {write_set(made, folder_to_write('fixtures') / FOLDER)}")
        return
    found = set_in_force()
    newer = [check for check in CHECKS if not found.counts(check)]
    state = "released" if found.released else "not released yet"
    say(f"requirement set {found.version}, {state}: {len(found.counted)} checks count, {len(newer)} are provisional")
    for check in newer:
        say(f"    {check}")


def schema_command(
    what: Annotated[str, typer.Argument(help="prompt, options, scenario, agent, contributors, bridge, report, audit")],
) -> None:
    """Print the JSON Schema of the prompt format, of a call's options, of scenario files, of report.json and others."""
    schemas = {**SCHEMAS, "report": report_schema, "audit": audit_schema}
    if what not in schemas:
        raise HarnessError(f"there is no schema {what!r}; known: {', '.join(schemas)}")
    say(published(what, schemas))


def explain_command(
    rule: Annotated[
        str | None, typer.Argument(help="The id of a rule or a check. Lists the ids of all rules if not given.")
    ] = None,
    page: Annotated[bool, typer.Option("--page", help="Print every rule as Markdown.")] = False,
) -> None:
    """Explain a provider's rule: its text, its source, and a request that breaks it. For a check: its law."""
    for line in [rules_page().rstrip()] if page else _explain(rule) if rule else rule_ids():
        say(line)


def _explain(name: str) -> Iterable[str]:
    """A rule, or a check: findings name both."""
    return _describe(CHECKS[name]) if name in CHECKS else explain(name)


def _describe(check: Check) -> Iterator[str]:
    yield f"{check.id}  (check)"
    yield f"  law         {check.clause}"
    yield f"  class       {CLASSES[check.finding_class]}"
    yield f"  run it      art certify ADAPTER --check {check.id}"


def version_command() -> None:
    """Print the suite's version."""
    say(suite_version())
