"""The form of the answers, from the schema manager and the executor."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from art_sdk.agents.browser import DecisionAction, Redactor, ResponseSchema, SchemaGenerationFailed, SchemaOptions
from art_sdk.agents.browser.response_form import FormReader
from art_sdk.agents.browser.schema import with_decision
from art_sdk.agents.browser.trace import Trace
from browser_agent import Executor, Schemas, action, manager


def read(*commands: str, executor: Executor | None = None) -> dict[str, Any]:
    """The JSON Schema of the form with these commands alone."""
    reader = FormReader(
        Schemas(),
        executor or Executor(),
        time_limit=5,
        falls_back=False,
        trace=Trace(lambda: 0.0, 1_000),
        redactor=Redactor({"pin": "hunter22"}),
    )
    return asyncio.run(reader.read(SchemaOptions(commands=commands or None), ())).schema.json_schema


def branches(schema: dict[str, Any]) -> dict[str, Any]:
    return {one["properties"]["action"]["const"]: one["properties"]["parameters"] for one in schema["oneOf"]}


def test_the_version_of_the_schema_is_the_one_that_its_manager_gives():
    prompt = asyncio.run(manager().generate_action_prompt(action()))
    assert (prompt.content.schema_section.schema_version, prompt.schema.version) == ("7", "2.1.0")


def test_only_the_commands_that_are_asked_for_are_branches():
    assert [*branches(read())] == ["click", "fill"]
    assert [*branches(read("fill"))] == ["fill"]
    assert read("fill")["properties"]["action"]["enum"] == ["fill"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["why", "action"], ["why", "decision", "action"]), (["why"], ["decision", "why"]), ([], ["decision"])],
)
def test_a_decision_is_made_before_the_action(names: list[str], expected: list[str]):
    given = {"type": "object", "properties": {key: {"type": "string"} for key in names}}
    schema = ResponseSchema(schema_id="x", version="1.0.0", json_schema=given)
    assert [*with_decision(schema, [*DecisionAction]).json_schema["properties"]] == expected


def test_a_command_that_the_executor_lacks_is_an_error_that_names_it():
    with pytest.raises(SchemaGenerationFailed, match="the executor has no command 'fly'"):
        read("fill", "fly")


def test_parameters_are_the_executor_s_or_else_those_of_the_definition_without_secrets():
    class Telling(Executor):
        async def get_parameter_schema(self, command: str) -> dict[str, Any] | None:
            return {"type": "object", "description": "not hunter22"} if command == "click" else None

    assert branches(read(executor=Telling())) == {
        "click": {"type": "object", "description": "not <secret>pin</secret>"},
        "fill": {"type": "object"},
    }


def test_a_schema_that_takes_too_long_is_not_waited_for():
    class Slow(Schemas):
        async def get_response_schema(self, options: Any = None) -> Any:
            await asyncio.Event().wait()

    config = {"timeouts": {"schemaMs": 1}}
    prompt = asyncio.run(manager(schemas=Slow(), config=config).generate_action_prompt(action()))
    assert (prompt.metadata or {})["fallbacks"] == ["basic_schema"]


def test_a_branch_is_the_whole_of_an_answer():
    schema = read()
    for branch in schema["oneOf"]:
        assert [*branch["properties"]] == [*schema["properties"]]
        assert (branch["type"], branch["required"]) == ("object", schema["required"])
