"""`art certify --sensitivity`: makes adapters wrong in many ways, and counts which of them a run would find."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from art_compliance.commands.console import say
from art_compliance.findings import HarnessError
from art_compliance.miniatures import MINIATURES
from art_compliance.run.selection import Selection
from art_compliance.run.sensitivity import FaultOutcome, describe_outcomes, measure_sensitivity
from art_compliance.subject.factories import find_factory
from art_compliance.subject.gateways import is_gateway


def print_sensitivity(dialects: Mapping[str, str | None], selection: Selection, seed: int) -> None:
    """Prints which faults a run on these adapters, by name, would find and which not. Raises HarnessError."""
    for name, dialect in dialects.items():
        if is_gateway(name):
            raise HarnessError("--sensitivity makes an adapter wrong in many ways, which it cannot do to a gateway")
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
