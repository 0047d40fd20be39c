from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from art_compliance.findings import HarnessError
from art_compliance.scenarios import load_scenario, load_scenarios
from art_compliance.schemas import SCHEMAS, prompt_schema
from art_sdk import ARTError, parse_prompt

GOOD: dict[str, Any] = {
    "purpose": "A scenario for a test.",
    "prompt": [{"role": "user", "content": "hi"}],
    "outcomes": {"default": ["exact"]},
}


def test_every_scenario_has_an_id_of_its_own_and_a_purpose():
    scenarios = load_scenarios()
    assert len(scenarios) >= 25
    assert len({scenario.id for scenario in scenarios}) == len(scenarios)
    assert all(scenario.purpose.endswith(".") for scenario in scenarios)


def test_the_schemas_are_schemas():
    for make in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(make())


def test_every_prompt_of_a_scenario_is_valid_by_the_published_schema():
    validator = jsonschema.Draft202012Validator(prompt_schema())
    for scenario in load_scenarios():
        assert list(validator.iter_errors(scenario.prompt)) == [], scenario.id


def test_a_prompt_that_breaks_the_rules_of_conversations_may_be_refused():
    broken = [scenario for scenario in load_scenarios() if not is_conversation(scenario.prompt)]
    assert len(broken) > 40
    for scenario in broken:
        for dialect, outcomes in scenario.outcomes.items():
            assert "refused:PROMPT_TRANSLATION_FAILED" in outcomes, (scenario.id, dialect)


def is_conversation(prompt: Any) -> bool:
    """Whether the prompt keeps the rules that docs/format.md lists."""
    try:
        parse_prompt(prompt, conversation=True)
    except ARTError:
        return False
    return True


@pytest.mark.parametrize(
    "prompt",
    [
        [{"role": "user"}],
        [{"role": "user", "content": 5}],
        [{"role": "robot", "content": "x"}],
        [{"role": "user", "content": "x", "mood": "good"}],
        [{"role": "tool_result", "content": "x"}],
        [{"role": "tool", "tool_call_id": "", "content": "x"}],
        [{"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]}],
        {"role": "user", "content": "x"},
    ],
)
def test_the_published_schema_rejects_what_the_types_reject(prompt: Any):
    assert list(jsonschema.Draft202012Validator(prompt_schema()).iter_errors(prompt))
    with pytest.raises(ARTError):
        parse_prompt(prompt)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"purpose": None}, r"\$\.purpose: None is not of type 'string'"),
        ({"prompt": "hi"}, r"\$\.prompt: 'hi' is not of type 'array'"),
        ({"mood": 1}, r"'mood' was unexpected"),
        ({"outcomes": {}}, r"\$\.outcomes: {} should be non-empty"),
        ({"outcomes": {"openai-chat": ["exact"]}}, r"\$\.outcomes: the key 'default' is missing"),
        ({"outcomes": {"default": ["repair:magic"]}}, r"\$\.outcomes\.default\[0\]: 'repair:magic' does not match"),
        ({"needs": ["wings"]}, r"\$\.needs\[0\]: 'wings' is not one of"),
        ({"prompt": [{"role": "user"}]}, r"\$\.prompt: \$\[0\]\.content: missing required field"),
        ({"options": {"temprature": 1}}, r"\$\.options: bad call options: \$\.temprature: unknown field"),
    ],
)
def test_the_error_of_a_bad_scenario_names_file_and_field(tmp_path: Path, change: dict[str, Any], message: str):
    path = tmp_path / "bad-one.json"
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(HarnessError, match=f"scenario file .*bad-one.json: .*{message}"):
        load_scenario(path)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "is not JSON: .* line 1"), ("[]", r"\$: \[\] is not of type 'object'")]
)
def test_a_file_without_a_json_object_is_an_error(tmp_path: Path, text: str, message: str):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(HarnessError, match=message):
        load_scenario(path)


def test_a_missing_file_is_an_error(tmp_path: Path):
    with pytest.raises(HarnessError, match=r"gone\.json: cannot be read: No such file"):
        load_scenario(tmp_path / "gone.json")


def test_a_folder_without_scenarios_is_an_error(tmp_path: Path):
    with pytest.raises(HarnessError, match="there are no scenario files in"):
        load_scenarios(tmp_path)


def test_an_id_that_is_used_twice_is_an_error(tmp_path: Path):
    for group in ("one", "two"):
        (tmp_path / group).mkdir()
        (tmp_path / group / "same.json").write_text(json.dumps(GOOD))
    with pytest.raises(HarnessError, match="'same' is used in the groups one and two"):
        load_scenarios(tmp_path)


def test_a_file_name_that_cannot_be_an_id_is_an_error(tmp_path: Path):
    path = tmp_path / "Not An Id.json"
    path.write_text(json.dumps(GOOD))
    with pytest.raises(HarnessError, match="the file's name is the scenario's id and must match"):
        load_scenario(path)


def test_a_relative_folder_is_that_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("one", "two"):
        folder = tmp_path / name / "mine"
        folder.mkdir(parents=True)
        scenario = {
            "purpose": "A scenario of mine.",
            "prompt": [{"role": "user", "content": "hi"}],
            "outcomes": {"default": ["exact"]},
        }
        (folder / f"{name}.json").write_text(json.dumps(scenario))
        monkeypatch.chdir(tmp_path / name)
        assert [one.id for one in load_scenarios(Path("mine"))] == [name]
