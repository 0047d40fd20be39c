"""What providers accept beyond their published types: `fixtures/wire/allowances.toml`, one row per fact with evidence.

Many services speak OpenAI's dialect with fields of their own. Where the URL names the service, only its rows count;
where it names no host (the suite's own server), a field that any relative accepts is a note. A host that is not known
(a masked, a local or another one) is judged by the shape of the family alone; the rest is a note. Recorded answers
with fields that today's types lack have rows, too: the recordings are not wrong.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any, Final

import msgspec
from jsonschema_rs import Draft202012Validator
from msgspec import Struct

from art_compliance.dialects import find_dialect
from art_compliance.dialects.urls import host_of, is_one_of, model_of
from art_compliance.findings import Severity
from art_compliance.judging.wire.explain import Mismatch
from art_compliance.resources import data_folder

_SHAPE: Final = frozenset({"type", "anyOf"})
"""Mismatches that every service of a family refuses: a value of another JSON type. Other services may have fields,
words, limits and defaults of their own, so any other mismatch is a note there."""


class Row(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where (`*` matches any step of a JSON pointer, `**` any steps), what is allowed there, at which hosts, and why.

    `keyword` is the schema's keyword of the mismatch that is allowed. Without `hosts` it is allowed everywhere.
    """

    at: tuple[str, ...]
    not_at: tuple[str, ...] = ()
    evidence: str
    keyword: str = "additionalProperties"
    value: dict[str, Any] = {}
    hosts: tuple[str, ...] = ()

    def covers(self, mismatch: Mismatch) -> bool:
        """Whether the row is about this mismatch."""
        if mismatch.keyword != self.keyword or not _is_at(self.at, mismatch) or _is_at(self.not_at, mismatch):
            return False
        return Draft202012Validator(self.value).is_valid(mismatch.value)


class Allowance(Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a request may have. Without `hosts`, the finding gets the row's `severity`.

    `models` is a regular expression: the row is about requests to models that it finds. `model_in_url`: it is about
    services whose URLs name the model, and says nothing of a path that names none.
    """

    dialect: str
    severity: Severity = "note"
    message: str | None = None
    models: str | None = None
    model_in_url: bool = False

    def is_about(self, model: str | None, url: str | None) -> bool:
        """Whether the row is about requests to the model, and to the URL if that is a path alone."""
        is_path = url is not None and host_of(url) is None
        if self.model_in_url and is_path and model_of(url) is None:
            return False
        return self.models is None or (model is not None and re.search(self.models, model) is not None)


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


def assess(dialect: str, mismatch: Mismatch, url: str | None, model: str | None = None) -> Assessment | None:
    """How much a mismatch matters; None: the host is known to accept it."""
    host = host_of(url)
    rows = [row for row in _rows(dialect) if row.covers(mismatch) and row.is_about(model, url)]
    general = next((row for row in rows if not row.hosts), None)
    if general is not None:
        return Assessment(_explained(mismatch, general), general.severity, general.evidence)
    if host is not None and any(is_one_of(host, row.hosts) for row in rows):
        return None
    service = find_dialect(dialect).service
    if host is not None and is_one_of(host, (*service.hosts, *service.kin)):
        return Assessment(mismatch.message)
    if rows:
        message = f"{mismatch.message} (some services of this dialect accept it: {', '.join(rows[0].hosts)})"
        return Assessment(message, "note", rows[0].evidence)
    is_known = host is None and bool(service.hosts)
    if not is_known and not _is_of_the_family(dialect, mismatch):  # no published types describe this server
        return Assessment(f"{mismatch.message}; it is not known whether {host or 'the server'} accepts it", "note")
    return Assessment(mismatch.message)


def _explained(mismatch: Mismatch, row: Allowance) -> str:
    """What the row says of the mismatch; of an unknown field its name, too, which the row may not say."""
    if row.message is None or mismatch.keyword != "additionalProperties":
        return row.message or mismatch.message
    return f"{mismatch.message.partition('; known fields')[0]}: {row.message}"


def _is_of_the_family(dialect: str, mismatch: Mismatch) -> bool:
    """Whether the mismatch is about what makes a request one of this format at all, whoever takes it."""
    history = find_dialect(dialect).requests.history
    if mismatch.keyword != "required":
        may_be_null = mismatch.pointer not in ("", history)
        return mismatch.keyword in _SHAPE and not (mismatch.value is None and may_be_null)
    if not mismatch.pointer:
        return history[1:] not in mismatch.value
    return "role" not in mismatch.value and _matches(f"{history}/*", mismatch.pointer)


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
    names = (dialect, find_dialect(dialect).service.like)
    return tuple(row for row in load_rows().allowed if row.dialect in names)


@cache
def load_rows() -> Rows:
    """All rows of the file."""
    path = data_folder("fixtures") / "wire" / "allowances.toml"
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Rows)


def _is_at(patterns: tuple[str, ...], mismatch: Mismatch) -> bool:
    return any(_matches(pattern, mismatch.pointer) for pattern in patterns)


def _matches(pattern: str, pointer: str) -> bool:
    if pattern == "**":
        return True
    steps, found = pattern.split("/"), pointer.split("/")
    return len(steps) == len(found) and all(step in ("*", at) for step, at in zip(steps, found, strict=True))
