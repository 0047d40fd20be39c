"""`art audit`: judges recorded traffic of any size."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final

import typer

from art_compliance.auditing.cluster import on_cluster
from art_compliance.auditing.finding import find_sources
from art_compliance.auditing.keeping import Keeper, Kept
from art_compliance.auditing.page.rendering import write_page
from art_compliance.auditing.plan import Plan, difference, part_bytes_for
from art_compliance.auditing.prices import load_prices
from art_compliance.auditing.processes import in_processes
from art_compliance.auditing.report import AuditReport, report_of, write_report
from art_compliance.auditing.running import Audit, Engine, read_here
from art_compliance.auditing.settings import Settings
from art_compliance.auditing.summary import summarize_audit
from art_compliance.commands.audit_progress import showing_audit
from art_compliance.commands.console import CANNOT, FAILS, INTERRUPTED, complain, say, say_lines
from art_compliance.commands.judges import known_dialect
from art_compliance.commands.processes import count_cores
from art_compliance.findings import HarnessError
from art_compliance.run.identity import suite_version
from art_compliance.traffic import Given


def audit_command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders and URLs: JSONL, HAR, cassettes, spans, Parquet."),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the report.")] = Path("art-audit"),
    fail_over: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="Exit with 1 if a larger share of requests is rejected, such as 0.1% or 0.001."
        ),
    ] = None,
    dialect: Annotated[str, typer.Option(help="The wire format of requests without a URL.")] = "",
    model: Annotated[str | None, typer.Option(help="The model of all requests.")] = None,
    url: Annotated[str | None, typer.Option(help="The URL of requests without one.")] = None,
    api_version: Annotated[str | None, typer.Option(help="The API's version, as in anthropic-version.")] = None,
    show_text: Annotated[
        bool, typer.Option("--show-text", help="Show the text that findings quote from requests.")
    ] = False,
    prices: Annotated[
        Path | None, typer.Option(help="A file with prices per million tokens by model, TOML or JSON, to report costs.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many processes to use; one per core if not given.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Read on a Dask cluster: tcp://host:8786 (extra `cluster`).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Judge recorded traffic: what would be rejected, by rule, model, day and client.

    A run that was stopped goes on where it was if the command is given again. Exits with 1 if more than --fail-over
    would be rejected, with 2 if there was nothing to judge, or a file could not be read to its end.
    """
    most = None if fail_over is None else share_of(fail_over)
    given = Given(dialect=known_dialect(dialect) if dialect else None, url=url, model=model, version=api_version)
    sources = tuple(find_sources(paths, outside=out))
    workers = jobs or count_cores()
    known_prices = None if prices is None else load_prices(prices)
    settings = Settings(given=given, show_text=show_text, prices=known_prices)
    keeper = Keeper(out, suite_version())
    keeper.prepare()
    size = sum(source.size for source in sources)
    audit = _audit(Plan(settings, sources, part_bytes_for(size, workers)), keeper.load())
    code = _run(audit, keeper, _engine(audit, workers, scheduler), is_quiet=quiet)
    report = report_of(audit, suite_version())
    path = write_report(report, out)
    write_page(report, out)
    say_lines(summarize_audit(report))
    say(str(path))
    raise typer.Exit(code or _exit_code(report, most, is_damaged=audit.is_damaged))


def _engine(audit: Audit, workers: int, scheduler: str | None) -> Engine:
    if scheduler is not None:
        return on_cluster(scheduler)
    is_small = workers == 1 or len(audit.left) < 2 or audit.plan.size < _SMALL
    return read_here if is_small else in_processes(workers)


def _audit(plan: Plan, kept: Kept | str | None) -> Audit:
    """The audit, which goes on from what was kept if that is of the same files and options."""
    if kept is None:
        return Audit(plan)
    why = kept if isinstance(kept, str) else difference(kept.plan, plan)
    if isinstance(kept, str) or why:
        say(f"not resuming the previous run: {why}")
        return Audit(plan)
    audit = Audit(kept.plan, kept)
    say(f"resuming at {audit.bytes_read / max(plan.size, 1):.0%}")
    return audit


def _run(audit: Audit, keeper: Keeper, engine: Engine, *, is_quiet: bool) -> int:
    """Reads what is left. The exit code of a run that was stopped, else 0; what was counted is kept."""
    try:
        with showing_audit(audit, is_quiet=is_quiet) as show:
            audit.run(engine, keeper, show)
    except KeyboardInterrupt:
        return INTERRUPTED
    except HarnessError as error:
        complain(error)
        return CANNOT
    if audit.is_whole:
        keeper.remove()
    else:
        keeper.save(audit.kept())
    return 0


_SMALL: Final = 4 * 1024 * 1024
"""Bytes below which processes take longer to start than one takes to read them."""


def _exit_code(report: AuditReport, most: Fraction | None, *, is_damaged: bool) -> int:
    if most is not None and report.total.rejected > most * report.total.requests:
        return FAILS
    return 0 if report.is_whole and not is_damaged and report.total.requests else CANNOT


def share_of(text: str) -> Fraction:
    """A share between 0 and 1: `0.1%` or `0.001`, exactly. Raises HarnessError."""
    found = _SHARE.fullmatch(text.strip())
    share = None if found is None else Fraction(found[1]) / (100 if found[2] else 1)
    if share is None or share > 1:
        raise HarnessError(f"--fail-over {text}: not a share; give a percentage (0.1%), or a number up to 1 (0.001)")
    return share


_SHARE: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)")
