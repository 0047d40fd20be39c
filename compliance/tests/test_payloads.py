"""The canonical payloads are what the reference adapters send, and mean what their scenarios say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from art_compliance.comparison import Expected, compare
from art_compliance.dialects import decode
from art_compliance.scenarios import load_scenarios
from art_sdk import parse_options, parse_prompt
from canonical_payloads import ADAPTERS, FOLDER, canonical_files, write_payloads

EXPECTED = dict(canonical_files())
SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
ADVICE = "run `make payloads` and review what changed"


def name_of(path: Path) -> str:
    return path.relative_to(path.parents[1]).as_posix()


def test_every_scenario_has_its_payloads_and_every_payload_its_scenario():
    found = set(FOLDER.glob("*/*.json"))
    missing = sorted(name_of(path) for path in EXPECTED.keys() - found)
    without_scenario = sorted(name_of(path) for path in found - EXPECTED.keys())
    assert (missing, without_scenario) == ([], []), (
        f"{FOLDER}: missing {missing}, without a scenario that is sent {without_scenario}; {ADVICE}"
    )


@pytest.mark.parametrize("path", EXPECTED, ids=name_of)
def test_a_canonical_payload_is_what_the_reference_adapter_sends(path: Path):
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert text == EXPECTED[path], f"{path} is not what the adapter sends; {ADVICE}"


@pytest.mark.parametrize("path", EXPECTED, ids=name_of)
def test_a_canonical_payload_means_what_its_scenario_says(path: Path):
    scenario, adapter = SCENARIOS[path.stem], ADAPTERS[path.parent.name]
    decoded = decode(adapter.dialect, json.loads(EXPECTED[path]))
    options = parse_options(scenario.call_options())
    expected = Expected(dialect=adapter.dialect, prompt=parse_prompt(scenario.prompt), tools=options.tools, options={})
    compared = compare(expected, decoded)
    assert {difference.loss for difference in compared.differences} <= adapter.losses
    assert compared.repairs <= adapter.repairs


def test_writing_adds_what_is_missing_and_deletes_what_has_no_scenario(tmp_path: Path):
    stray = tmp_path / "openai-chat" / "of-no-scenario.json"
    stray.parent.mkdir()
    stray.write_text("{}")
    write_payloads(tmp_path)
    written = {name_of(path): path.read_text(encoding="utf-8") for path in tmp_path.glob("*/*.json")}
    assert written == {name_of(path): text for path, text in EXPECTED.items()}
