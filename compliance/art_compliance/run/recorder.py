"""Records an adapter's calls, one cassette a scenario, from a real provider or from the suite's own."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from art_compliance.cassettes import (
    RECORDED_REALITY,
    BadCassette,
    Exchange,
    Provenance,
    Source,
    load_cassette,
    scenario_digest,
    write_cassette,
)
from art_compliance.cassettes.bodies import json_of
from art_compliance.cassettes.recording import recording
from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.dialects import Dialect
from art_compliance.dialects.urls import model_of
from art_compliance.findings import HarnessError
from art_compliance.provider import Answerer
from art_compliance.provider.composing import compose
from art_compliance.provider.strict import MARK, answer_strictly
from art_compliance.quoting import AT_LENGTH, shorten
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.run.report import suite_version
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.subject.access import TEST_KEY, Access
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import Factory, find_factory, name_of
from art_compliance.subject.observations import Refused
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject
from art_sdk.json_data import is_object


class Order(Struct, frozen=True, kw_only=True):
    """What to record: which scenarios, into which folder, and from whom. Without `access`, from the strict provider.

    `engine` is the local engine's name and version.
    """

    scenarios: tuple[Scenario, ...]
    into: Path
    source: Source = "strict provider"
    access: Access | None = None
    engine: str | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be written, to the letter."""
        return (TEST_KEY, self.access.key) if self.access else (TEST_KEY,)


class Recorded(Struct, frozen=True, kw_only=True):
    """What became of a scenario: `path` where a cassette is kept, `changed` where it was written; else `why` not."""

    scenario: str
    path: Path | None = None
    changed: bool = False
    is_refused: bool = False
    why: str | None = None


def choose(names: tuple[str, ...], extra: Path | None = None) -> tuple[Scenario, ...]:
    """The scenarios of these ids; without any, the ones that are recorded by default. Raises HarnessError."""
    known = {one.id: one for one in (*load_scenarios(), *(load_scenarios(extra) if extra else ()))}
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"there is no scenario {', '.join(map(repr, unknown))}; art scenarios lists what there is"
        raise HarnessError(message)
    return tuple(known[name] for name in names or live_scenarios())


def record(
    make: Factory | str, order: Order, *, dialect: str | None = None, name: str | None = None
) -> Iterator[Recorded]:
    """Calls the adapter with each scenario and keeps what went over the wire. Raises HarnessError.

    An answer that is no success is not kept, for it says more of the account than of the adapter. What
    holds something like a secret is not written (BadCassette): the run ends there.
    """
    factory = find_factory(make) if isinstance(make, str) else make
    told = name or (make if isinstance(make, str) else name_of(make))
    with open_subject(factory, name=told, dialect=dialect, access=order.access) as subject:
        for scenario in order.scenarios:
            yield _record_one(subject, scenario, order)


def _record_one(subject: Subject, scenario: Scenario, order: Order) -> Recorded:
    if subject.dialect is None:
        message = f"{subject.name}: its wire format is not known, and requests are matched by it: say it with --dialect"
        raise HarnessError(message)
    if not subject.has_call:
        message = f"{subject.name}: it has no call, so there is nothing to record"
        raise HarnessError(message)
    with recording() as heard:
        told = subject.call(scenario.prompt, scenario.call_options(), answerer_for(scenario))
    kept = [one for one in heard if re.search(subject.dialect.service.path, urlsplit(one.uri).path)]
    if isinstance(told, Refused) and not kept:
        return Recorded(scenario=scenario.id, is_refused=True, why=f"the adapter refuses it: {told.code}")
    if not kept:
        return Recorded(
            scenario=scenario.id, why=_explain_silence(told, heard, subject.dialect, Scrubber(order.secrets))
        )
    failed = next((one for one in kept if not 200 <= one.status < 300), None)
    if failed is not None:
        return Recorded(scenario=scenario.id, why=_explain_failure(failed, Scrubber(order.secrets)))
    path = order.into / subject.provider / f"{scenario.id}.yaml"
    source = _source(order, kept)
    if source not in RECORDED_REALITY and _is_reality(path):
        return Recorded(scenario=scenario.id, path=path, why="kept, for somebody else answered it")
    changed = write_cassette(path, kept, _provenance(subject, scenario, order, kept), secrets=order.secrets)
    why = _explain_unread(told, Scrubber(order.secrets)) or (None if source == order.source else _NO_PROVIDER)
    return Recorded(scenario=scenario.id, path=path, changed=changed, why=why)


_NO_PROVIDER: Final = "the suite's own strict provider answered, and the cassette says so: it proves nothing of others"


def _source(order: Order, kept: list[Exchange]) -> Source:
    """Who answered: not always who was asked for, for `art serve` answers at any URL."""
    name, value = MARK
    return "strict provider" if any(one.answer_headers.get(name) == value for one in kept) else order.source


def _is_reality(path: Path) -> bool:
    """Whether a cassette is there whose answer is not this suite's own: that one is worth more."""
    try:
        known = load_cassette(path).provenance
    except BadCassette:
        return False
    return known is not None and known.is_reality


def answerer_for(scenario: Scenario) -> Answerer:
    """What the strict provider answers: the scenario's own answer, else what the request asks for."""
    return lambda asked: answer_strictly(asked, lambda _: scenario.answer or compose(asked))


def _explain_silence(told: object, others: list[Exchange], dialect: Dialect, scrubber: Scrubber) -> str:
    if others:
        paths = ", ".join(sorted({scrubber.text(urlsplit(one.uri).path) for one in others}))
        return f"it asked {paths}, and requests of {dialect.name} go to a path like {dialect.service.path}"
    failure = _failure(told, scrubber)
    if failure is not None:
        return f"nothing was answered: {failure}; is the provider at the URL that the adapter asks? {_SEEN}"
    return f"vcrpy saw no request, and yet the call was answered: {_SEEN}"


_SEEN: Final = (
    f"vcrpy {version('vcrpy')} sees httpx2, httpx, requests, urllib3, aiohttp, http.client, tornado and boto3, "
    "in this process"
)


def _failure(told: object, scrubber: Scrubber) -> str | None:
    """Why a call gave no answer; None where it gave one."""
    if not isinstance(told, Answered):
        return scrubber.text(str(told))
    return None if told.error is None else scrubber.text(str(told.error.get("message")))


def _explain_unread(told: object, scrubber: Scrubber) -> str | None:
    failure = _failure(told, scrubber)
    return None if failure is None else f"the adapter did not read the answer: {failure}"


def _explain_failure(one: Exchange, scrubber: Scrubber) -> str:
    shown = scrubber.body(one.answer_body, is_error=True)
    data: object = json_of(shown)
    error: object = data.get("error", data) if is_object(data) else shown.decode("utf-8", "replace")
    message: object = error.get("message", error) if is_object(error) else error
    return f"the provider answered {one.status}: {shorten(str(message), AT_LENGTH)}"


def _provenance(subject: Subject, scenario: Scenario, order: Order, kept: list[Exchange]) -> Provenance:
    last = kept[-1]
    data: object = json_of(last.request_body)
    model: object = data.get("model") if is_object(data) else None
    return Provenance(
        source=_source(order, kept),
        date=datetime.now(UTC).date().isoformat(),
        adapter=subject.name,
        model=model if isinstance(model, str) else model_of(last.uri),
        scenario=scenario.id,
        digest=scenario_digest(scenario),
        suite=suite_version(),
        versions=_versions(type(subject.adapter).__module__) | ({"engine": order.engine} if order.engine else {}),
    )


def _versions(module: str) -> dict[str, str]:
    """Python, vcrpy, the clients that are in this process, and the adapter's own distribution, where it has one."""
    clients = [name for package, name in _CLIENTS.items() if package in sys.modules]
    names = ["vcrpy", *clients, *_distributions_of(module.partition(".")[0])]
    told = {"python": platform.python_version()}
    for name in names:
        try:
            told[name] = version(name)
        except PackageNotFoundError:
            continue
    return told


@cache
def _distributions_of(package: str) -> tuple[str, ...]:
    """Who brought it, of all that is installed; whose lists of files take half a second to read."""
    return tuple(packages_distributions().get(package, ()))


_CLIENTS: Final[Mapping[str, str]] = {
    "httpx2": "httpx2",
    "httpx": "httpx",
    "requests": "requests",
    "aiohttp": "aiohttp",
    "botocore": "botocore",
    "openai": "openai",
    "anthropic": "anthropic",
    "google.genai": "google-genai",
    "mistralai": "mistralai",
}
"""HTTP clients and providers' own, by package: what shapes a request besides the adapter."""


def require_key(value: str | None, name: str) -> str:
    """The key from the environment variable `name`. Raises HarnessError if it is missing or blank."""
    if not value or not value.strip():
        raise HarnessError(f"the environment variable {name} is not set or is blank: a real provider needs a key")
    return value


__all__ = ["BadCassette", "Order", "Recorded", "answerer_for", "choose", "record", "require_key"]
