"""Every case of `fixtures/blueprints`, which assemblers in any language must pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chevron
import pytest

from art_sdk import FRAGMENTS, PromptAssemblyFailed, PromptManager, dump_prompt, parse_prompt
from art_sdk.agents.pes import PES_PLAN, PES_SYNTHESIZE
from row_tables import table

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "blueprints"
GROUPS: dict[str, list[dict[str, Any]]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["cases"] for path in sorted(FOLDER.glob("*.json"))
}
CASES = {case["id"]: case for cases in GROUPS.values() for case in cases}
RIGHT = [pytest.param(case, id=id_) for id_, case in CASES.items() if "prompt" in case]
WRONG = [pytest.param(case, id=id_) for id_, case in CASES.items() if "error" in case]

KEYS = {"id", "purpose", "blueprint", "context"}
OPTIONAL = {"name", "partials", "strict"}


def assemble(case: dict[str, Any]) -> list[dict[str, Any]]:
    options = {key: case[key] for key in OPTIONAL & case.keys()}
    return dump_prompt(PromptManager({}).assemble_prompt(case["blueprint"], case["context"], **options))


def assemble_naively(case: dict[str, Any]) -> list[dict[str, Any]]:
    return json.loads(chevron.render(case["blueprint"], case["context"], partials_dict=case.get("partials", {})))


@table("case", RIGHT)
def test_a_case_makes_its_prompt(case: dict[str, Any]):
    assert assemble(case) == dump_prompt(parse_prompt(case["prompt"]))


@table("case", WRONG)
def test_a_case_raises_its_error(case: dict[str, Any]):
    with pytest.raises(PromptAssemblyFailed) as caught:
        assemble(case)
    error = caught.value
    found = {**error.details, "name": error.code, "message": error.message}
    assert {key: found.get(key) for key in case["error"]} == case["error"]


def test_every_group_has_its_cases():
    assert len(CASES) == sum(map(len, GROUPS.values())) >= 60
    assert len(GROUPS["ordinary"]) == 8
    assert len(GROUPS["hostile"]) >= 50


@table("case", CASES.values(), ids=CASES)
def test_a_case_has_the_documented_keys_and_one_result(case: dict[str, Any]):
    assert case.keys() - OPTIONAL in (KEYS | {"prompt"}, KEYS | {"error"})
    assert case.get("error", {}).keys() <= {"name", "message", "tag", "line", "within", "index"}
    assert case["purpose"].endswith(".")


def test_the_cases_of_agents_are_the_blueprints_that_they_have_today():
    for case in GROUPS["agents"]:
        own = {"pes-plan": PES_PLAN, "pes-synthesize": PES_SYNTHESIZE}
        blueprint = next((text for name, text in own.items() if case["id"].startswith(name)), None)
        assert blueprint is None or (case["blueprint"], case["partials"]) == (blueprint, FRAGMENTS)


def test_naive_mustache_gets_two_of_the_eight_ordinary_cases_right():
    wrong = {case["id"] for case in GROUPS["ordinary"] if not survives(case)}
    assert wrong == {
        "double-quote",
        "newline",
        "backslash",
        "ampersand-and-less",
        "two-line-system-prompt",
        "two-tools",
    }


def test_naive_mustache_lets_hostile_values_through():
    hostile = [case for case in GROUPS["hostile"] if isinstance(case["blueprint"], str)]
    wrong = [case["id"] for case in hostile if not survives(case)]
    assert len(wrong) > len(hostile) // 2
    assert {"text-ends-in-backslash", "text-line-feed", "value-html", "key-doubled-by-data"} <= set(wrong)


def test_naive_mustache_without_escaping_lets_data_inject_messages():
    case = CASES["text-closes-the-message"]
    injected = assemble_naively(case | {"blueprint": case["blueprint"].replace("{{q}}", "{{{q}}}")})
    assert [message["content"] for message in injected] == ["S", "<", "pwned>"]


def survives(case: dict[str, Any]) -> bool:
    """Whether naive rendering ends as the case says: with that prompt or with an error."""
    try:
        found = assemble_naively(case)
    except Exception:  # noqa: BLE001 - whatever chevron and json raise
        return "error" in case
    return found == case.get("prompt")
