"""The canonical payloads: written by the reference adapters, kept by syrupy, judged like any other request.

`pytest compliance/tests/test_payloads.py --snapshot-update` writes them; then they are read, and reviewed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from art_compliance.comparison import Expected, compare
from art_compliance.dialects import decode
from art_compliance.resources import data_folder
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.snapshots import NAMED_BY_SCENARIO, PayloadExtension, is_kept, parameters
from art_sdk import (
    AnthropicAdapter,
    BaseAdapter,
    GeminiAdapter,
    OpenAIAdapter,
    PromptTranslationFailed,
    parse_options,
    parse_prompt,
)

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

ADAPTERS: dict[str, BaseAdapter] = {
    adapter.dialect: adapter(api_key="no-key") for adapter in (AnthropicAdapter, GeminiAdapter, OpenAIAdapter)
}
PAYLOADS = data_folder("fixtures") / "payloads"


class CanonicalExtension(PayloadExtension):
    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(PAYLOADS / parameters(test_location)["dialect"])


def payload_of(dialect: str, scenario: Scenario) -> Any:
    """The reference adapter's payload, or None where it refuses or nobody would read it."""
    try:
        payload = ADAPTERS[dialect].translate(parse_prompt(scenario.prompt), parse_options(scenario.call_options()))
    except PromptTranslationFailed:
        return None
    return payload if is_kept(payload) else None


CASES = [
    pytest.param(dialect, scenario, id=f"{dialect}-{scenario.id}")
    for dialect in ADAPTERS
    for scenario in load_scenarios()
    if payload_of(dialect, scenario) is not None
]


@NAMED_BY_SCENARIO
@pytest.mark.parametrize(("dialect", "scenario"), CASES)
def test_a_reference_adapter_writes_the_canonical_payload(
    dialect: str, scenario: Scenario, snapshot: SnapshotAssertion
):
    assert payload_of(dialect, scenario) == snapshot(extension_class=CanonicalExtension)


def kept() -> list[Any]:
    return [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in sorted(PAYLOADS.glob("*/*.json"))]


def test_every_kept_payload_is_of_a_case():
    assert {param.id for param in kept()} == {case.id for case in CASES}


@pytest.mark.parametrize("path", kept())
def test_a_canonical_payload_says_what_its_scenario_says(path: Path):
    scenario = next(one for one in load_scenarios() if one.id == path.stem)
    adapter = ADAPTERS[path.parent.name]
    decoded = decode(adapter.dialect, json.loads(path.read_text(encoding="utf-8")))
    options = parse_options(scenario.call_options())
    expected = Expected(dialect=adapter.dialect, prompt=parse_prompt(scenario.prompt), tools=options.tools, options={})
    compared = compare(expected, decoded)
    assert {difference.loss for difference in compared.differences} <= adapter.losses
    assert compared.repairs <= adapter.repairs
