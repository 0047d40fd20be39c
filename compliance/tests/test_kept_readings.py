"""How payloads are decoded, what the rules say about them, word by word, and the other facts of each dialect.

Snapshots of syrupy. After an intended change: `pytest compliance/tests/test_kept_readings.py --snapshot-update`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from art_compliance import DecodeFailed, decode
from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.dialects.endpoints import ENDPOINTS
from art_compliance.judging.examples import load_examples, unfold
from art_compliance.judging.rulebook import judge_rules
from art_compliance.resources import data_folder

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

PAYLOADS = data_folder("fixtures") / "judges"

URLS = {"gemini-generate": "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"}
"""The URLs of dialects that keep a part of the request there."""


def cases(dialect: str, kind: str) -> list[dict[str, Any]]:
    return json.loads((PAYLOADS / dialect / f"{kind}.json").read_text(encoding="utf-8"))


def reading(dialect: str, payload: Any, *, whole: bool) -> Any:
    """What was decoded, or the error. Of a wrong payload, only what has no slot."""
    try:
        found = decode(dialect, payload, url=URLS.get(dialect))
    except DecodeFailed as error:
        return f"{error.pointer}: {error}"
    if not whole:
        return sorted(found.opaque)
    return msgspec.to_builtins([found.prompt, found.tools, found.options, found.places, found.opaque])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_payload_is_decoded_as_before(dialect: str, snapshot: SnapshotAssertion):
    readings = {case["id"]: reading(dialect, case["payload"], whole=True) for case in cases(dialect, "good")}
    readings |= {case["id"]: reading(dialect, case["payload"], whole=False) for case in cases(dialect, "wrong")}
    assert {name: found for name, found in readings.items() if found} == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_rules_say_the_same_as_before(dialect: str, snapshot: SnapshotAssertion):
    readings: dict[str, list[str]] = {}
    for name, example in load_examples(dialect).items():
        if len(str(example.breaks)) < 20_000:
            found = judge_rules(dialect, unfold(example.breaks), url=example.url, version=example.version)
            readings[name] = [f"{one.pointer}: {one.message}" for one in found]
    for case in cases(dialect, "wrong"):
        found = judge_rules(dialect, case["payload"], url=URLS.get(dialect))
        readings[case["id"]] = [f"{one.pointer}: {one.message}" for one in found]
    assert {name: found for name, found in readings.items() if found} == snapshot(extension_class=JSONSnapshotExtension)


def facts(value: Any) -> Any:
    """A struct, a mapping or a sequence as JSON, without functions: their results are tested elsewhere."""
    match value:
        case msgspec.Struct():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            return facts({name: one for name, one in fields.items() if not callable(one)})
        case Mapping():
            return {str(key): facts(one) for key, one in value.items()}
        case AbstractSet():
            return sorted(map(facts, value), key=json.dumps)
        case tuple() | list():
            return [facts(one) for one in value if not callable(one)]
        case bytes():
            return value.decode("latin-1")
        case re.Pattern():
            return value.pattern
        case float() | int() | str() | None:
            return value
    raise TypeError(f"a fact of an unknown kind: {value!r}")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_facts_of_a_dialect_are_as_before(dialect: str, snapshot: SnapshotAssertion):
    assert facts(DIALECTS[dialect]) == snapshot(extension_class=JSONSnapshotExtension)


def differing(own: Any, usual: Any) -> Any:
    """What a service's own facts add to the usual ones, or say otherwise."""
    if not isinstance(own, dict) or not isinstance(usual, dict):
        return own
    return {name: differing(one, usual.get(name)) for name, one in own.items() if one != usual.get(name)}


def test_the_facts_of_the_services_are_as_before(snapshot: SnapshotAssertion):
    kept = {
        f"{one.service}, {one.dialect}": {
            name: differing(facts(value), facts(DIALECTS[one.dialect])) if isinstance(value, Dialect) else facts(value)
            for name in one.__struct_fields__
            for value in [getattr(one, name)]
        }
        for one in ENDPOINTS
    }
    assert kept == snapshot(extension_class=JSONSnapshotExtension)
