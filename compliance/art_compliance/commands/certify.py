"""`art certify`: judges adapters, shows the progress, and writes the report. `--sensitivity` counts faults instead."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from art_compliance.commands.console import CANNOT, FAILS, say, say_lines
from art_compliance.commands.options import Adapters, DialectOfAdapter, find_access, find_names
from art_compliance.generating.profiles import Search, find_profile
from art_compliance.miniatures import MINIATURES
from art_compliance.run.report import Report, Result, write_reports
from art_compliance.run.reproducing import write_repros
from art_compliance.run.runner import certify
from art_compliance.run.selection import Selection, find_cassettes
from art_compliance.run.sensitivity import FaultOutcome, describe_outcomes, measure_sensitivity
from art_compliance.run.summary import describe_counts, describe_failures
from art_compliance.subject.factories import find_factory

KEPT: Final = Path(".art")
"""The folder for failing prompts, in the author's repository."""


def certify_command(
    adapters: Adapters = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Certify every reference adapter.")] = False,
    dialect: DialectOfAdapter = None,
    check: Annotated[list[str] | None, typer.Option(help="Run only this check (repeatable).")] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Run only this scenario (repeatable).")] = None,
    scenarios_from: Annotated[Path | None, typer.Option(help="Also run the scenarios in this folder.")] = None,
    cassettes: Annotated[Path | None, typer.Option(help="Your recorded calls; ./cassettes if it exists.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Also call the real provider, with a key.")] = False,
    key_from: Annotated[str, typer.Option(help="With --live: the environment variable with the key.")] = "",
    base_url: Annotated[str | None, typer.Option(help="With --live: the provider's URL, if not the usual one.")] = None,
    model: Annotated[str | None, typer.Option(help="With --live: the model, if not the adapter's default.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of all random choices; random if not given.")] = None,
    profile: Annotated[str, typer.Option(help="How long to search: quick, default or thorough.")] = "default",
    report: Annotated[Path, typer.Option(help="The folder to write report.json into.")] = Path("art-report"),
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every failure in full.")] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Only count which faults this run would find.")
    ] = False,
) -> None:
    """Run every check on every scenario, and write report.json. Exits with 1 if a check fails."""
    names = find_names(adapters, built_in=built_in)
    selection = Selection(
        checks=tuple(check or ()),
        scenarios=tuple(scenario or ()),
        extra=scenarios_from,
        cassettes=find_cassettes(cassettes),
        live=find_access(key_from, base_url, model) if live else None,
    )
    if sensitivity:
        _print_sensitivity(names, dialect, selection, seed or 0)
        return
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(KEPT / "hypothesis"))
    search = Search(profile=find_profile(profile), kept=KEPT)
    repros = report if len(names) == 1 else None
    reports = [_certify(name, dialect, selection, seed, search, verbose=verbose, repros=repros) for name in names]
    path = write_reports(reports, report)
    write_repros(reports, report)
    say(f"report: {path}")
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
        show = _progress_of(progress, name)
        report = certify(name, dialect=dialect, selection=selection, seed=seed, search=search, on_result=show)
    say_lines(describe_failures(report, verbose=verbose, repros=repros))
    say_lines(describe_counts(report))
    return report


def _print_sensitivity(names: list[str], dialect: str | None, selection: Selection, seed: int) -> None:
    for name in names:
        with _progress() as progress:
            task = progress.add_task(name, total=len(MINIATURES), now="")
            show = partial(_advance, progress, task)
            outcomes = measure_sensitivity(
                find_factory(name), name=name, dialect=dialect, selection=selection, seed=seed, on_outcome=show
            )
        say(name)
        for line in describe_outcomes(outcomes):
            say(line)


def _advance(progress: Progress, task: TaskID, outcome: FaultOutcome) -> None:
    progress.update(task, advance=1, now=outcome.miniature)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[now]}"))
    console = Console(emoji=False, highlight=False, file=sys.stderr)  # the stream of now: tests replace it later
    return Progress(*columns, console=console, transient=True)


def _progress_of(progress: Progress, name: str) -> Callable[[Result, int, int], None]:
    task = progress.add_task(name, total=None, now="")
    failed = 0

    def show(result: Result, number: int, total: int) -> None:
        nonlocal failed
        failed += result.verdict == "fail"
        now = f"{failed} failed  {result.check}" if failed else result.check
        progress.update(task, completed=number, total=total, now=now)

    return show


def _exit_code(reports: list[Report]) -> int:
    if any(report.harness_errors for report in reports):
        return CANNOT
    return FAILS if any(report.failures for report in reports) else 0
