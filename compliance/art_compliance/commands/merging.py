"""`art merge`: puts the reports of shards together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from art_compliance.commands.console import CANNOT, FAILS, say, say_lines, width_of_terminal
from art_compliance.publishing.files import publish
from art_compliance.run.merging import merge
from art_compliance.run.reading import read_every_report
from art_compliance.run.reproducing import write_repros
from art_compliance.run.summary import summarize


def merge_command(
    reports: Annotated[list[Path], typer.Argument(help="The report.json of each shard, or its folder.")],
    report: Annotated[Path, typer.Option(help="The folder to write the whole report into.")] = Path("art-report"),
) -> None:
    """Put the reports of shards together, as if all had been one run. Exits as art certify does."""
    merged = merge(one for path in reports for one in read_every_report(path))
    repros = report if len(merged) == 1 else None
    for one in merged:
        say_lines(summarize(one, repros=repros, width=width_of_terminal()))
    path = publish(merged, report)
    write_repros(merged, report)
    say(f"report: {path}")
    if any(one.harness_errors for one in merged):
        raise typer.Exit(CANNOT)
    raise typer.Exit(FAILS if any(one.is_red for one in merged) else 0)
