"""The subcommands of `art`: thin views over the runner."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from art_compliance.cassette_commands import (
    corpus_command,
    doctor_command,
    find_access,
    record_command,
    replay_command,
)
from art_compliance.checks import CHECKS
from art_compliance.explaining import explain, rule_ids, rules_page
from art_compliance.factories import find_factory
from art_compliance.findings import HarnessError
from art_compliance.judge_commands import exam_command, judge_command, wire_app
from art_compliance.miniatures import MINIATURES
from art_compliance.profiles import Search, find_profile
from art_compliance.report import Report, Result, suite_version, write_reports
from art_compliance.reproducing import write_repros
from art_compliance.runner import Selection, certify, find_cassettes
from art_compliance.scenarios import load_scenarios
from art_compliance.schemas import SCHEMAS, published
from art_compliance.sensitivity import Seen, describe_sight, look
from art_compliance.serve_commands import serve_command
from art_compliance.summary import describe_counts, describe_failures
from art_sdk import BUILT_IN

app: Final = typer.Typer(no_args_is_help=True, add_completion=False, help="Certifies LLM provider adapters, offline.")
_out: Final = Console(emoji=False, highlight=False, soft_wrap=True)
_err: Final = Console(emoji=False, highlight=False, soft_wrap=True, stderr=True)

app.command("record")(record_command)
app.command("replay")(replay_command)
app.command("doctor")(doctor_command)
app.command("corpus")(corpus_command)
app.command("judge")(judge_command)
app.command("serve")(serve_command)
app.command("exam")(exam_command)
app.add_typer(wire_app, name="wire")

KEPT: Final = Path(".art")
"""Where failing prompts are kept, in the author's repository."""

ADAPTER_FAILS: Final = 1
HARNESS_FAILS: Final = 2


@app.command("certify")
def certify_command(
    adapters: Annotated[list[str] | None, typer.Argument(help="module:Class, or an installed adapter's name.")] = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Certify every reference adapter.")] = False,
    dialect: Annotated[str | None, typer.Option(help="The wire format, where the adapter does not say it.")] = None,
    check: Annotated[list[str] | None, typer.Option(help="Only this check (may be repeated).")] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario (may be repeated).")] = None,
    scenarios_from: Annotated[Path | None, typer.Option(help="A folder of scenarios of your own, run as well.")] = None,
    cassettes: Annotated[Path | None, typer.Option(help="Your recorded calls; ./cassettes where it is there.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the real provider, too, with a key.")] = False,
    key_from: Annotated[str, typer.Option(help="With --live: the environment variable with the key.")] = "",
    base_url: Annotated[str | None, typer.Option(help="With --live: the provider's URL, if not the usual.")] = None,
    model: Annotated[str | None, typer.Option(help="With --live: the model, if not the adapter's own.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the canaries; random when not given.")] = None,
    profile: Annotated[str, typer.Option(help="How hard to search: quick, default or thorough.")] = "default",
    report: Annotated[Path, typer.Option(help="The folder for report.json.")] = Path("art-report"),
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell every failure whole.")] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Only count the faults that would be seen.")
    ] = False,
) -> None:
    """Judge adapters by every check and scenario, and write report.json."""
    names = [*(adapters or ()), *(BUILT_IN if built_in else ())]
    if not names:
        _stop("name an adapter (module:Class, or one of " + ", ".join(BUILT_IN) + "), or say --built-in")
    sys.path.insert(0, "")  # a console script does not see the working directory
    try:
        selection = Selection(
            checks=tuple(check or ()),
            scenarios=tuple(scenario or ()),
            extra=scenarios_from,
            cassettes=find_cassettes(cassettes),
            live=find_access(key_from, base_url, model) if live else None,
        )
        if sensitivity:
            _look_around(names, dialect, selection, seed or 0)
            return
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(KEPT / "hypothesis"))
        search = Search(profile=find_profile(profile), kept=KEPT)
        repros = report if len(names) == 1 else None
        reports = [_certify(name, dialect, selection, seed, search, verbose=verbose, repros=repros) for name in names]
        path = write_reports(reports, report)
        write_repros(reports, report)
    except HarnessError as error:
        _stop(str(error))
    _out.print(f"report: {path}", markup=False)
    raise typer.Exit(_exit_code(reports))


def _certify(
    name: str,
    dialect: str | None,
    selection: Selection,
    seed: int | None,
    search: Search,
    *,
    verbose: bool,
    repros: Path | None,
) -> Report:
    with _progress() as progress:
        tell = _teller(progress, name)
        told = certify(name, dialect=dialect, selection=selection, seed=seed, search=search, on_result=tell)
    for line in (*describe_failures(told, verbose=verbose, repros=repros), *describe_counts(told)):
        _out.print(line, markup=False, style=_style(line))
    return told


def _look_around(names: list[str], dialect: str | None, selection: Selection, seed: int) -> None:
    for name in names:
        with _progress() as progress:
            task = progress.add_task(name, total=len(MINIATURES), now="")
            tell = partial(_advance, progress, task)
            told = look(find_factory(name), name=name, dialect=dialect, selection=selection, seed=seed, on_seen=tell)
        _out.print(name, markup=False)
        for line in describe_sight(told):
            _out.print(line, markup=False)


def _advance(progress: Progress, task: TaskID, seen: Seen) -> None:
    progress.update(task, advance=1, now=seen.miniature)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[now]}"))
    return Progress(*columns, console=_err, transient=True)


def _teller(progress: Progress, name: str) -> Callable[[Result, int, int], None]:
    task = progress.add_task(name, total=None, now="")
    failed = 0

    def tell(result: Result, number: int, total: int) -> None:
        nonlocal failed
        failed += result.verdict == "fail"
        now = f"{failed} failed  {result.check}" if failed else result.check
        progress.update(task, completed=number, total=total, now=now)

    return tell


def _style(line: str) -> str | None:
    if line.startswith(("FAIL", "HARNESS")) or "NOT certified" in line or "FAIL " in line:
        return "bold red"
    return "bold green" if line.startswith("  certified") else None


def _exit_code(reports: list[Report]) -> int:
    if any(told.harness_errors for told in reports):
        return HARNESS_FAILS
    return ADAPTER_FAILS if any(told.failures for told in reports) else 0


@app.command("checks")
def checks_command() -> None:
    """List every check with its law."""
    for check in CHECKS.values():
        _out.print(f"{check.id}\n    {check.clause}", markup=False)


@app.command("scenarios")
def scenarios_command() -> None:
    """List every scenario with what it is for."""
    try:
        for scenario in load_scenarios():
            _out.print(f"{scenario.group}/{scenario.id}\n    {scenario.purpose}", markup=False)
    except HarnessError as error:
        _stop(str(error))


@app.command("schema")
def schema_command(what: Annotated[str, typer.Argument(help="prompt or scenario")]) -> None:
    """Print the JSON Schema of the prompt format, or of a scenario file."""
    if what not in SCHEMAS:
        _stop(f"no schema of {what!r}; there are {', '.join(SCHEMAS)}")
    _out.print(published(what), markup=False)


@app.command("explain")
def explain_command(
    rule: Annotated[str | None, typer.Argument(help="The rule's id; without it, all ids are listed.")] = None,
    page: Annotated[bool, typer.Option("--page", help="Every rule, as Markdown.")] = False,
) -> None:
    """Tell a provider's rule: what it says, how it is known, and a request that breaks it."""
    try:
        lines = [rules_page().rstrip()] if page else list(explain(rule)) if rule else rule_ids()
    except HarnessError as error:
        _stop(str(error))
    for line in lines:
        _out.print(line, markup=False)


@app.command("version")
def version_command() -> None:
    """Print the suite's version."""
    _out.print(suite_version(), markup=False)


def _stop(message: str) -> NoReturn:
    _err.print(f"harness: {message}", markup=False, style="bold red")
    raise typer.Exit(HARNESS_FAILS)
