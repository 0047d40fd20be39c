"""What providers accept beyond their published types: `fixtures/wire/allowances.toml`, one row per fact with evidence.

Many services speak OpenAI's dialect with fields of their own. Where the URL names the service, only its rows count;
where it does not (the suite's own server), a field that any relative accepts is a note. Recorded answers with fields
that today's types lack have rows, too: the recordings are not wrong.
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
"""Mismatches that are only notes at a service without published types, which may have its own fields and words."""


class Row(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where (`*` matches any step of a JSON pointer), what is allowed there, at which hosts, and the evidence.

    `keyword` is the schema's keyword of the mismatch that is allowed. Without `hosts` it is allowed everywhere.
    """

    at: tuple[str, ...]
    evidence: str
    keyword: str = "additionalProperties"
    value: dict[str, Any] = {}
    hosts: tuple[str, ...] = ()

    def covers(self, mismatch: Mismatch) -> bool:
        """Whether the row is about this mismatch."""
        if mismatch.keyword != self.keyword or not any(_matches(pattern, mismatch.pointer) for pattern in self.at):
            return False
        return Draft202012Validator(self.value).is_valid(mismatch.value)


class Allowance(Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a request may have. Without `hosts`, the finding gets the row's `severity`."""

    dialect: str
    severity: Severity = "note"
    message: str | None = None


class Answering(Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What recorded answers have, by the names of the schemas that they do not match."""

    schemas: tuple[str, ...]


class Rows(Struct, frozen=True, forbid_unknown_fields=True):
    """The file: rows for requests and rows for answers."""

    allowed: tuple[Allowance, ...]
    answered: tuple[Answering, ...]


class Assessment(Struct, frozen=True):
    """How much a mismatch matters."""

    message: str
    severity: Severity = "reject"
    evidence: str | None = None


def assess(dialect: str, mismatch: Mismatch, url: str | None) -> Assessment | None:
    """How much a mismatch matters; None: the host is known to accept it."""
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
        message = f"{mismatch.message} (some services of this dialect accept it: {', '.join(rows[0].hosts)})"
        return Assessment(message, "note", rows[0].evidence)
    if host is not None and (mismatch.keyword in _MAY_BE_OF_ITS_OWN or mismatch.value is None):
        # no published types describe this host
        return Assessment(f"{mismatch.message}; it is not known whether {host} accepts it", "note")
    return Assessment(mismatch.message)


def is_answered(schema: str, mismatch: Mismatch, url: str | None) -> bool:
    """Whether answers of that host are known to have the mismatch; without a URL, of any host."""
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
    """All rows of the file."""
    path = data_folder("fixtures") / "wire" / "allowances.toml"
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Rows)


def _matches(pattern: str, pointer: str) -> bool:
    steps, found = pattern.split("/"), pointer.split("/")
    return len(steps) == len(found) and all(step in ("*", at) for step, at in zip(steps, found, strict=True))
