"""How payloads are decoded and what the rules say about them, word by word, as adapter authors see it.

Snapshots of syrupy. After an intended change: `pytest compliance/tests/test_kept_readings.py --snapshot-update`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from art_compliance import DecodeFailed, decode
from art_compliance.dialects import DIALECTS
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
