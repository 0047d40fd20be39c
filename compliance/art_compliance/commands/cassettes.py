"""`art record`, `replay`, `doctor` and `corpus`: cassettes made, played, looked after; and those of others."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from art_compliance.cassettes import BadCassette, Source, corpus, doctor
from art_compliance.checks import CHECKS
from art_compliance.commands.console import CANNOT, FAILS, complain, say, say_lines
from art_compliance.commands.options import Adapters, DialectOfAdapter, ScenariosFrom, find_access, find_names
from art_compliance.findings import HarnessError
from art_compliance.run.recorder import Order, Recorded, choose, record
from art_compliance.run.report import Report
from art_compliance.run.runner import certify
from art_compliance.run.selection import FOLDER, Selection, find_cassettes
from art_compliance.run.summary import summarize
from art_compliance.scenarios import load_scenarios
from art_compliance.subject.access import Access


def record_command(
    adapters: Adapters = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Record every reference adapter.")] = False,
    scenarios: Annotated[
        list[str] | None, typer.Option(help="Scenarios by id, with commas between; a short standard list without it.")
    ] = None,
    scenarios_from: ScenariosFrom = None,
    into: Annotated[Path, typer.Option(help="The folder of cassettes, in your repository.")] = FOLDER,
    key_from: Annotated[str, typer.Option(help="The environment variable that holds the provider's key.")] = "",
    base_url: Annotated[str | None, typer.Option(help="The provider's URL, where it is not the adapter's own.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, where it is not the adapter's own choice.")] = None,
    dialect: DialectOfAdapter = None,
    local_engine: Annotated[bool, typer.Option("--local-engine", help="An engine at --base-url answers.")] = False,
    engine: Annotated[str | None, typer.Option(help="The local engine's name and version.")] = None,
    from_strict_provider: Annotated[
        bool, typer.Option("--from-strict-provider", help="The suite's own provider answers; proves nothing of others.")
    ] = False,
) -> None:
    """Call an adapter with scenarios and keep what went over the wire: <into>/<provider>/<scenario>.yaml."""
    names = find_names(adapters, built_in=built_in)
    source = _source(local_engine=local_engine, strict=from_strict_provider)
    access = None if from_strict_provider else _access(key_from, base_url, model, source)
    if local_engine and not engine:
        message = 'say with --engine which engine answers, and its version: --engine "llama-server 1.2"'
        raise HarnessError(message)
    chosen = choose(_split(scenarios), scenarios_from)
    order = Order(scenarios=chosen, into=into, source=source, access=access, engine=engine)
    missing = [name for name in names if _tell(name, record(name, order, dialect=dialect))]
    raise typer.Exit(FAILS if missing else 0)


def replay_command(
    adapters: Adapters = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Replay every reference adapter.")] = False,
    scenarios: Annotated[
        list[str] | None, typer.Option(help="Scenarios by id, with commas between; all that are recorded without it.")
    ] = None,
    scenarios_from: ScenariosFrom = None,
    cassettes: Annotated[Path | None, typer.Option(help="Your recorded calls; ./cassettes where it is there.")] = None,
    dialect: DialectOfAdapter = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell every failure whole.")] = False,
) -> None:
    """Make recorded calls again, answered from their cassettes: no key, no network. 1: something is not as it was."""
    names = find_names(adapters, built_in=built_in)
    selection = Selection(
        checks=tuple(name for name, check in CHECKS.items() if check.stage.replays_cassettes),
        scenarios=_split(scenarios),
        extra=scenarios_from,
        cassettes=find_cassettes(cassettes),
    )
    failed = [name for name in names if _replay(name, selection, dialect, verbose=verbose)]
    raise typer.Exit(FAILS if failed else 0)


def _replay(name: str, selection: Selection, dialect: str | None, *, verbose: bool) -> bool:
    """Prints what became of the adapter's calls; whether one failed. Raises HarnessError where none was played."""
    report = certify(name, dialect=dialect, selection=selection)
    if not (_has_played(report) or report.harness_errors):
        message = f"{name}: no cassette of its provider is kept for these scenarios; art record makes them"
        raise HarnessError(message)
    say_lines(summarize(report, verbose=verbose))
    if report.harness_errors:
        raise typer.Exit(CANNOT)
    return bool(report.failures)


def _has_played(report: Report) -> bool:
    return any(result.source or result.verdict == "fail" for result in report.results)


def doctor_command(
    folder: Annotated[Path, typer.Argument(help="The folder of cassettes.")] = FOLDER,
    days: Annotated[int, typer.Option(help="How old a real provider's answer may be.")] = doctor.OLD,
    report: Annotated[Path, typer.Option(help="The folder with the last run's report.json.")] = Path("art-report"),
    scenarios_from: ScenariosFrom = None,
) -> None:
    """Say what is wrong with cassettes, a line each with the file and what to do. 0: nothing; 1: something."""
    known = (*load_scenarios(), *(load_scenarios(scenarios_from) if scenarios_from else ()))
    held = doctor.practice(known, days=days, replayed=_replayed(report / "report.json"))
    told = list(doctor.examine(folder, held))
    for complaint in told:
        say(str(complaint))
    if not told:
        say(f"{folder}: nothing found")
    raise typer.Exit(FAILS if told else 0)


def _replayed(path: Path) -> frozenset[str] | None:
    """The cassettes that the reported runs replayed, as `provider/file`; None where no whole run was reported."""
    if not path.is_file():
        return None
    try:
        reports = json.loads(path.read_text(encoding="utf-8"))["reports"]
        whole = [one for one in reports if not one["is_filtered"]]
        results = [result for one in whole for result in one["results"] if result.get("cassette")]
    except (ValueError, KeyError, TypeError) as error:
        message = f"{path} is no report of this suite: {error!r}"
        raise HarnessError(message) from error
    return frozenset(result["cassette"] for result in results if result["verdict"] in ("pass", "fail")) or None


def corpus_command() -> None:
    """Download the calls that others recorded into your cache, verify them, and say what they hold."""
    missing, kept = False, False
    for package in corpus.load_packages():
        try:
            found = corpus.read_package(package)
        except (corpus.Unreachable, HarnessError, BadCassette) as error:
            missing = True
            complain(error)
            continue
        kept = True
        dialects = Counter(corpus.dialect_of(one) or "no dialect of the suite's" for one in found)
        told = ", ".join(f"{count} {name}" for name, count in dialects.most_common())
        say(f"{package.name} {package.version} ({package.licence}): {told}")
    if kept:
        say(f"kept in {corpus.cache_folder()}")
    raise typer.Exit(CANNOT if missing else 0)


def _split(given: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for some in given or () for name in some.split(",") if name.strip())


def _source(*, local_engine: bool, strict: bool) -> Source:
    if local_engine and strict:
        message = "say either --local-engine or --from-strict-provider"
        raise HarnessError(message)
    return "strict provider" if strict else "local engine" if local_engine else "provider"


def _access(key_from: str, base_url: str | None, model: str | None, source: Source) -> Access:
    if source == "local engine":
        if base_url is None:
            message = "say with --base-url where the local engine answers"
            raise HarnessError(message)
        key = os.environ.get(key_from, "") if key_from else ""
        return Access(key=key or "no-key-is-needed", base_url=base_url, model=model)
    return find_access(key_from, base_url, model)


def _tell(name: str, recorded: Iterable[Recorded]) -> bool:
    """Prints what became of each scenario; whether one that was asked for has no cassette now."""
    failed = False
    counts = {"written": 0, "unchanged": 0, "refused": 0, "failed": 0}
    for one in recorded:
        word = (
            "refused" if one.is_refused else "failed" if one.path is None else "written" if one.changed else "unchanged"
        )
        counts[word] += 1
        failed = failed or word == "failed"
        if one.why or one.changed:
            say(f"{word:<10}{one.path or one.scenario}" + (f": {one.why}" if one.why else ""))
    say(f"{name}: " + ", ".join(f"{count} {word}" for word, count in counts.items()))
    return failed
