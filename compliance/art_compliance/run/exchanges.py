"""What went over the wire when a check found something, without keys and cut to a length that one can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.checks.base import Outcome
from art_compliance.findings import Finding, WireExchange
from art_compliance.provider.server import Served
from art_compliance.quoting import shorten
from art_compliance.subject.subject import Subject
from art_sdk import Secret

LONGEST: Final = 2_000
"""Characters of a body."""

_READ: Final = 4 * LONGEST
"""Bytes of a body that are looked at."""

_PRIVATE: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"}
)
_HIDDEN: Final = "(hidden)"


_MOST: Final = 3
"""Exchanges that the findings of one check show."""


def with_exchanges(outcome: Outcome, subject: Subject) -> Outcome:
    """The outcome, whose first findings have what went over the wire, each exchange once.

    A law over generated prompts looks at many of them, and its example says more than the last exchange.
    """
    shown: set[int] = set()
    findings: list[Finding] = []
    for finding, number in zip(outcome.findings, outcome.exchanges, strict=True):
        is_shown = finding.severity == "reject" and finding.example is None and len(shown) < _MOST
        served = subject.exchange(number) if is_shown and number is not None and number not in shown else None
        if served is not None and number is not None:
            shown.add(number)
        findings.append(finding if served is None else replace(finding, exchange=_shown(served, subject.secrets)))
    return replace(outcome, findings=tuple(findings))


def _shown(served: Served, secrets: Iterable[str]) -> WireExchange:
    request = served.request
    return exchange_of(
        (request.method, request.target, request.headers, request.body),
        (served.status, served.content_type, served.beginning),
        secrets,
    )


def exchange_of(
    request: tuple[str, str, Mapping[str, str], bytes], answer: tuple[int | None, str, bytes], secrets: Iterable[str]
) -> WireExchange:
    """The exchange of a request (method, URL, headers, body) and its answer (status, content type, body)."""
    (method, url, headers, body), (status, content_type, said), scrubber = request, answer, Scrubber(secrets)
    return WireExchange(
        method=method,
        url=scrubber.uri(url),
        headers={name: scrubber.text(value) if _is_shown(name, value) else _HIDDEN for name, value in headers.items()},
        body=_cut(body, scrubber),
        body_bytes=len(body),
        status=status,
        content_type=content_type,
        answer=_cut(said, scrubber),
    )


def _is_shown(name: str, value: str) -> bool:
    return name.lower() not in _PRIVATE and not isinstance(value, Secret)


def _cut(body: bytes, scrubber: Scrubber) -> str:
    """The beginning of a body. It is scrubbed before it is cut: half a key is a secret, too."""
    return shorten(scrubber.text(body[:_READ].decode("utf-8", "backslashreplace")), LONGEST)
