"""Finds what is wrong with cassettes that still load: one line each, with the file and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from art_compliance.cassettes.bodies import json_of, stream_items
from art_compliance.cassettes.errors import REVOKE, BadCassette
from art_compliance.cassettes.matching import ScrubbedRequest, twins
from art_compliance.cassettes.provenance import scenario_digest
from art_compliance.cassettes.reading import Cassette, read_bytes, read_cassette, read_text
from art_compliance.cassettes.scanning import find_leaks
from art_compliance.dialects import DIALECTS, Dialect, find_by_url
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.findings import HarnessError
from art_compliance.judging.wire import judge_answer
from art_compliance.judging.wire.explain import Mismatch
from art_compliance.pointers import leaves
from art_compliance.scenarios import Scenario

OLD: Final = 365
"""The age in days from which a cassette of a real provider is old, unless another one is given."""


class Complaint(Struct, frozen=True):
    """One thing that is wrong: where, what, and what to do about it."""

    path: Path
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


class Facts(Struct, frozen=True, kw_only=True):
    """What cassettes are compared with. `replayed` are the cassettes that the last run played, as `provider/file`."""

    scenarios: Mapping[str, Scenario]
    today: date
    days: int = OLD
    replayed: frozenset[str] | None = None


def gather_facts(scenarios: tuple[Scenario, ...], *, days: int = OLD, replayed: frozenset[str] | None = None) -> Facts:
    """The facts of today."""
    known = {one.id: one for one in scenarios}
    return Facts(scenarios=known, today=datetime.now(UTC).date(), days=days, replayed=replayed)


def examine(folder: Path, facts: Facts) -> Iterator[Complaint]:
    """Every complaint about every cassette below the folder. Raises HarnessError if there is no cassette at all."""
    paths = [path for path in sorted(folder.rglob("*.y*ml")) if path.is_file()]
    if not paths:
        raise HarnessError(f"there is no cassette in {folder}")
    for path in paths:
        yield from examine_file(path, facts)


def examine_file(path: Path, facts: Facts) -> Iterator[Complaint]:
    """Every complaint about one file: secrets first, then errors that make it unusable, then the rest."""
    try:
        for leak in find_leaks(read_bytes(path).decode("utf-8", "replace")):
            yield Complaint(path, f"a secret: {leak}", f"{REVOKE} and record it again; every replay fails until then")
        cassette = read_cassette(read_text(path), path)
    except BadCassette as error:
        place = f"{error.place}: " if error.place else ""
        problem = str(error).removeprefix(f"{path}: {place}")
        yield Complaint(
            path, f"{place}it cannot be used: {problem}", "fix it or record it again; every replay fails until then"
        )
        return
    for look in _LOOKS:
        yield from look(cassette, facts)


def _unknown(cassette: Cassette, facts: Facts) -> Iterator[Complaint]:
    name = cassette.path.stem
    if name not in facts.scenarios:
        yield Complaint(cassette.path, f"never replayed: there is no scenario {name!r}", "remove or rename it")
    elif facts.replayed is not None and f"{cassette.path.parent.name}/{cassette.path.name}" not in facts.replayed:
        yield Complaint(cassette.path, "never replayed: the last run did not play it", "its report.json may say why")


def _nameless(cassette: Cassette, _: Facts) -> Iterator[Complaint]:
    if cassette.provenance is None:
        problem = "it does not say who answered or how to match requests: vcrpy's own matchers ignore the body"
        yield Complaint(cassette.path, problem, "record it with art record, which matches by the normal form")


def _old(cassette: Cassette, facts: Facts) -> Iterator[Complaint]:
    known = cassette.provenance
    if known is None or not known.is_reality:
        return
    try:
        days = (facts.today - date.fromisoformat(known.date)).days
    except ValueError:
        yield Complaint(cassette.path, f"its date {known.date!r} is not a date", "record it again")
        return
    if days < 0:
        yield Complaint(cassette.path, f"its date {known.date} is in the future", "set the clock and record it again")
    elif days > facts.days:
        yield Complaint(cassette.path, f"{days} days old; the limit is {facts.days}", "record it again")


def _outgrown(cassette: Cassette, facts: Facts) -> Iterator[Complaint]:
    known, scenario = cassette.provenance, facts.scenarios.get(cassette.path.stem)
    if known is None or scenario is None:
        return
    if known.scenario != scenario.id:
        yield Complaint(cassette.path, f"it was recorded for the scenario {known.scenario!r}", "rename it back")
    elif known.digest != scenario_digest(scenario):
        yield Complaint(cassette.path, "the scenario has changed since it was recorded", "record it again")


_PASSING: Final[Mapping[str, re.Pattern[str]]] = {
    "a uuid": re.compile(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b"),
    "a time": re.compile(r"\b20\d\d-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(:[0-5]\d)?"),
    "seconds since 1970": re.compile(r"(?<![\d.])1[6-9]\d{8}(\d{3})?(\.\d+)?(?![\d.])"),
}
"""Values that differ in every request, so that a recorded one never matches again."""


def _passing(cassette: Cassette, facts: Facts) -> Iterator[Complaint]:
    scenario = facts.scenarios.get(cassette.path.stem)
    given = "" if scenario is None else repr((scenario.prompt, scenario.options))
    for at, one in enumerate(cassette.exchanges):
        for pointer, value in leaves(json_of(one.request_body)):
            for kind, form in _PASSING.items():
                found = form.search(str(value)) if isinstance(value, (str, int, float)) else None
                if found is not None and found[0] not in given:
                    problem = f"interactions[{at}].request.body{pointer}: {kind}, so no other request matches it"
                    yield Complaint(cassette.path, problem, "leave it out of the request and record it again")


def _answer_faults(cassette: Cassette, _: Facts) -> Iterator[Complaint]:
    """An engine that speaks a provider's format need not keep to the provider's types, but it must answer."""
    is_engine = cassette.provenance is not None and cassette.provenance.source == "local engine"
    for at, one in enumerate(cassette.exchanges):
        dialect = find_by_url(one.uri)
        if not 200 <= one.status < 300:
            problem = f"interactions[{at}].response.status: {one.status}, an error, which depends on the account"
            yield Complaint(cassette.path, problem, "record it again: art record keeps no errors")
            continue
        if dialect is None:
            continue
        place = f"interactions[{at}].response.body.string"
        whole = json_of(one.answer_body)
        items: list[Any] = list(stream_items(one.answer_body)) if whole is None else [whole]
        if not items:
            yield Complaint(cassette.path, f"{place}: it loads, but the answer is empty", "record it again")
            continue
        if is_engine:
            continue
        kind = "stream" if whole is None else "answer"
        faults = [_first_fault(f"{who.name}.{kind}", items, one.uri) for who in _speakers(dialect, one.uri)]
        if faults[0] is not None and None not in faults:
            problem = f"{place}{faults[0].pointer}: the provider's types no longer allow it: {faults[0].message}"
            yield Complaint(cassette.path, problem, "record it again")


def _speakers(dialect: Dialect, url: str) -> list[Dialect]:
    """Who may have answered: the provider that the URL names, else everybody whose requests go to its path."""
    same = [one for one in DIALECTS.values() if one.service.path == dialect.service.path]
    host = host_of(url)
    return [one for one in same if host is not None and is_one_of(host, one.service.hosts)] or same


def _first_fault(schema: str, items: list[Any], url: str) -> Mismatch | None:
    return next((fault for item in items for fault in judge_answer(schema, item, url=url)), None)


def _doubled(cassette: Cassette, _: Facts) -> Iterator[Complaint]:
    for at, other in twins(lambda one: find_by_url(one.uri), map(ScrubbedRequest.of, cassette.exchanges)):
        problem = f"interactions[{at}] and interactions[{other}] match the same request, so either may answer it"
        yield Complaint(cassette.path, problem, "record it again")


_LOOKS: Final[tuple[Callable[[Cassette, Facts], Iterator[Complaint]], ...]] = (
    _unknown,
    _nameless,
    _old,
    _outgrown,
    _passing,
    _doubled,
    _answer_faults,
)
