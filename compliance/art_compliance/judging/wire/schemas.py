"""Loads the wire schemas and judges by them: offline, in microseconds, without an SDK."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final, cast

from jsonschema_rs import Draft202012Validator
from msgspec import Struct

from art_compliance.dialects import find_dialect
from art_compliance.findings import Finding, HarnessError
from art_compliance.judging.wire.allowances import assess, is_answered
from art_compliance.judging.wire.explain import Mismatch, explain
from art_compliance.judging.wire.shaping import Schema
from art_compliance.resources import data_folder
from art_sdk.json_data import find_unsendable, is_surely_sendable

CHECK: Final = "wire.request-is-of-the-schema"


class WireSchema(Struct, frozen=True):
    """A schema with its source, ready to judge. `name` is a dialect's, or one with `.answer` or `.stream`."""

    name: str
    schema: Schema
    source: str
    validator: Draft202012Validator

    def mismatches(self, payload: Any) -> list[Mismatch]:
        """Everything that does not match the schema. The payload is JSON data."""
        if self.validator.is_valid(payload):
            return []
        return explain(self.validator.iter_errors(payload), self.schema)


def judge_wire(dialect: str, payload: object, *, model: str | None = None, url: str | None = None) -> list[Finding]:
    """What does not match the dialect's schema in a request's body; `url` adds what its host is known to accept.

    `model` has no effect. Raises HarnessError for a dialect without a schema.
    """
    del model
    known = load_schema(dialect)
    data = payload
    if not is_surely_sendable(payload):
        unsendable = find_unsendable(payload)
        if unsendable is not None:
            message = f"the payload cannot be sent as JSON: {unsendable.reason}"
            return [Finding(check=CHECK, message=message, path=unsendable.path)]
        data = cast("object", json.loads(json.dumps(payload)))  # subclasses of JSON's types become plain
    mismatches = known.mismatches(data)
    second = find_dialect(dialect).requests.wider_schema
    if not mismatches or second is None:
        return [finding for mismatch in mismatches if (finding := _finding(known, mismatch, url)) is not None]
    wider, why = load_schema(f"{dialect}.{second.name}"), second.note
    refused = wider.mismatches(data)
    places = {mismatch.pointer for mismatch in refused}
    notes = [_note(known, mismatch, why) for mismatch in mismatches if mismatch.pointer not in places]
    found = [finding for mismatch in refused if (finding := _finding(known, mismatch, url)) is not None]
    return [*found, *(note for note in notes if note.pointer not in {finding.pointer for finding in found})]


def judge_answer(name: str, answer: object, *, url: str | None = None) -> list[Mismatch]:
    """What does not match the schema of that name in a recorded answer, or in one event of a stream.

    Differences that the host is known for are left out. Raises HarnessError as `load_schema` does.
    """
    return [mismatch for mismatch in load_schema(name).mismatches(answer) if not is_answered(name, mismatch, url)]


@cache
def load_schema(name: str) -> WireSchema:
    """The schema of that name. Raises HarnessError, which lists the known names."""
    path = data_folder("fixtures") / "wire" / f"{name}.schema.json"
    if not path.is_file():
        raise HarnessError(f"unknown wire schema {name!r}; known: {', '.join(schema_names())}")
    schema = json.loads(path.read_text(encoding="utf-8"))
    sources = schema["provenance"]["sources"]
    source = " and ".join(f"{one['package']} {one['version']}, {one['module']}" for one in sources)
    if "overlay" in schema["provenance"]:
        source += f", with additions for {name.partition('.')[0]}"
    return WireSchema(name, schema, source, Draft202012Validator(schema))


@cache
def schema_names() -> tuple[str, ...]:
    """The dialects whose requests have a schema."""
    files = (data_folder("fixtures") / "wire").glob("*.schema.json")
    names = (path.name.removesuffix(".schema.json") for path in files)
    return tuple(sorted(name for name in names if "." not in name))


def _note(known: WireSchema, mismatch: Mismatch, why: str) -> Finding:
    return Finding(
        check=CHECK,
        message=f"{mismatch.message} ({why})",
        severity="note",
        pointer=mismatch.pointer,
        source=known.source,
    )


def _finding(known: WireSchema, mismatch: Mismatch, url: str | None) -> Finding | None:
    """A mismatch as a finding, or None where the host accepts it."""
    assessed = assess(known.name, mismatch, url)
    if assessed is None:
        return None
    return Finding(
        check=CHECK,
        message=assessed.message,
        severity=assessed.severity,
        pointer=mismatch.pointer,
        source=assessed.evidence or known.source,
    )
