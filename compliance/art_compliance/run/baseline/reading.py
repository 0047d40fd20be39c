"""Reads a baseline, and says what is wrong with one, and where."""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import msgspec

from art_compliance.checks import CHECKS
from art_compliance.examining.laws import LAWS
from art_compliance.findings import HarnessError
from art_compliance.generating.requests import FAMILIES
from art_compliance.quoting import show
from art_compliance.run.baseline.entries import KEY, Baseline, Entry
from art_compliance.run.baseline.requests import read_request
from art_compliance.run.selection import Selection
from art_sdk.json_data import is_array, is_object


def read_baseline(file: Path, selection: Selection) -> Baseline:
    """The baseline in a file. Raises HarnessError, which names the line or the entry.

    The selection says which scenarios there are: those of the suite, and those of the author's own.
    """
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise HarnessError(f"cannot read the baseline {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError names line and column
        raise HarnessError(f"{file} is not valid TOML: {error}") from error
    scenarios = tuple(scenario.id for scenario in selection.known_scenarios())
    tables = _tables(file, document)
    entries = {number: _entry(f"{file}: entry {number}", table) for number, table in enumerate(tables, 1)}
    for number, entry in entries.items():
        _require_known(f"{file}: entry {number}", "check", entry.check, (*CHECKS, *LAWS))
        if entry.scenario is not None and entry.check not in LAWS:
            _require_known(f"{file}: entry {number}", "scenario", entry.scenario, scenarios)
    return Baseline(file=file, entries=entries)


def _tables(file: Path, document: dict[str, Any]) -> list[Any]:
    for key in document:
        if key != KEY:
            raise HarnessError(f"{file}: there is no key {key!r} here; entries are tables [[{KEY}]]")
    tables: Any = document.get(KEY, [])
    if not is_array(tables) or not all(is_object(table) for table in tables):
        raise HarnessError(f"{file}: expected entries as tables [[{KEY}]], got {show(tables)}")
    return list(tables)


def _entry(place: str, table: Any) -> Entry:
    try:
        entry = msgspec.convert(table, Entry)
    except msgspec.ValidationError as error:
        raise HarnessError(f"{place}: {_WORDS.sub(_plainly, str(error))}") from error
    if entry.scenario is None and entry.cause is None:
        raise HarnessError(f"{place}: it needs a scenario, a cause, or both")
    if entry.request is not None:
        if entry.scenario not in FAMILIES:
            raise HarnessError(f"{place}: request is only for the scenarios {', '.join(FAMILIES)}")
        try:
            read_request(entry.request)
        except (ValueError, RecursionError) as error:
            raise HarnessError(f"{place}: request is not JSON with prompt and options: {error}") from error
    return entry


_WORDS: Final = re.compile(r"^Object (?P<what>missing required|contains unknown) field `(?P<field>\w+)`|Expected")


def _plainly(found: re.Match[str]) -> str:
    """Msgspec's words, without its objects: an entry is a table."""
    if found["what"] is None:
        return "expected"
    return f"{'it has no' if found['what'].startswith('missing') else 'there is no key'} {found['field']!r}"


def _require_known(place: str, what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"art {what}s lists them all"
        raise HarnessError(f"{place}: there is no {what} {name!r}; {hint}")
