"""The scenarios of the PES agent are the prompts that it builds today."""

from __future__ import annotations

from agent_scenarios import CASES, FOLDER, scenario_files


def test_the_scenarios_are_what_the_agent_builds():
    stale = [path.stem for path, text in scenario_files() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run `make payloads`, and review what changed"


def test_no_prompt_of_the_agent_is_written_by_hand():
    assert {path.stem for path in FOLDER.glob("pes-*.json")} == set(CASES)
