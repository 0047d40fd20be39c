"""What the published types lack and providers take: `fixtures/wire/allowances.toml`, one row a fact, with its evidence.

The dialect of OpenAI is spoken by many services with fields of their own. Where the URL says which service it is,
that service's rows count; where it says nothing (the suite's own server), a field that any relative takes is a note.
"""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any, Final

import msgspec
from jsonschema_rs import Draft202012Validator
from msgspec import Struct

from art_compliance.dialects import find_dialect
from art_compliance.dialects.hosts import host_of, is_one_of
from art_compliance.findings import Severity
from art_compliance.resources import data_folder
from art_compliance.wire.explain import Fault

_MAY_BE_OF_ITS_OWN: Final = frozenset({"additionalProperties", "enum"})
"""Faults that a service whose types nobody published gets the benefit of the doubt for: its own fields and words,
and null for what is not used."""


class Allowance(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row: where (`*` is any step of a JSON pointer), what may stand there, at which hosts, and who says so.

    `keyword` is the schema's word for the fault that is forgiven. Without `hosts` every host takes it, and the
    finding has the row's `severity`.
    """

    dialect: str
    at: tuple[str, ...]
    evidence: str
    keyword: str = "additionalProperties"
    value: dict[str, Any] = {}
    hosts: tuple[str, ...] = ()
    severity: Severity = "note"
    message: str | None = None

    def covers(self, fault: Fault) -> bool:
        """Whether the fault is the one that the row is about."""
        if fault.keyword != self.keyword or not any(_matches(pattern, fault.pointer) for pattern in self.at):
            return False
        return Draft202012Validator(self.value).is_valid(fault.value)


class Settled(Struct, frozen=True):
    """What a fault comes to."""

    message: str
    severity: Severity = "reject"
    evidence: str | None = None


def settle(dialect: str, fault: Fault, url: str | None) -> Settled | None:
    """The fault with its weight, or None where the host is known to take it."""
    host = host_of(url)
    rows = [row for row in _rows(dialect) if row.covers(fault)]
    general = next((row for row in rows if not row.hosts), None)
    if general is not None:
        return Settled(general.message or fault.message, general.severity, general.evidence)
    if host is not None and any(is_one_of(host, row.hosts) for row in rows):
        return None
    if host is not None and is_one_of(host, find_dialect(dialect).hosts):
        return Settled(fault.message)
    if rows:
        told = f"{fault.message} (some services of this dialect take it: {', '.join(rows[0].hosts)})"
        return Settled(told, "note", rows[0].evidence)
    if host is not None and (fault.keyword in _MAY_BE_OF_ITS_OWN or fault.value is None):
        told = f"{fault.message}; whether {host} takes it is not known"  # no published types speak for it
        return Settled(told, "note")
    return Settled(fault.message)


@cache
def _rows(dialect: str) -> tuple[Allowance, ...]:
    text = (data_folder("fixtures") / "wire" / "allowances.toml").read_text(encoding="utf-8")
    rows = msgspec.convert(tomllib.loads(text)["allowed"], tuple[Allowance, ...])
    return tuple(row for row in rows if row.dialect == dialect)


def _matches(pattern: str, pointer: str) -> bool:
    steps, found = pattern.split("/"), pointer.split("/")
    return len(steps) == len(found) and all(step in ("*", at) for step, at in zip(steps, found, strict=True))
