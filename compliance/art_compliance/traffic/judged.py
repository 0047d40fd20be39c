"""Judges found requests, each by its own wire format."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.dialects import DIALECTS
from art_compliance.dialects.endpoints import ENDPOINTS
from art_compliance.findings import Finding
from art_compliance.judging import judge
from art_compliance.judging.exam import dialects_of
from art_compliance.judging.wire import schema_names
from art_compliance.traffic.found import Found, Item, Skipped, Unread


class Given(Struct, frozen=True, kw_only=True):
    """What the caller says of requests that do not say it themselves."""

    dialect: str | None = None
    url: str | None = None
    model: str | None = None
    version: str | None = None


class Judged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request's findings. Its URL has no keys in it."""

    where: str
    dialect: str
    url: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def is_rejected(self) -> bool:
        """Whether the provider would reject it."""
        return any(finding.severity == "reject" for finding in self.findings)


class Judgements(Struct, frozen=True, kw_only=True):
    """All judged requests, what could not be judged, and how many recorded requests there was nothing to judge in."""

    requests: tuple[Judged, ...]
    unread: tuple[Unread, ...]
    skipped: int

    @property
    def rejected(self) -> int:
        """How many requests the provider would reject."""
        return sum(one.is_rejected for one in self.requests)


def judge_all(items: Iterable[Item], given: Given) -> Judgements:
    """What a provider would say of each request. Raises HarnessError for an unknown dialect."""
    judged: list[Judged] = []
    unread: list[Unread] = []
    skipped = 0
    for item in items:
        one = _judge(item, given) if isinstance(item, Found) else item
        if isinstance(one, Judged):
            judged.append(one)
        elif isinstance(one, Unread):
            unread.append(one)
        else:
            skipped += 1
    return Judgements(requests=tuple(judged), unread=tuple(unread), skipped=skipped)


def _judge(found: Found, given: Given) -> Judged | Unread | Skipped:
    dialect = dialect_of(found, given)
    if dialect is None:
        return _unknown(found, given)
    findings = findings_of(found, dialect, given)
    shown = None if found.url is None else Scrubber().uri(found.url)
    return Judged(where=found.where, dialect=dialect, url=shown, findings=tuple(findings))


def findings_of(found: Found, dialect: str, given: Given) -> list[Finding]:
    """What a provider of the wire format would say of the request. Raises HarnessError for an unknown format."""
    header = DIALECTS[dialect].service.access.version_header if dialect in DIALECTS else None
    version = found.headers.get(header) if header else None
    url = found.url or given.url
    return judge(
        dialect, found.body, model=given.model, url=url, version=version or given.version, is_sendable=found.is_sendable
    )


def dialect_of(found: Found, given: Given) -> str | None:
    """That of the request's own URL or form; else the one that is named, or that of the URL that is named."""
    own = None if found.url is None else dialect_at(found.url)
    return own or found.dialect or given.dialect or (dialect_at(given.url) if given.url else None)


def _unknown(found: Found, given: Given) -> Unread | Skipped:
    """Why it is not judged: a body or a command is there to be judged, but a recording has requests to anybody."""
    known = f"known: {', '.join(schema_names())}"
    if found.url is None and given.url is None:
        return Unread(where=found.where, why=f"name the wire format with --dialect, or the URL with --url; {known}")
    if found.url is not None and found.is_recorded:
        return Skipped(where=found.where)
    url = Scrubber().uri(found.url or given.url or "")
    return Unread(where=found.where, why=f"the wire format of {url} is unknown; name it with --dialect; {known}")


def dialect_at(url: str) -> str | None:
    """The wire format of requests to a URL, the host's own if it has one; None where none is known."""
    known = dialects_of("", url)
    if known:
        return known[-1]
    maker = (one.dialect for one in ENDPOINTS if one.takes(url) and one.dialect.partition("-")[0] in url)
    return next(maker, None)  # Amazon and Google serve models of several makers at such paths: the model's name tells
