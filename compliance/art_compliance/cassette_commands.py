"""`art record`, `art replay` and `art doctor`: cassettes made, played, and looked after."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from rich.console import Console

from art_compliance.cassettes import BadCassette, Source, corpus, doctor
from art_compliance.checks import CHECKS
from art_compliance.findings import HarnessError
from art_compliance.recorder import Order, Recorded, choose, hold_key, record
from art_compliance.runner import FOLDER, Selection, certify, find_cassettes
from art_compliance.scenarios import load_scenarios
from art_compliance.subjects import Access
from art_compliance.summary import summarize
from art_sdk import BUILT_IN

_out: Final = Console(emoji=False, highlight=False, soft_wrap=True)
_err: Final = Console(emoji=False, highlight=False, soft_wrap=True, stderr=True)

_NAME_ONE: Final = f"name an adapter (module:Class, or one of {', '.join(BUILT_IN)}), or say --built-in"

FAILS: Final = 1
BAD_INPUT: Final = 2


def record_command(
    adapters: Annotated[list[str] | None, typer.Argument(help="module:Class, or an installed adapter's name.")] = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Record every reference adapter.")] = False,
    scenarios: Annotated[
        list[str] | None, typer.Option(help="Scenarios by id, with commas between; a short standard list without it.")
    ] = None,
    scenarios_from: Annotated[Path | None, typer.Option(help="A folder of scenarios of your own.")] = None,
    into: Annotated[Path, typer.Option(help="The folder of cassettes, in your repository.")] = FOLDER,
    key_from: Annotated[str, typer.Option(help="The environment variable that holds the provider's key.")] = "",
    base_url: Annotated[str | None, typer.Option(help="The provider's URL, where it is not the adapter's own.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, where it is not the adapter's own choice.")] = None,
    dialect: Annotated[str | None, typer.Option(help="The wire format, where the adapter does not say it.")] = None,
    local_engine: Annotated[bool, typer.Option("--local-engine", help="An engine at --base-url answers.")] = False,
    engine: Annotated[str | None, typer.Option(help="The local engine's name and version.")] = None,
    from_strict_provider: Annotated[
        bool, typer.Option("--from-strict-provider", help="The suite's own provider answers; proves nothing of others.")
    ] = False,
) -> None:
    """Call an adapter with scenarios and keep what went over the wire: <into>/<provider>/<scenario>.yaml."""
    names = [*(adapters or ()), *(BUILT_IN if built_in else ())]
    sys.path.insert(0, "")  # a console script does not see the working directory
    failed = False
    try:
        if not names:
            _stop(_NAME_ONE)
        source = _source(local_engine=local_engine, strict=from_strict_provider)
        access = None if from_strict_provider else _access(key_from, base_url, model, source)
        if local_engine and not engine:
            _stop('say with --engine which engine answers, and its version: --engine "llama-server 1.2"')
        chosen = choose(_split(scenarios), scenarios_from)
        order = Order(scenarios=chosen, into=into, source=source, access=access, engine=engine)
        for name in names:
            failed = _tell(name, record(name, order, dialect=dialect)) or failed
    except (HarnessError, BadCassette) as error:
        _stop(str(error))
    raise typer.Exit(FAILS if failed else 0)


def replay_command(
    adapters: Annotated[list[str] | None, typer.Argument(help="module:Class, or an installed adapter's name.")] = None,
    built_in: Annotated[bool, typer.Option("--built-in", help="Replay every reference adapter.")] = False,
    scenarios: Annotated[
        list[str] | None, typer.Option(help="Scenarios by id, with commas between; all that are recorded without it.")
    ] = None,
    scenarios_from: Annotated[Path | None, typer.Option(help="A folder of scenarios of your own.")] = None,
    cassettes: Annotated[Path | None, typer.Option(help="Your recorded calls; ./cassettes where it is there.")] = None,
    dialect: Annotated[str | None, typer.Option(help="The wire format, where the adapter does not say it.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell every failure whole.")] = False,
) -> None:
    """Make recorded calls again, answered from their cassettes: no key, no network. 1: something is not as it was."""
    names = [*(adapters or ()), *(BUILT_IN if built_in else ())]
    sys.path.insert(0, "")  # a console script does not see the working directory
    failed = False
    try:
        if not names:
            _stop(_NAME_ONE)
        selection = Selection(
            checks=tuple(name for name, check in CHECKS.items() if check.stage == "replay"),
            scenarios=_split(scenarios),
            extra=scenarios_from,
            cassettes=find_cassettes(cassettes),
        )
        for name in names:
            report = certify(name, dialect=dialect, selection=selection)
            played = any(result.source or result.verdict == "fail" for result in report.results)
            if not (played or report.harness_errors):
                _stop(f"{name}: no cassette of its provider is kept for these scenarios; art record makes them")
            for line in summarize(report, verbose=verbose):
                _out.print(line, markup=False)
            if report.harness_errors:
                raise typer.Exit(BAD_INPUT)
            failed = failed or bool(report.failures)
    except HarnessError as error:
        _stop(str(error))
    raise typer.Exit(FAILS if failed else 0)


def doctor_command(
    folder: Annotated[Path, typer.Argument(help="The folder of cassettes.")] = FOLDER,
    days: Annotated[int, typer.Option(help="How old a real provider's answer may be.")] = doctor.OLD,
    report: Annotated[Path, typer.Option(help="The folder with the last run's report.json.")] = Path("art-report"),
    scenarios_from: Annotated[Path | None, typer.Option(help="A folder of scenarios of your own.")] = None,
) -> None:
    """Say what is wrong with cassettes, a line each with the file and what to do. 0: nothing; 1: something."""
    try:
        known = (*load_scenarios(), *(load_scenarios(scenarios_from) if scenarios_from else ()))
        held = doctor.practice(known, days=days, replayed=_replayed(report / "report.json"))
        told = list(doctor.examine(folder, held))
    except HarnessError as error:
        _stop(str(error))
    for complaint in told:
        _out.print(str(complaint), markup=False)
    if not told:
        _out.print(f"{folder}: nothing found", markup=False)
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
            _err.print(f"harness: {error}", markup=False, style="bold red")
            continue
        kept = True
        dialects = Counter(corpus.dialect_of(one) or "no dialect of the suite's" for one in found)
        told = ", ".join(f"{count} {name}" for name, count in dialects.most_common())
        _out.print(f"{package.name} {package.version} ({package.licence}): {told}", markup=False)
    if kept:
        _out.print(f"kept in {corpus.cache_folder()}", markup=False)
    raise typer.Exit(BAD_INPUT if missing else 0)


def _split(given: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for some in given or () for name in some.split(",") if name.strip())


def _source(*, local_engine: bool, strict: bool) -> Source:
    if local_engine and strict:
        _stop("say either --local-engine or --from-strict-provider")
    return "strict provider" if strict else "local engine" if local_engine else "provider"


def _access(key_from: str, base_url: str | None, model: str | None, source: Source) -> Access:
    if source == "local engine":
        if base_url is None:
            _stop("say with --base-url where the local engine answers")
        key = os.environ.get(key_from, "") if key_from else ""
        return Access(key=key or "no-key-is-needed", base_url=base_url, model=model)
    return find_access(key_from, base_url, model)


def find_access(key_from: str, base_url: str | None, model: str | None) -> Access:
    """The way to a real provider, its key out of the environment. Raises HarnessError where there is none."""
    if not key_from:
        message = (
            "a real provider wants a key: name the environment variable that holds it with --key-from "
            "(to record from the suite's own provider, which wants none: --from-strict-provider)"
        )
        raise HarnessError(message)
    return Access(key=hold_key(os.environ.get(key_from), key_from), base_url=base_url, model=model)


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
            _out.print(f"{word:<10}{one.path or one.scenario}" + (f": {one.why}" if one.why else ""), markup=False)
    _out.print(f"{name}: " + ", ".join(f"{count} {word}" for word, count in counts.items()), markup=False)
    return failed


def _stop(message: str) -> NoReturn:
    _err.print(f"harness: {message}", markup=False, style="bold red")
    raise typer.Exit(BAD_INPUT)
