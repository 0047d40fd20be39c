"""Records an adapter's calls, one cassette per scenario, from a real provider or from the suite's own."""

from __future__ import annotations

import platform
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
from art_compliance.run.identity import suite_version
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.subject.access import TEST_KEY, Access
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import Factory, find_factory, name_of
from art_compliance.subject.observations import Refused
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject
from art_sdk.json_data import is_object


class Order(Struct, frozen=True, kw_only=True):
    """Which scenarios to record, into which folder, and from which source.

    Without `access`, the strict provider answers. `engine` is the local engine's name and version.
    """

    scenarios: tuple[Scenario, ...]
    into: Path
    source: Source = "strict provider"
    access: Access | None = None
    engine: str | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys that must not be written."""
        return (TEST_KEY, self.access.key) if self.access else (TEST_KEY,)


class RecordingResult(Struct, frozen=True, kw_only=True):
    """The outcome of a scenario: the `path` of its cassette, and whether it `changed`; or `why` there is none."""

    scenario: str
    path: Path | None = None
    changed: bool = False
    is_refused: bool = False
    why: str | None = None


def choose(names: tuple[str, ...], extra: Path | None = None) -> tuple[Scenario, ...]:
    """The scenarios with these ids, or the ones that are recorded by default. Raises HarnessError."""
    known = {one.id: one for one in (*load_scenarios(), *(load_scenarios(extra) if extra else ()))}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise HarnessError(f"there is no scenario {', '.join(map(repr, unknown))}; art scenarios lists them all")
    return tuple(known[name] for name in names or live_scenarios())


def record(
    make: Factory | str, order: Order, *, dialect: str | None = None, name: str | None = None
) -> Iterator[RecordingResult]:
    """Calls the adapter with each scenario, and keeps the requests and answers. Raises HarnessError.

    Error answers are not kept: they depend on the account, not on the adapter. If a cassette would contain what looks
    like a secret, it is not written, and the run ends with BadCassette.
    """
    factory = find_factory(make) if isinstance(make, str) else make
    known_name = name or (make if isinstance(make, str) else name_of(make))
    with open_subject(factory, name=known_name, dialect=dialect, access=order.access) as subject:
        for scenario in order.scenarios:
            yield _record_one(subject, scenario, order)


def _record_one(subject: Subject, scenario: Scenario, order: Order) -> RecordingResult:
    if subject.dialect is None:
        raise HarnessError(
            f"{subject.name}: its wire format is unknown, but matching requests needs it: name it with --dialect"
        )
    if not subject.has_call:
        raise HarnessError(f"{subject.name}: it has no call, so there is nothing to record")
    with recording() as calls:
        reply = subject.call(scenario.prompt, scenario.call_options(), answerer_for(scenario))
    kept = [one for one in calls if subject.dialect.service.takes(one.uri)]
    if isinstance(reply, Refused) and not kept:
        return RecordingResult(scenario=scenario.id, is_refused=True, why=f"the adapter refuses it: {reply.code}")
    if not kept:
        return RecordingResult(
            scenario=scenario.id, why=_explain_silence(reply, calls, subject.dialect, Scrubber(order.secrets))
        )
    failed = next((one for one in kept if not 200 <= one.status < 300), None)
    if failed is not None:
        return RecordingResult(scenario=scenario.id, why=_explain_failure(failed, Scrubber(order.secrets)))
    path = order.into / subject.provider / f"{scenario.id}.yaml"
    source = _source(order, kept)
    if source not in RECORDED_REALITY and _is_reality(path):
        return RecordingResult(scenario=scenario.id, path=path, why="kept: answered by a real provider or engine")
    changed = write_cassette(path, kept, _provenance(subject, scenario, order, kept), secrets=order.secrets)
    why = _explain_unread(reply, Scrubber(order.secrets)) or (None if source == order.source else _NO_PROVIDER)
    return RecordingResult(scenario=scenario.id, path=path, changed=changed, why=why)


_NO_PROVIDER: Final = (
    "answered by the suite's own strict provider: the cassette says so, and proves nothing about real ones"
)


def _source(order: Order, kept: list[Exchange]) -> Source:
    """Who answered. This may differ from the order: `art serve` may be listening at the URL."""
    name, value = MARK
    return "strict provider" if any(one.answer_headers.get(name) == value for one in kept) else order.source


def _is_reality(path: Path) -> bool:
    """Whether there is a cassette that a real provider or engine answered: it is worth more."""
    try:
        known = load_cassette(path).provenance
    except BadCassette:
        return False
    return known is not None and known.is_reality


def answerer_for(scenario: Scenario) -> Answerer:
    """What the strict provider answers: the scenario's answer, or whatever the request asks for."""
    return lambda asked: answer_strictly(asked, lambda _: scenario.answer or compose(asked))


def _explain_silence(reply: object, others: list[Exchange], dialect: Dialect, scrubber: Scrubber) -> str:
    if others:
        paths = ", ".join(sorted({scrubber.text(urlsplit(one.uri).path) for one in others}))
        wanted = " or ".join(dialect.service.base_path + ending for ending in dialect.service.endings)
        return f"it called {paths}, but requests of {dialect.name} go to a path like {wanted}"
    failure = _failure(reply, scrubber)
    if failure is not None:
        return f"there was no answer: {failure}; is the provider at the adapter's URL? {_SEEN}"
    return f"vcrpy saw no request, although the call was answered: {_SEEN}"


_SEEN: Final = (
    f"vcrpy {version('vcrpy')} sees httpx2, httpx, requests, urllib3, aiohttp, http.client, tornado and boto3, "
    "in this process"
)


def _failure(reply: object, scrubber: Scrubber) -> str | None:
    """Why a call failed; None if it did not."""
    if not isinstance(reply, Answered):
        return scrubber.text(str(reply))
    return None if reply.error is None else scrubber.text(str(reply.error.get("message")))


def _explain_unread(reply: object, scrubber: Scrubber) -> str | None:
    failure = _failure(reply, scrubber)
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
        versions=_versions(subject.class_name.partition(":")[0]) | ({"engine": order.engine} if order.engine else {}),
    )


def _versions(module: str) -> dict[str, str]:
    """The versions of Python, vcrpy, the clients in this process, and the adapter's distribution if it has one."""
    clients = [name for package, name in _CLIENTS.items() if package in sys.modules]
    names = ["vcrpy", *clients, *_distributions_of(module.partition(".")[0])]
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def _distributions_of(package: str) -> tuple[str, ...]:
    """The distributions that contain the package; reading the lists of files of all takes half a second."""
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
    "groq": "groq",
    "mistralai": "mistralai",
}
"""HTTP clients and provider SDKs, by package: besides the adapter, they shape the request."""
