"""How every command speaks: lines on standard output, complaints on standard error, and the codes that it ends with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Final

import typer
from rich.console import Console

from art_compliance.cassettes import BadCassette
from art_compliance.findings import Finding, HarnessError
from art_compliance.run.summary import Line, Style

FAILS: Final = 1
"""What was judged is not good."""

CANNOT: Final = 2
"""The suite cannot do its work."""

OUT: Final = Console(emoji=False, highlight=False, soft_wrap=True)
ERR: Final = Console(emoji=False, highlight=False, soft_wrap=True, stderr=True)

Command = Callable[..., None]
"""A function whose signature typer reads."""


def say(line: str, *, style: str | None = None) -> None:
    """Prints a line as it is: no markup is read in it."""
    OUT.print(line, markup=False, style=style)


def say_lines(lines: Iterable[Line]) -> None:
    """Prints the lines of a summary in their styles."""
    for line in lines:
        say(line.text, style=_STYLES[line.style])


_STYLES: Final[dict[Style, str | None]] = {"plain": None, "good": "bold green", "bad": "bold red"}


def complain(error: Exception) -> None:
    """Prints what the suite could not do."""
    ERR.print(f"harness: {error}", markup=False, style="bold red")


def ends_in_words(command: Command) -> Command:
    """The command; where the suite cannot do its work, it complains and ends with CANNOT."""

    @wraps(command)
    def told(*args: object, **kwargs: object) -> None:
        try:
            command(*args, **kwargs)
        except (HarnessError, BadCassette) as error:
            complain(error)
            raise typer.Exit(CANNOT) from error

    return told


def describe_findings(findings: Iterable[Finding]) -> Iterable[str]:
    """Each finding in lines: its weight and place, what is wrong, and who says so."""
    some = False
    for finding in findings:
        some = True
        place = finding.path if finding.pointer is None else finding.pointer or "(the whole body)"
        yield f"{finding.severity:<8}{place}"
        yield f"        {finding.message}"
        if finding.provider_text:
            yield f"        the provider: {finding.provider_text}"
        yield f"        {finding.check}" + (f"; {finding.source}" if finding.source else "")
    if not some:
        yield "nothing found"
