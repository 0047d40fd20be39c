"""The canonical payloads are what the reference adapters send, and mean what their scenarios say."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from art_compliance.comparison import Comparison, Expected, compare
from art_compliance.dialects import decode
from art_compliance.scenarios import load_scenarios
from art_sdk import BaseAdapter, parse_options, parse_prompt
from canonical_payloads import ADAPTERS, FOLDER, WRITERS, canonical_files, write_payloads

SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
ADVICE = "run `make payloads` and review what changed"


@cache
def expected() -> dict[Path, str]:
    """The text of every canonical payload. No worker writes them all while it only collects tests."""
    return dict(canonical_files())


def name_of(path: Path) -> str:
    return path.relative_to(path.parents[1]).as_posix()


@pytest.mark.unmeasured
def test_every_scenario_has_its_payloads_and_every_payload_its_scenario():
    found = set(FOLDER.glob("*/*.json"))
    missing = sorted(name_of(path) for path in expected().keys() - found)
    without_scenario = sorted(name_of(path) for path in found - expected().keys())
    assert (missing, without_scenario) == ([], []), (
        f"{FOLDER}: missing {missing}, without a scenario that is sent {without_scenario}; {ADVICE}"
    )


@pytest.mark.unmeasured
@pytest.mark.parametrize("dialect", WRITERS)
def test_the_canonical_payloads_are_what_the_reference_adapter_sends(dialect: str):
    kept = {name_of(path): path.read_text(encoding="utf-8") for path in of(dialect) if path.is_file()}
    sent = {name_of(path): expected()[path] for path in of(dialect)}
    assert sorted(name for name, text in kept.items() if text != sent[name]) == [], ADVICE


@pytest.mark.parametrize("dialect", WRITERS)
def test_the_canonical_payloads_mean_what_their_scenarios_say(dialect: str):
    adapter = WRITERS[dialect]
    compared = {name_of(path): compare_with_scenario(path, adapter) for path in of(dialect)}
    undeclared = {
        name: ({difference.loss for difference in one.differences} - adapter.losses) | (one.repairs - adapter.repairs)
        for name, one in compared.items()
    }
    assert {name: what for name, what in undeclared.items() if what} == {}
    assert len(compared) > 200 or dialect not in ADAPTERS


def of(dialect: str) -> list[Path]:
    """The canonical payloads of a dialect, or those of a service that differ."""
    return [path for path in expected() if path.parent.name == dialect]


def compare_with_scenario(path: Path, adapter: BaseAdapter) -> Comparison:
    scenario = SCENARIOS[path.stem]
    decoded = decode(adapter.dialect, json.loads(expected()[path]))
    options = parse_options(scenario.call_options())
    wanted = Expected(
        dialect=adapter.dialect,
        prompt=parse_prompt(scenario.prompt),
        tools=options.tools,
        options={},
        declared=adapter.repairs,
    )
    return compare(wanted, decoded)


def test_writing_adds_what_is_missing_and_deletes_what_has_no_scenario(tmp_path: Path):
    stray = tmp_path / "openai-chat" / "of-no-scenario.json"
    stray.parent.mkdir()
    stray.write_text("{}")
    write_payloads(tmp_path)
    written = {name_of(path): path.read_text(encoding="utf-8") for path in tmp_path.glob("*/*.json")}
    assert written == {name_of(path): text for path, text in expected().items()}
