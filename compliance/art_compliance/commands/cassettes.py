"""`art record`, `replay`, `doctor` and `corpus`: make, play and check cassettes, and download those of others."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from art_compliance.cassettes import BadCassette, Source, corpus, doctor
from art_compliance.cassettes.package_index import Unreachable
from art_compliance.checks import CHECKS
from art_compliance.commands.console import CANNOT, FAILS, complain, say, say_lines, width_of_terminal
from art_compliance.commands.options import Adapters, DialectOfAdapter, ScenariosFrom, find_access, find_names
from art_compliance.findings import HarnessError
from art_compliance.run.beforehand import require_writable
from art_compliance.run.recorder import Order, RecordingResult, choose, record
from art_compliance.run.report import Report
from art_compliance.run.runner import certify
from art_compliance.run.selection import FOLDER, Selection, find_cassettes
from art_compliance.run.settings import read_settings
from art_compliance.run.summary import summarize
from art_compliance.scenarios import load_scenarios
from art_compliance.subject.access import Access


def record_command(
    adapters: Adapters = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Record every reference adapter.")] = False,
    scenarios: Annotated[
        list[str] | None,
        typer.Option(help="Scenario ids, separated by commas; a short standard list by default."),
    ] = None,
    scenarios_from: ScenariosFrom = None,
    into: Annotated[Path | None, typer.Option(help="Your folder of cassettes; ./cassettes if none is set.")] = None,
    key_from: Annotated[str, typer.Option(help="The environment variable with the provider's key.")] = "",
    base_url: Annotated[str | None, typer.Option(help="The provider's URL, if not the usual one.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, if not the adapter's default.")] = None,
    dialect: DialectOfAdapter = None,
    local_engine: Annotated[bool, typer.Option("--local-engine", help="Record a local engine at --base-url.")] = False,
    engine: Annotated[str | None, typer.Option(help="With --local-engine: its name and version.")] = None,
    from_strict_provider: Annotated[
        bool,
        typer.Option("--from-strict-provider", help="Let the suite's own provider answer."),
    ] = False,
) -> None:
    """Call an adapter with scenarios, and keep requests and answers in <into>/<provider>/<scenario>.yaml."""
    settings = read_settings()
    names = find_names(adapters, settings, built_in=built_in)
    source = _source(local_engine=local_engine, strict=from_strict_provider)
    access = None if from_strict_provider else _access(key_from, base_url, model, source)
    if local_engine and not engine:
        raise HarnessError('name the engine and its version with --engine, such as --engine "llama-server 1.2"')
    chosen = choose(_split(scenarios), scenarios_from)
    folder = into or settings.cassettes or FOLDER
    require_writable(folder)
    order = Order(scenarios=chosen, into=folder, source=source, access=access, engine=engine)
    dialects = {name: dialect or settings.dialect_for(name) for name in names}
    missing = [name for name in names if _print_recorded(name, record(name, order, dialect=dialects[name]))]
    raise typer.Exit(FAILS if missing else 0)


def replay_command(
    adapters: Adapters = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Replay every reference adapter.")] = False,
    scenarios: Annotated[
        list[str] | None,
        typer.Option(help="Scenario ids, separated by commas; all recorded ones by default."),
    ] = None,
    scenarios_from: ScenariosFrom = None,
    cassettes: Annotated[Path | None, typer.Option(help="Your recorded calls; ./cassettes if it exists.")] = None,
    dialect: DialectOfAdapter = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every failure in full.")] = False,
) -> None:
    """Repeat recorded calls, answered from their cassettes: no key, no network. Exits with 1 if one has changed."""
    settings = read_settings()
    names = find_names(adapters, settings, built_in=built_in)
    selection = Selection(
        checks=tuple(name for name, check in CHECKS.items() if check.stage.replays_cassettes),
        scenarios=_split(scenarios),
        extra=scenarios_from,
        cassettes=find_cassettes(cassettes or settings.cassettes),
    )
    dialects = {name: dialect or settings.dialect_for(name) for name in names}
    failed = [name for name in names if _replay(name, selection, dialects[name], verbose=verbose)]
    raise typer.Exit(FAILS if failed else 0)


def _replay(name: str, selection: Selection, dialect: str | None, *, verbose: bool) -> bool:
    """Prints the results, and returns whether a call failed. Raises HarnessError if no cassette was played."""
    report = certify(name, dialect=dialect, selection=selection)
    if not (_has_played(report) or report.harness_errors):
        raise HarnessError(f"{name}: its provider has no cassette of these scenarios; art record makes one")
    say_lines(summarize(report, verbose=verbose, width=width_of_terminal(), rest="--verbose shows all of them"))
    if report.harness_errors:
        raise typer.Exit(CANNOT)
    return bool(report.failures)


def _has_played(report: Report) -> bool:
    return any(result.source or result.verdict == "fail" for result in report.results)


def doctor_command(
    folder: Annotated[Path | None, typer.Argument(help="The folder of cassettes; ./cassettes if none is set.")] = None,
    days: Annotated[int, typer.Option(help="The maximum age of a real provider's answers, in days.")] = doctor.OLD,
    report: Annotated[Path, typer.Option(help="The folder with report.json of the last run.")] = Path("art-report"),
    scenarios_from: ScenariosFrom = None,
) -> None:
    """List what is wrong with cassettes, and what to do about it. Exits with 1 if something is wrong."""
    known = (*load_scenarios(), *(load_scenarios(scenarios_from) if scenarios_from else ()))
    facts = doctor.gather_facts(known, days=days, replayed=replayed_by(report / "report.json"))
    folder = folder or read_settings().cassettes or FOLDER
    complaints = list(doctor.examine(folder, facts))
    for complaint in complaints:
        say(str(complaint))
    if not complaints:
        say(f"{folder}: nothing found")
    raise typer.Exit(FAILS if complaints else 0)


def replayed_by(path: Path) -> frozenset[str] | None:
    """The cassettes that the last complete runs replayed, as `provider/file`; None if there is no such run."""
    if not path.is_file():
        return None
    try:
        reports = json.loads(path.read_text(encoding="utf-8"))["reports"]
        whole = [one for one in reports if not one["is_filtered"]]
        results = [result for one in whole for result in one["results"] if result.get("cassette")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HarnessError(f"{path} is not a report of this suite: {error!r}") from error
    return frozenset(result["cassette"] for result in results if result["verdict"] in ("pass", "fail")) or None


def corpus_command() -> None:
    """Download calls that other projects recorded into your cache, verify them, and list what they contain."""
    missing, kept = False, False
    for package in corpus.load_packages():
        try:
            found = corpus.read_package(package)
        except (Unreachable, HarnessError, BadCassette) as error:
            missing = True
            complain(error)
            continue
        kept = True
        dialects = Counter(corpus.dialect_of(one) or "unknown dialect" for one in found)
        counts = ", ".join(f"{count} {name}" for name, count in dialects.most_common())
        say(f"{package.name} {package.version} ({package.licence}): {counts}")
    if kept:
        say(f"kept in {corpus.cache_folder()}")
    raise typer.Exit(CANNOT if missing else 0)


def _split(given: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for some in given or () for name in some.split(",") if name.strip())


def _source(*, local_engine: bool, strict: bool) -> Source:
    if local_engine and strict:
        raise HarnessError("use either --local-engine or --from-strict-provider, not both")
    return "strict provider" if strict else "local engine" if local_engine else "provider"


def _access(key_from: str, base_url: str | None, model: str | None, source: Source) -> Access:
    if source == "local engine":
        if base_url is None:
            raise HarnessError("give the URL of the local engine with --base-url")
        key = os.environ.get(key_from, "") if key_from else ""
        return Access(key=key or "no-key-is-needed", base_url=base_url, model=model)
    return find_access(key_from, base_url, model, advice=", or use --from-strict-provider, which needs none")


def _print_recorded(name: str, recorded: Iterable[RecordingResult]) -> bool:
    """Prints the outcome of each scenario, and returns whether one could not be recorded."""
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
