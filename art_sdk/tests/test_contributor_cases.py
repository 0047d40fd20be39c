"""Every case of `fixtures/contributors`, which implementations in any language must pass."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest

from art_sdk import ARTError, ToolSchema
from art_sdk.contributors import (
    AgentConfig,
    BuildOptions,
    DynamicContributorContext,
    Memory,
    SystemPrompt,
    build_system_prompt,
    load_contributors,
    open_memory,
    validate_agent_config,
)
from row_tables import table

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GROUPS: dict[str, Any] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((FIXTURES / "contributors").glob("*.json"))
}
CASES = {case["id"]: case for group in GROUPS.values() for case in group["cases"]}


class Manager:
    """A client manager with these tools; None fails."""

    def __init__(self, names: list[str] | None) -> None:
        self.names = names

    async def get_all_tools(self) -> Mapping[str, Any]:
        if self.names is None:
            raise OSError("no connection")
        return dict.fromkeys(self.names)


class Resources:
    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    async def read(self, uri: str) -> str:
        return self.texts[uri]


@pytest.mark.parametrize("id_", [id_ for id_, case in CASES.items() if "text" in case])
def test_a_case_gives_its_prompt(id_: str, tmp_path: Path):
    case = CASES[id_]
    prompt = anyio.run(build, case, tmp_path)
    assert prompt.text == case["text"]
    assert list(prompt.blocks()) == case.get("blocks", list(prompt.blocks()))
    assert prompt.errors == case.get("errors", {})


@pytest.mark.parametrize("id_", [id_ for id_, case in CASES.items() if "error" in case])
def test_a_case_gives_its_error(id_: str, tmp_path: Path):
    with pytest.raises(ARTError) as caught:
        anyio.run(build, CASES[id_], tmp_path)
    assert {"name": type(caught.value).__name__, "message": caught.value.message} == CASES[id_]["error"]


async def build(case: Mapping[str, Any], root: Path) -> SystemPrompt:
    config = validate_agent_config(case["config"])
    given = case["context"]
    for name, text in given.get("files", {}).items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    context = DynamicContributorContext(
        agent_config=config,
        client_manager=Manager(given["managedTools"]) if "managedTools" in given else None,
        now=lambda: datetime.fromisoformat(given["now"]),
        tools=tuple(ToolSchema(name, "A tool.", {}) for name in given["tools"]) if "tools" in given else None,
        memory=await remembering(config, given),
        resources=Resources(given.get("resources", {})),
        workspace=root,
        thread_id=given.get("threadId"),
        query=given.get("query", ""),
        extra=given.get("extra", {}),
    )
    prompt = config.llm.system_prompt
    assert prompt is not None
    return await build_system_prompt(load_contributors(prompt), context, options=BuildOptions.of(prompt))


async def remembering(config: AgentConfig, given: Mapping[str, Any]) -> Memory:
    memory = open_memory(config.memory)
    for text in given.get("memories", []):
        await memory.remember(given.get("threadId"), text)
    return memory


@pytest.mark.parametrize("name", GROUPS)
def test_the_files_have_the_published_schema(name: str):
    schema = json.loads((FIXTURES / "schemas" / "contributors.schema.json").read_text(encoding="utf-8"))
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(GROUPS[name])) == []


@table("id_", CASES)
def test_a_case_has_one_result_and_a_purpose(id_: str):
    assert ("text" in CASES[id_]) != ("error" in CASES[id_])
    assert CASES[id_]["purpose"].endswith(".")


def test_the_configurations_without_an_error_have_the_published_schema():
    schema = json.loads((FIXTURES / "schemas" / "agent.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    assert [id_ for id_, case in CASES.items() if "text" in case and not validator.is_valid(case["config"])] == []


def test_every_case_has_an_id_of_its_own():
    assert len(CASES) == sum(len(group["cases"]) for group in GROUPS.values()) >= 50
