"""Where nobody can say what a provider would do: findings that would be refusals become notes that say why.

A request line alone, as the suite's own provider has it, leaves no doubt; a URL with a host, or none, may come from a
recording, which may be of another format, of an unknown host, or altered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from art_compliance.dialects import find_dialect
from art_compliance.dialects.urls import host_of, path_of
from art_compliance.findings import Finding
from art_compliance.judging.wire.schemas import CHECK
from art_compliance.pointers import look_up
from art_sdk.json_data import is_object

_BASE: Final = re.compile(r"(/[\w.-]*)?(/v\d\w*)?/?")
"""The path of a base URL: it names no call."""

_MASK: Final = re.compile(
    r"<[^<>]{1,60}>|\[[A-Z _-]{3,60}\]|\*{3,}|\W*(redacted|masked|scrubbed|filtered|removed|omitted)\W*", re.IGNORECASE
)
"""What recorders put in the place of a value."""


def doubt(dialect: str, payload: object, url: str | None, found: list[Finding]) -> list[Finding]:
    """The findings, with notes in the place of refusals that the recording does not bear out."""
    host = host_of(url)
    if url is not None and host is None:
        return found
    why = _why_another_format(dialect, payload, url, host)
    if why is not None:
        note = Finding(check=CHECK, finding_class="refused", message=why, severity="note")
        return [note, *map(_as_note, found)]
    return list(_without_masked(payload, found))


def _why_another_format(dialect: str, payload: object, url: str | None, host: str | None) -> str | None:
    """Why this may be no request of the format at all, or None."""
    known = find_dialect(dialect)
    if url is None or host is None:
        return None
    why = _why_another_path(dialect, url, host)
    history = known.requests.history.removeprefix("/")
    if why is None and not (is_object(payload) and history in payload) and not known.service.covers_host(host):
        return f"the body has no {history!r}, so it is not a request of {known.name}; {host} may accept it"
    return why


@lru_cache(maxsize=1024)
def _why_another_path(dialect: str, url: str, host: str) -> str | None:
    path = path_of(url)
    if find_dialect(dialect).service.takes(path) or _BASE.fullmatch(path):
        return None
    return f"{path} is not a path of {dialect}, so it is not known what {host} refuses there"


def _without_masked(payload: object, found: list[Finding]) -> Iterator[Finding]:
    for finding in found:
        if finding.severity == "reject" and _is_masked(payload, finding.pointer):
            yield _as_note(finding, " (a mask stands for the value: the request was altered after it was sent)")
        else:
            yield finding


def _is_masked(payload: Any, pointer: str | None) -> bool:
    value = look_up(payload, pointer or "")
    return isinstance(value, str) and _MASK.fullmatch(value) is not None


def _as_note(finding: Finding, more: str = "") -> Finding:
    if finding.severity != "reject":
        return finding
    return msgspec.structs.replace(finding, severity="note", message=f"{finding.message}{more}")
