"""The kept schemas, and judging by them: offline, in microseconds, without an SDK."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final, cast

from jsonschema_rs import Draft202012Validator
from msgspec import Struct

from art_compliance.dialects import find_dialect
from art_compliance.findings import Finding, HarnessError
from art_compliance.judging.wire.allowances import is_answered, settle
from art_compliance.judging.wire.explain import Fault, explain
from art_compliance.judging.wire.shaping import Schema
from art_compliance.resources import data_folder
from art_sdk.json_data import find_unsendable, is_surely_sendable

CHECK: Final = "wire.request-is-of-the-schema"


class Kept(Struct, frozen=True):
    """A schema with its source, ready to judge: `name` is a dialect, or a dialect with `.answer` or `.stream`."""

    name: str
    schema: Schema
    source: str
    validator: Draft202012Validator

    def faults(self, payload: Any) -> list[Fault]:
        """Everything that is not of the schema. The payload is JSON data."""
        if self.validator.is_valid(payload):
            return []
        return explain(self.validator.iter_errors(payload), self.schema)


def judge_wire(dialect: str, payload: object, *, model: str | None = None, url: str | None = None) -> list[Finding]:
    """What the schema of a dialect finds wrong with a request's body; with `url`, by what that host is known to take.

    Raises HarnessError for a dialect that no schema is kept for. `model` means nothing to a schema.
    """
    del model
    known = kept(dialect)
    data = payload
    if not is_surely_sendable(payload):
        unsendable = find_unsendable(payload)
        if unsendable is not None:
            message = f"the payload cannot be sent as JSON: {unsendable.reason}"
            return [Finding(check=CHECK, message=message, path=unsendable.path)]
        data = cast("object", json.loads(json.dumps(payload)))  # of types derived from JSON's own
    faults = known.faults(data)
    second = find_dialect(dialect).requests.wider_schema
    if not faults or second is None:
        return [finding for fault in faults if (finding := _finding(known, fault, url)) is not None]
    wider, why = kept(f"{dialect}.{second.name}"), second.note
    refused = wider.faults(data)
    places = {fault.pointer for fault in refused}
    notes = [_note(known, fault, why) for fault in faults if fault.pointer not in places]
    found = [finding for fault in refused if (finding := _finding(known, fault, url)) is not None]
    return [*found, *(note for note in notes if note.pointer not in {finding.pointer for finding in found})]


def judge_answer(name: str, answer: object, *, url: str | None = None) -> list[Fault]:
    """What is not of the schema of that name in a recorded answer, or in one item of a streamed one.

    What that host is known to answer beyond its types is left out. Raises HarnessError as `kept` does.
    """
    return [fault for fault in kept(name).faults(answer) if not is_answered(name, fault, url)]


@cache
def kept(name: str) -> Kept:
    """The kept schema of that name. Raises HarnessError with the names that there are."""
    path = data_folder("fixtures") / "wire" / f"{name}.schema.json"
    if not path.is_file():
        message = f"there is no wire schema of {name!r}; known: {', '.join(kept_names())}"
        raise HarnessError(message)
    schema = json.loads(path.read_text(encoding="utf-8"))
    sources = schema["provenance"]["sources"]
    told = " and ".join(f"{source['package']} {source['version']}, {source['module']}" for source in sources)
    if "overlay" in schema["provenance"]:
        told += f", and what is laid over it for {name.partition('.')[0]}"
    return Kept(name, schema, told, Draft202012Validator(schema))


@cache
def kept_names() -> tuple[str, ...]:
    """The dialects whose requests can be judged."""
    files = (data_folder("fixtures") / "wire").glob("*.schema.json")
    names = (path.name.removesuffix(".schema.json") for path in files)
    return tuple(sorted(name for name in names if "." not in name))


def _note(known: Kept, fault: Fault, why: str) -> Finding:
    return Finding(
        check=CHECK, message=f"{fault.message} ({why})", severity="note", pointer=fault.pointer, source=known.source
    )


def _finding(known: Kept, fault: Fault, url: str | None) -> Finding | None:
    """A fault as a finding, or None where the host takes it as it is."""
    settled = settle(known.name, fault, url)
    if settled is None:
        return None
    return Finding(
        check=CHECK,
        message=settled.message,
        severity=settled.severity,
        pointer=fault.pointer,
        source=settled.evidence or known.source,
    )
