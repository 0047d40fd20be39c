"""`art certify`: adapters judged, their progress shown, and the report written. `--sensitivity` counts faults."""

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
from art_compliance.run.sensitivity import Seen, describe_sight, look
from art_compliance.run.summary import describe_counts, describe_failures
from art_compliance.subject.factories import find_factory

KEPT: Final = Path(".art")
"""Where failing prompts are kept, in the author's repository."""


def certify_command(
    adapters: Adapters = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Certify every reference adapter.")] = False,
    dialect: DialectOfAdapter = None,
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
    names = find_names(adapters, built_in=built_in)
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
        tell = _teller(progress, name)
        report = certify(name, dialect=dialect, selection=selection, seed=seed, search=search, on_result=tell)
    say_lines(describe_failures(report, verbose=verbose, repros=repros))
    say_lines(describe_counts(report))
    return report


def _look_around(names: list[str], dialect: str | None, selection: Selection, seed: int) -> None:
    for name in names:
        with _progress() as progress:
            task = progress.add_task(name, total=len(MINIATURES), now="")
            tell = partial(_advance, progress, task)
            told = look(find_factory(name), name=name, dialect=dialect, selection=selection, seed=seed, on_seen=tell)
        say(name)
        for line in describe_sight(told):
            say(line)


def _advance(progress: Progress, task: TaskID, seen: Seen) -> None:
    progress.update(task, advance=1, now=seen.miniature)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[now]}"))
    console = Console(emoji=False, highlight=False, file=sys.stderr)  # this one, whatever stands in its place later
    return Progress(*columns, console=console, transient=True)


def _teller(progress: Progress, name: str) -> Callable[[Result, int, int], None]:
    task = progress.add_task(name, total=None, now="")
    failed = 0

    def tell(result: Result, number: int, total: int) -> None:
        nonlocal failed
        failed += result.verdict == "fail"
        now = f"{failed} failed  {result.check}" if failed else result.check
        progress.update(task, completed=number, total=total, now=now)

    return tell


def _exit_code(reports: list[Report]) -> int:
    if any(told.harness_errors for told in reports):
        return CANNOT
    return FAILS if any(told.failures for told in reports) else 0
