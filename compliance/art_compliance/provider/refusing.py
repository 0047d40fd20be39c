"""What the strict provider rejects: a wrong method, a missing key, a body that is not JSON, a bad request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from art_compliance.dialects.base import Denial
from art_compliance.findings import Finding
from art_compliance.judging import judge
from art_compliance.judging.rulebook import load_rules
from art_compliance.provider.asking import Asked
from art_compliance.provider.signatures import find_changed
from art_sdk.json_data import is_array, is_object

CHECK: Final = "provider.request-is-taken"

MOST_VALUES: Final = 50_000
"""The most JSON values in a body, keys aside: each may be wrong, and what is wrong with it takes time and memory."""


class Refusal(Struct, frozen=True):
    """The answer to a request that is refused: its status and text, and the findings behind it."""

    status: int
    words: str
    findings: tuple[Finding, ...] = ()


def refuse(asked: Asked) -> Refusal | None:
    """The first reason to refuse the request before it is judged, or None."""
    return next((refusal for look in _LOOKS if (refusal := look(asked)) is not None), None)


def refuse_listing(asked: Asked) -> Refusal | None:
    """As `refuse`, for a request for the models."""
    if asked.request.method not in {"GET", "HEAD"}:
        return _plain(405, f"the method {asked.request.method} is not allowed; use GET")
    return _key(asked) or _signature(asked) or _headers(asked)


def _method(asked: Asked) -> Refusal | None:
    if asked.request.method == "POST":
        return None
    return _plain(405, f"the method {asked.request.method} is not allowed; use POST")


def _values(asked: Asked) -> Refusal | None:
    if count_values(asked.payload, MOST_VALUES) <= MOST_VALUES:
        return None
    return _plain(413, f"the request body has more than {MOST_VALUES:,} JSON values, the limit of this server")


def _key(asked: Asked) -> Refusal | None:
    access = asked.access
    key = access.find_key(asked.request.headers, asked.request.target)
    if key is None:
        return _denied(access.no_key, f"the request has no key; {access.advice}")
    if not re.fullmatch(r"[!-~]+", key):
        return _denied(access.wrong_key, "the key is empty, or contains spaces or characters outside ASCII")
    return None


def _signature(asked: Asked) -> Refusal | None:
    verify, request = asked.access.verify, asked.request
    denial = None if verify is None else verify(request.method, request.target, request.headers, request.body)
    return None if denial is None else _denied(denial, denial.text)


def _headers(asked: Asked) -> Refusal | None:
    for name, denial in asked.access.headers.items():
        if name not in asked.request.headers:
            return _denied(denial, f"the header {name} is missing")
    return None


def _json(asked: Asked) -> Refusal | None:
    if asked.trouble is None:
        return None
    return _denied(asked.dialect.requests.not_json, f"the body is not JSON: {asked.trouble}")


def find_wrong(asked: Asked) -> tuple[Finding, ...]:
    """What is wrong with the body and with the signatures that come back. Raises HarnessError."""
    judged = judge(asked.dialect.name, asked.payload, url=asked.url, version=asked.version)
    return (*judged, *find_changed(asked.dialect, asked.payload))


def refuse_for(asked: Asked, findings: tuple[Finding, ...]) -> Refusal | None:
    """The refusal for these findings, with the text of the first one of severity `reject`, or None."""
    first = next((finding for finding in findings if finding.severity == "reject"), None)
    return None if first is None else Refusal(_status(asked.dialect.name, first), _words(first), findings)


_LOOKS: Final[tuple[Callable[[Asked], Refusal | None], ...]] = (_method, _key, _signature, _headers, _json, _values)


def _words(finding: Finding) -> str:
    """The provider's own text, if it is known, with the place and what is wrong there."""
    place = finding.pointer or finding.path or "the body"
    found = f"{place}: {finding.message}"
    return f"{finding.provider_text} [{found}]" if finding.provider_text else found


def _status(dialect: str, finding: Finding) -> int:
    return _statuses(dialect).get(finding.message.partition(":")[0], 400)


@cache
def _statuses(dialect: str) -> Mapping[str, int]:
    """The statuses of the rules that have one, by rule id."""
    return {rule.id: rule.status for rule in load_rules(dialect) if rule.status}


def count_values(payload: object, most: int) -> int:
    """How many values the JSON data has; it stops counting beyond `most`."""
    waiting, count = [payload], 0
    while waiting and count <= most:
        value = waiting.pop()
        count += 1
        if is_object(value):
            waiting.extend(value.values())
        elif is_array(value):
            waiting.extend(value)
    return count


def _plain(status: int, words: str) -> Refusal:
    return Refusal(status, words, (Finding(check=CHECK, finding_class="refused", message=words),))


def _denied(denial: Denial, message: str) -> Refusal:
    finding = Finding(check=CHECK, finding_class="refused", message=message, provider_text=denial.text)
    return Refusal(denial.status, denial.text, (finding,))
