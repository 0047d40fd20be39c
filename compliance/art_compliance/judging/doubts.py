"""Where nobody can say what a provider would do: findings that would be refusals become notes that say why.

A request line alone, as the suite's own provider has it, leaves no doubt; a URL with a host, or none, may come from a
recording, which may be of another format, of an unknown host, or altered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from art_compliance.dialects import Dialect, find_dialect
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
    known = find_dialect(dialect)
    why = _why_another_format(known, payload, url, host)
    if why is not None:
        note = Finding(check=CHECK, finding_class="refused", message=why, severity="note")
        return [note, *map(_as_note, found)]
    return list(_without_masked(payload, found))


def _why_another_format(dialect: Dialect, payload: object, url: str | None, host: str | None) -> str | None:
    """Why this may be no request of the format at all, or None."""
    path = path_of(url or "")
    if host is not None and not dialect.service.takes(path) and not _BASE.fullmatch(path):
        return f"{path} is not a path of {dialect.name}, so it is not known what {host} refuses there"
    history = dialect.requests.history.removeprefix("/")
    if host is not None and not dialect.service.covers(url) and not (is_object(payload) and history in payload):
        return f"the body has no {history!r}, so it is not a request of {dialect.name}; {host} may accept it"
    return None


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
