"""What the published types lack and providers take: `fixtures/wire/allowances.toml`, one row a fact, with its evidence.

The dialect of OpenAI is spoken by many services with fields of their own. Where the URL says which service it is,
that service's rows count; where it says nothing (the suite's own server), a field that any relative takes is a note.
What answers were recorded with, and the types of today do not know, stands there too: it is no mismatch of a recording.
"""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any, Final

import msgspec
from jsonschema_rs import Draft202012Validator
from msgspec import Struct

from art_compliance.dialects import find_dialect
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.findings import Severity
from art_compliance.judging.wire.explain import Mismatch
from art_compliance.resources import data_folder

_MAY_BE_OF_ITS_OWN: Final = frozenset({"additionalProperties", "enum"})
"""Mismatches that a service whose types nobody published gets the benefit of the doubt for: its own fields and words,
and null for what is not used."""


class Row(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where (`*` is any step of a JSON pointer), what may stand there, at which hosts, and who says so.

    `keyword` is the schema's word for the mismatch that is forgiven. Without `hosts` it is so everywhere.
    """

    at: tuple[str, ...]
    evidence: str
    keyword: str = "additionalProperties"
    value: dict[str, Any] = {}
    hosts: tuple[str, ...] = ()

    def covers(self, mismatch: Mismatch) -> bool:
        """Whether the mismatch is the one that the row is about."""
        if mismatch.keyword != self.keyword or not any(_matches(pattern, mismatch.pointer) for pattern in self.at):
            return False
        return Draft202012Validator(self.value).is_valid(mismatch.value)


class Allowance(Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a request may hold. Without `hosts` the finding has the row's `severity`."""

    dialect: str
    severity: Severity = "note"
    message: str | None = None


class Answering(Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an answer was recorded with, by the names of the schemas that it is not of."""

    schemas: tuple[str, ...]


class Rows(Struct, frozen=True, forbid_unknown_fields=True):
    """The file: of requests, and of answers."""

    allowed: tuple[Allowance, ...]
    answered: tuple[Answering, ...]


class Assessment(Struct, frozen=True):
    """What a mismatch comes to."""

    message: str
    severity: Severity = "reject"
    evidence: str | None = None


def assess(dialect: str, mismatch: Mismatch, url: str | None) -> Assessment | None:
    """The mismatch with its weight, or None where the host is known to take it."""
    host = host_of(url)
    rows = [row for row in _rows(dialect) if row.covers(mismatch)]
    general = next((row for row in rows if not row.hosts), None)
    if general is not None:
        return Assessment(general.message or mismatch.message, general.severity, general.evidence)
    if host is not None and any(is_one_of(host, row.hosts) for row in rows):
        return None
    if host is not None and is_one_of(host, find_dialect(dialect).service.hosts):
        return Assessment(mismatch.message)
    if rows:
        told = f"{mismatch.message} (some services of this dialect take it: {', '.join(rows[0].hosts)})"
        return Assessment(told, "note", rows[0].evidence)
    if host is not None and (mismatch.keyword in _MAY_BE_OF_ITS_OWN or mismatch.value is None):
        told = f"{mismatch.message}; whether {host} takes it is not known"  # no published types speak for it
        return Assessment(told, "note")
    return Assessment(mismatch.message)


def is_answered(schema: str, mismatch: Mismatch, url: str | None) -> bool:
    """Whether answers of that host are known to be so. Without a URL, whether those of any host are."""
    host = host_of(url)
    return any(
        row.covers(mismatch) and (host is None or not row.hosts or is_one_of(host, row.hosts))
        for row in load_rows().answered
        if schema in row.schemas
    )


@cache
def _rows(dialect: str) -> tuple[Allowance, ...]:
    return tuple(row for row in load_rows().allowed if row.dialect == dialect)


@cache
def load_rows() -> Rows:
    """Every row, as it is kept."""
    path = data_folder("fixtures") / "wire" / "allowances.toml"
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Rows)


def _matches(pattern: str, pointer: str) -> bool:
    steps, found = pattern.split("/"), pointer.split("/")
    return len(steps) == len(found) and all(step in ("*", at) for step, at in zip(steps, found, strict=True))
