"""Versions of a provider's API, which a header names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from art_compliance.dialects import find_dialect
from art_compliance.findings import Finding
from art_compliance.quoting import show

CHECK: Final = "wire.request-goes-to-the-right-endpoint"


def judge_version(dialect: str, version: str | None) -> Iterator[Finding]:
    """A note on a version that is not known here: it is wrong, or newer than the rules, which may not hold there."""
    access = find_dialect(dialect).service.access
    known = access.known_values.get(access.version_header or "", ())
    if version is not None and version not in known:
        names = f"known: {', '.join(known)}" if known else "this provider does not name versions in a header"
        message = f"unknown API version {show(version)}; {names}"
        yield Finding(check=CHECK, finding_class="refused", message=message, severity="note")
