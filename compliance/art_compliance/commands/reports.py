"""`art diff`: compares two reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from art_compliance.commands.console import FAILS, say_lines
from art_compliance.run.differences import describe_differences, is_worse
from art_compliance.run.reading import read_reports


def diff_command(
    old: Annotated[Path, typer.Argument(help="The earlier report.json, or its folder.")],
    new: Annotated[Path, typer.Argument(help="The later one.")],
) -> None:
    """Show what changed between two reports. Exits with 1 if something fails that did not fail before."""
    before, now = read_reports(old), read_reports(new)
    say_lines(describe_differences(before, now))
    raise typer.Exit(FAILS if is_worse(before, now) else 0)
