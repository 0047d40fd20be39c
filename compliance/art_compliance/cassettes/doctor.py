"""What can be wrong with cassettes that still load: one line each, with the file and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from art_compliance.cassettes.bodies import json_of, stream_items
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.matching import Asked, is_same
from art_compliance.cassettes.provenance import scenario_digest
from art_compliance.cassettes.reading import REVOKE, BadCassette, Cassette, read_cassette, read_text
from art_compliance.cassettes.scanning import find_leaks
from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.judging.wire import judge_answer
from art_compliance.pointers import leaves
from art_compliance.scenarios import Scenario

OLD: Final = 365
"""Days after which a cassette of a real provider is old, unless another number is asked for."""


class Complaint(Struct, frozen=True):
    """One thing that is wrong: where, what, and what to do about it."""

    path: Path
    what: str
    do: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}; {self.do}"


class Practice(Struct, frozen=True, kw_only=True):
    """What cassettes are held against. `replayed`, where it is known, are the last run's, as `provider/file`."""

    scenarios: Mapping[str, Scenario]
    today: date
    days: int = OLD
    replayed: frozenset[str] | None = None


def practice(scenarios: tuple[Scenario, ...], *, days: int = OLD, replayed: frozenset[str] | None = None) -> Practice:
    """What holds today."""
    known = {one.id: one for one in scenarios}
    return Practice(scenarios=known, today=datetime.now(UTC).date(), days=days, replayed=replayed)


def examine(folder: Path, held: Practice) -> Iterator[Complaint]:
    """Every complaint about every cassette below the folder. Raises HarnessError where there is no cassette at all."""
    paths = [path for path in sorted(folder.rglob("*.y*ml")) if path.is_file()]
    if not paths:
        message = f"there is no cassette in {folder}"
        raise HarnessError(message)
    for path in paths:
        yield from examine_file(path, held)


def examine_file(path: Path, held: Practice) -> Iterator[Complaint]:
    """Every complaint about one file: first whether it holds secrets, then whether it can be used, then the rest."""
    text = path.read_bytes().decode("utf-8", "replace")
    for leak in find_leaks(text):
        yield Complaint(path, f"a secret: {leak}", f"{REVOKE}, and record again; until then it fails every replay")
    try:
        cassette = read_cassette(read_text(path), path)
    except BadCassette as error:
        place = f"{error.place}: " if error.place else ""
        what = str(error).removeprefix(f"{path}: {place}")
        yield Complaint(path, f"{place}it cannot be used: {what}", "until then it fails every replay")
        return
    for look in _LOOKS:
        yield from look(cassette, held)


def _unknown(cassette: Cassette, held: Practice) -> Iterator[Complaint]:
    name = cassette.path.stem
    if name not in held.scenarios:
        yield Complaint(cassette.path, f"never replayed: no scenario is called {name!r}", "remove it, or rename it")
    elif held.replayed is not None and f"{cassette.path.parent.name}/{cassette.path.name}" not in held.replayed:
        yield Complaint(cassette.path, "never replayed: the last run did not play it", "see why in its report.json")


def _nameless(cassette: Cassette, _: Practice) -> Iterator[Complaint]:
    if cassette.provenance is None:
        what = "nothing says who answered, nor what a request is matched by: vcrpy's own matchers leave the body out"
        yield Complaint(cassette.path, what, "record it with art record, which matches by the normal form")


def _old(cassette: Cassette, held: Practice) -> Iterator[Complaint]:
    known = cassette.provenance
    if known is None or not known.is_reality:
        return
    try:
        days = (held.today - date.fromisoformat(known.date)).days
    except ValueError:
        yield Complaint(cassette.path, f"its date {known.date!r} is none", "record it again")
        return
    if days < 0:
        yield Complaint(cassette.path, f"its date {known.date} is yet to come", "set the clock, and record it again")
    elif days > held.days:
        yield Complaint(cassette.path, f"{days} days old, {held.days} is the limit", "record it again")


def _outgrown(cassette: Cassette, held: Practice) -> Iterator[Complaint]:
    known, scenario = cassette.provenance, held.scenarios.get(cassette.path.stem)
    if known is None or scenario is None:
        return
    if known.scenario != scenario.id:
        yield Complaint(cassette.path, f"it was recorded for the scenario {known.scenario!r}", "give it its name back")
    elif known.digest != scenario_digest(scenario):
        yield Complaint(cassette.path, "the scenario has changed since it was recorded", "record it again")


_PASSING: Final[Mapping[str, re.Pattern[str]]] = {
    "a uuid": re.compile(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b"),
    "a time": re.compile(r"\b20\d\d-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(:[0-5]\d)?"),
    "seconds since 1970": re.compile(r"(?<![\d.])1[6-9]\d{8}(\d{3})?(\.\d+)?(?![\d.])"),
}
"""What is another in each request, so that it never matches again."""


def _passing(cassette: Cassette, held: Practice) -> Iterator[Complaint]:
    scenario = held.scenarios.get(cassette.path.stem)
    given = "" if scenario is None else repr((scenario.prompt, scenario.options))
    for at, one in enumerate(cassette.exchanges):
        for pointer, value in leaves(json_of(one.request_body)):
            for kind, form in _PASSING.items():
                found = form.search(str(value)) if isinstance(value, (str, int, float)) else None
                if found is not None and found[0] not in given:
                    what = f"interactions[{at}].request.body{pointer}: {kind}, so it matches no other request"
                    yield Complaint(cassette.path, what, "leave it out of the request, and record again")


def _answer_faults(cassette: Cassette, _: Practice) -> Iterator[Complaint]:
    """An engine that speaks a provider's format need not keep to its types; that it answers at all is asked of it."""
    is_engine = cassette.provenance is not None and cassette.provenance.source == "local engine"
    for at, one in enumerate(cassette.exchanges):
        dialect = _dialect(one)
        if not 200 <= one.status < 300:
            what = f"interactions[{at}].response.status: {one.status}, an error, which says more of an account"
            yield Complaint(cassette.path, what, "record it again: art record keeps no errors")
            continue
        if dialect is None:
            continue
        place = f"interactions[{at}].response.body.string"
        whole = json_of(one.answer_body)
        items: list[Any] = list(stream_items(one.answer_body)) if whole is None else [whole]
        if not items:
            yield Complaint(cassette.path, f"{place}: it loads, and answers with nothing", "record it again")
            continue
        if is_engine:
            continue
        schema = f"{dialect}.{'stream' if whole is None else 'answer'}"
        fault = next((fault for item in items for fault in judge_answer(schema, item, url=one.uri)), None)
        if fault is not None:
            what = f"{place}{fault.pointer}: the provider's types no longer allow it: {fault.message}"
            yield Complaint(cassette.path, what, "record it again")


def _doubled(cassette: Cassette, _: Practice) -> Iterator[Complaint]:
    for (at, one), (other, twin) in combinations(enumerate(cassette.exchanges), 2):
        dialect = DIALECTS.get(_dialect(one) or "")
        if dialect is not None and is_same(dialect, Asked.of(one), Asked.of(twin)):
            what = f"interactions[{at}] and interactions[{other}] match one request: which answers is chance"
            yield Complaint(cassette.path, what, "record it again")


def _dialect(one: Exchange) -> str | None:
    path = one.uri.partition("?")[0]
    return next((name for name, dialect in DIALECTS.items() if re.search(dialect.service.path, path)), None)


_LOOKS: Final[tuple[Callable[[Cassette, Practice], Iterator[Complaint]], ...]] = (
    _unknown,
    _nameless,
    _old,
    _outgrown,
    _passing,
    _doubled,
    _answer_faults,
)
