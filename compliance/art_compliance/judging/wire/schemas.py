"""Loads the wire schemas and judges by them: offline, in microseconds, without an SDK."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any, Final, NamedTuple, cast

from jsonschema_rs import Draft202012Validator
from msgspec import Struct

from art_compliance.dialects import find_dialect
from art_compliance.dialects.ruling import JudgedRequest
from art_compliance.findings import MOST_FINDINGS, Finding, HarnessError, Severity, note_of_more
from art_compliance.judging.wire.allowances import assess, is_answered
from art_compliance.judging.wire.explain import Mismatch, explain
from art_compliance.judging.wire.pieces import Piece, split
from art_compliance.judging.wire.shaping import Schema
from art_compliance.resources import data_folder
from art_sdk.sendable import Unsendable, find_unsendable, is_surely_sendable

CHECK: Final = "wire.request-matches-the-schema"


class WireSchema(Struct, frozen=True):
    """A schema with its source, ready to judge. `name` is a dialect's, or one with `.answer` or `.stream`."""

    name: str
    schema: Schema
    source: str
    validator: Draft202012Validator

    def mismatches(self, payload: Any) -> list[Mismatch]:
        """Everything that does not match the schema, each mismatch once, as `iter_mismatches` finds it."""
        return list(self.iter_mismatches(payload))

    def iter_mismatches(self, payload: Any, *, is_sendable: bool = False) -> Iterator[Mismatch]:
        """What does not match the schema, found as it is asked for. The payload is JSON data.

        Half a surrogate pair, which a stream may have, counts as a character. Beyond `DEPTH_LIMIT`, nothing is judged.
        The caller knows if the payload `is_sendable`: to find out costs as much as to judge.
        """
        unsendable = None if is_sendable or is_surely_sendable(payload) else find_unsendable(payload)
        if unsendable is not None:
            payload = _without_surrogates(payload)
            if find_unsendable(payload) is not None:
                yield Mismatch("", f"{unsendable.path}: {unsendable.reason}, so the schema does not judge it", "depth")
                return
        if not self.validator.is_valid(payload):
            yield from self._explained(payload)

    def _explained(self, payload: Any) -> Iterator[Mismatch]:
        """Each mismatch once. The whole comes last: a union of two lists accepts pieces that it refuses together."""
        seen: set[tuple[str, str]] = set()
        for piece in chain(split(payload), [Piece(payload)]):
            if (seen and piece.value is payload) or self.validator.is_valid(piece.value):
                continue
            for mismatch in explain(self.validator.iter_errors(piece.value), self.schema, piece, payload):
                if (mismatch.pointer, mismatch.message) not in seen:
                    seen.add((mismatch.pointer, mismatch.message))
                    yield mismatch


def _without_surrogates(payload: Any) -> Any:
    try:
        text = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(text)
    except (ValueError, RecursionError):
        return payload


def judge_wire(
    dialect: str,
    payload: object,
    *,
    model: str | None = None,
    url: str | None = None,
    is_sendable: bool = False,
) -> list[Finding]:
    """What does not match the dialect's schema in a request's body; `url` adds what its host is known to accept.

    What is accepted may depend on the model; `model` helps where neither the body nor the URL names it.
    The caller may know that the payload `is_sendable`, as what was read from JSON text mostly is.
    Raises HarnessError for a dialect without a schema.
    """
    known = load_schema(dialect)
    data = payload
    if not is_sendable and not is_surely_sendable(payload):
        unsendable = find_unsendable(payload)
        if unsendable is not None:
            return [_unsent(unsendable)]
        data = cast("object", json.loads(json.dumps(payload)))  # subclasses of JSON's types become plain
    second = find_dialect(dialect).requests.wider_schema
    if second is None:
        if known.validator.is_valid(data):
            return []
        model = JudgedRequest(data, model, url).model
        return _collect(known, known.iter_mismatches(data, is_sendable=True), url, model).findings
    mismatches = list(islice(known.iter_mismatches(data, is_sendable=True), MOST_FINDINGS))
    if not mismatches:
        return []
    model = JudgedRequest(data, model, url).model
    wider = load_schema(f"{dialect}.{second.name}")
    collected = _collect(known, wider.iter_mismatches(data, is_sendable=True), url, model)
    notes = [_note(known, one, second.note) for one in mismatches if one.pointer not in collected.places]
    return [*collected.findings, *notes]


class _Collected(NamedTuple):
    findings: list[Finding]
    places: set[str]


def _collect(known: WireSchema, mismatches: Iterable[Mismatch], url: str | None, model: str | None) -> _Collected:
    """The first findings, and the places of all mismatches so far, those included that the host accepts."""
    findings: list[Finding] = []
    places: set[str] = set()
    for mismatch in mismatches:
        if len(findings) == MOST_FINDINGS:
            findings.append(note_of_more(CHECK, "the schema"))
            break
        finding = _finding(known, mismatch, url, model)
        findings += [] if finding is None else [finding]
        places.add(mismatch.pointer)
    return _Collected(findings, places)


def _unsent(unsendable: Unsendable) -> Finding:
    """A payload that is not JSON data. What is only too deep may be accepted, but no schema judges it."""
    message = f"the payload cannot be sent as JSON: {unsendable.reason}"
    if unsendable.is_too_deep:
        message = f"the payload is {unsendable.reason}, so the schema does not judge it"
    severity: Severity = "note" if unsendable.is_too_deep else "reject"
    return Finding(check=CHECK, finding_class="refused", message=message, severity=severity, path=unsendable.path)


def judge_answer(name: str, answer: object, *, url: str | None = None) -> list[Mismatch]:
    """What does not match the schema of that name in a recorded answer, or in one event of a stream.

    Differences that the host is known for are left out. Raises HarnessError as `load_schema` does.
    """
    mismatches = load_schema(name).mismatches(answer)
    return [mismatch for mismatch in mismatches if not is_answered(name, mismatch, url)]


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
        finding_class="refused",
        message=f"{mismatch.message} ({why})",
        severity="note",
        pointer=mismatch.pointer,
        source=known.source,
    )


def _finding(known: WireSchema, mismatch: Mismatch, url: str | None, model: str | None) -> Finding | None:
    """A mismatch as a finding, or None where the host accepts it."""
    assessed = assess(known.name, mismatch, url, model)
    if assessed is None:
        return None
    return Finding(
        check=CHECK,
        finding_class="refused",
        message=assessed.message,
        severity=assessed.severity,
        pointer=mismatch.pointer,
        source=assessed.evidence or known.source,
    )
