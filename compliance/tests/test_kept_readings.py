"""How payloads are read and what the rules say of them, to the letter: words and places that adapter authors see.

Kept by syrupy; after a change that is meant, `pytest compliance/tests/test_kept_readings.py --snapshot-update`.
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

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

PAYLOADS = data_folder("fixtures") / "judges"

URLS = {"gemini-generate": "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"}
"""Where a dialect keeps something in the URL."""


def cases(dialect: str, kind: str) -> list[dict[str, Any]]:
    return json.loads((PAYLOADS / dialect / f"{kind}.json").read_text(encoding="utf-8"))


def reading(dialect: str, payload: Any, *, whole: bool) -> Any:
    """What was read, or what of it could not be: of a wrong payload only what has no slot."""
    try:
        found = decode(dialect, payload, url=URLS.get(dialect))
    except DecodeFailed as error:
        return f"{error.pointer}: {error}"
    if not whole:
        return sorted(found.opaque)
    return msgspec.to_builtins([found.prompt, found.tools, found.options, found.places, found.opaque])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_payload_is_read_as_it_was(dialect: str, snapshot: SnapshotAssertion):
    told = {case["id"]: reading(dialect, case["payload"], whole=True) for case in cases(dialect, "good")}
    told |= {case["id"]: reading(dialect, case["payload"], whole=False) for case in cases(dialect, "wrong")}
    assert {name: found for name, found in told.items() if found} == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_rule_says_what_it_said(dialect: str, snapshot: SnapshotAssertion):
    told: dict[str, list[str]] = {}
    for name, example in load_examples(dialect).items():
        if len(str(example.breaks)) < 20_000:
            found = judge_rules(dialect, unfold(example.breaks), url=example.url)
            told[name] = [f"{one.pointer}: {one.message}" for one in found]
    for case in cases(dialect, "wrong"):
        found = judge_rules(dialect, case["payload"], url=URLS.get(dialect))
        told[case["id"]] = [f"{one.pointer}: {one.message}" for one in found]
    assert {name: found for name, found in told.items() if found} == snapshot(extension_class=JSONSnapshotExtension)
