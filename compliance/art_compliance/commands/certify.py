"""`art certify`: judges adapters, shows the progress, and writes the report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from functools import partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import typer

from art_compliance.commands.certify_options import KEPT, CertifyOptions
from art_compliance.commands.console import CANNOT, FAILS, INTERRUPTED, say, say_lines, width_of_terminal
from art_compliance.commands.output import NAME, Kept, printing_to
from art_compliance.commands.processes import Send, Task, count_cores, run_all
from art_compliance.commands.progress import Meter, State, showing
from art_compliance.commands.taking import taking
from art_compliance.findings import HarnessError
from art_compliance.generating.profiles import Search
from art_compliance.publishing.files import publish
from art_compliance.run.baseline import Baseline, is_red_after_writing
from art_compliance.run.beforehand import require_made, require_writable
from art_compliance.run.ending import is_interrupted
from art_compliance.run.lines import Line, counted
from art_compliance.run.report import Report
from art_compliance.run.reproducing import remove_repros, write_repros
from art_compliance.run.runner import certify
from art_compliance.run.selection import Selection
from art_compliance.run.settings import Settings, read_settings
from art_compliance.run.summary import describe_verdict, summarize

_BETWEEN: Final = 0.1
"""Seconds between two words of a process about its progress."""


@taking(CertifyOptions)
def certify_command(options: CertifyOptions) -> None:
    """Run every check on every scenario, and write report.json. Exits with 1 if a check fails."""
    if options.quiet and options.verbose:
        raise HarnessError("--quiet and --verbose contradict each other")
    settings = read_settings()
    if options.endpoint is not None:
        from art_compliance.commands.examinations import examine_endpoint  # noqa: PLC0415 - only where it is asked for

        raise typer.Exit(examine_endpoint(options.endpoint, options, settings))
    names = options.names(settings)
    dialects = {name: options.dialect_for(name, settings) for name in names}
    selection = options.selection(settings)
    if options.sensitivity:
        from art_compliance.commands.sensitivity import print_sensitivity  # noqa: PLC0415 - likewise

        print_sensitivity(dialects, selection, options.seed or 0)
    else:
        raise typer.Exit(_certify_all(dialects, selection, options, settings))


def _certify_all(
    dialects: Mapping[str, str | None], selection: Selection, options: CertifyOptions, settings: Settings
) -> int:
    """Certifies the adapters, by their names and dialects, writes the report, and returns the exit code."""
    baseline = options.baseline_options(settings)
    known = baseline.read(selection)
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(KEPT / "hypothesis"))
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "yes")  # trio's imports the whole of pytest
    search = options.search(settings)
    require_writable(options.report)
    remove_repros(options.report)
    if len(dialects) > 1:  # a single one is found wrong at once
        require_made([*dialects], [*dialects.values()])
    order = _order(dialects, selection, options, known, search)
    repros = options.report if len(dialects) == 1 else None
    show = _show_verdict if options.quiet else partial(_show, verbose=options.verbose, repros=repros)
    reports, is_cut = _judge(order, show)
    _end(order)
    path = publish(reports, options.report, is_cut=is_cut)
    write_repros(reports, options.report)
    if not options.quiet:
        say(f"report: {path}")
    if is_cut:
        return INTERRUPTED
    if options.baseline_write:
        say(baseline.write(known, reports))
        return _exit_code(reports, is_red=is_red_after_writing)
    return _exit_code(reports)


class _Order(NamedTuple):
    """Which adapters to certify, how, and in how many processes; `kept` gets what they print."""

    names: list[str]
    run: Callable[..., Report]
    selection: Selection
    kept: Kept | None
    workers: int
    is_quiet: bool


def _order(
    dialects: Mapping[str, str | None],
    selection: Selection,
    options: CertifyOptions,
    known: Baseline | None,
    search: Search,
) -> _Order:
    run = partial(
        _run,
        dialects=dialects,
        selection=selection,
        seed=options.seed,
        search=search,
        baseline=known,
        isolated=not options.in_process,
        seconds=options.time_limit,
    )
    kept = Kept(options.report / NAME) if selection.is_whole and selection.live is None else None
    usual = count_cores() if selection.is_whole else 1  # a part takes less time than a process
    workers = min(options.jobs or usual, len(dialects))
    return _Order([*dialects], run, selection, kept, workers=workers, is_quiet=options.quiet)


def _end(order: _Order) -> None:
    """Ends the file of what adapters printed, and says that there is something in it."""
    if order.kept is None:
        return
    order.kept.end()
    if order.kept.lines and not order.is_quiet:
        say(f"output of the adapter: {counted(order.kept.lines, 'line')}, in {order.kept.path}")


def _judge(order: _Order, show: Callable[[Report], None]) -> tuple[list[Report], bool]:
    """The reports, each shown as soon as it is there, and whether the run was interrupted."""
    reports: list[Report] = []
    certify_all = _certify_at_once if order.workers > 1 else _certify
    try:
        with closing(certify_all(order)) as found:
            for report in found:
                show(report)
                reports.append(report)
                if order.selection.fail_fast and report.failures:
                    break
    except KeyboardInterrupt:
        if not reports:
            raise
        return reports, True
    return reports, False


def _run(name: str, *, dialects: Mapping[str, str | None], **how: Any) -> Report:
    return certify(name, dialect=dialects[name], **how)


def _certify(order: _Order) -> Generator[Report]:
    for name in order.names:
        with showing(is_quiet=order.is_quiet) as show, printing_to(order.kept):
            report = order.run(name, on_result=Meter(order.selection, partial(show, name)))
        yield report
        if is_interrupted(report):
            raise KeyboardInterrupt


def _certify_at_once(order: _Order) -> Generator[Report]:
    """The reports in the order of the names; what they print is kept in that order, too."""
    with TemporaryDirectory() as folder, showing(is_quiet=order.is_quiet) as show:
        printed = {name: Path(folder) / str(number) for number, name in enumerate(order.names)}
        tasks = [
            Task(name, partial(_certify_apart, order.run, order.selection, name, printed[name])) for name in printed
        ]
        with closing(run_all(tasks, order.workers, show)) as reports:
            for report in reports:
                path = printed[report.adapter.name]
                if order.kept is not None and path.exists():
                    order.kept.write(path.read_text(encoding="utf-8"))
                yield report


def _certify_apart(run: Callable[..., Report], selection: Selection, name: str, printed: Path, send: Send) -> Report:
    """In its own process, which tells its progress now and then."""
    kept, last = Kept(printed), 0.0

    def tell_now_and_then(state: State) -> None:
        nonlocal last
        if time.monotonic() - last > _BETWEEN or state.share == 1:
            last = time.monotonic()
            send(state)

    try:
        with printing_to(kept):
            return run(name, on_result=Meter(selection, tell_now_and_then))
    finally:
        kept.end()


def _show(report: Report, *, verbose: bool, repros: Path | None) -> None:
    say_lines(summarize(report, verbose=verbose, repros=repros, width=width_of_terminal()))


def _show_verdict(report: Report) -> None:
    verdict = describe_verdict(report)
    say_lines([Line(f"{report.adapter.name}: {verdict.text}", verdict.style)])


def _exit_code(reports: list[Report], is_red: Callable[[Report], bool] = attrgetter("is_red")) -> int:
    if any(report.harness_errors for report in reports):
        return CANNOT
    return FAILS if any(map(is_red, reports)) else 0
