"""The response schema: the schema manager's, with the executor's commands and, after an action, the decision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from msgspec import structs

from art_sdk.agents.browser.errors import SchemaGenerationFailed
from art_sdk.agents.browser.models import (
    DecisionAction,
    ExamplesSection,
    PromptExample,
    ResponseSchema,
    SchemaSection,
)
from art_sdk.agents.browser.options import CommandDefinition
from art_sdk.json_data import is_object

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
BASIC_SCHEMA_ID: Final = "basic-action"


def basic_schema() -> ResponseSchema:
    """The schema that is used when there is no other: reasoning, action, parameters."""
    properties = {
        "reasoning": {"type": "string", "description": "Why this action, from what is on the page."},
        "action": {"type": "string", "description": "The command to execute."},
        "parameters": {"type": "object", "description": "The command's parameters."},
    }
    return ResponseSchema(
        schema_id=BASIC_SCHEMA_ID,
        version="1.0.0",
        json_schema={
            "$schema": _DRAFT,
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        },
    )


def with_decision(schema: ResponseSchema, actions: Sequence[DecisionAction]) -> ResponseSchema:
    """The schema with a required `decision`, before the action: engines keep to the order of the properties."""
    decision = {
        "type": "string",
        "enum": [str(one) for one in actions],
        "description": "What the last action calls for.",
    }
    examples = tuple({**one, "decision": str(actions[0])} for one in schema.examples)
    merged = _with_properties(schema, {"decision": decision}, ["decision"])
    ordered = _decided_first(merged.json_schema["properties"])
    json_schema = {**merged.json_schema, "properties": ordered}
    return structs.replace(merged, json_schema=json_schema, examples=examples)


def _decided_first(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties with the decision right before the action, if there is one."""
    names = [name for name in properties if name != "decision"]
    names.insert(names.index("action") if "action" in names else 0, "decision")
    return {name: properties[name] for name in names}


def with_commands(schema: ResponseSchema, commands: Sequence[CommandDefinition]) -> ResponseSchema:
    """The schema with one `oneOf` branch per command: the name of the action and the schema of its parameters."""
    if not commands:
        return schema
    names = {"type": "string", "enum": [one.name for one in commands]}
    merged = _with_properties(schema, {"action": names, "parameters": {"type": "object"}}, ["action", "parameters"])
    branches = [_branch(one, merged.json_schema) for one in commands]
    return structs.replace(merged, json_schema={**merged.json_schema, "oneOf": branches})


def _branch(command: CommandDefinition, root: Mapping[str, Any]) -> dict[str, Any]:
    """The whole of an answer with the command: engines hold a model to a branch, and not to what is next to it."""
    own = {"action": {"const": command.name}, "parameters": command.parameters or {"type": "object"}}
    branch: dict[str, Any] = {
        "type": "object",
        "properties": {name: own.get(name) or _undescribed(one) for name, one in root["properties"].items()},
        "required": root["required"],
    }
    if root.get("additionalProperties") is False:
        branch["additionalProperties"] = False
    return {"description": command.description, **branch} if command.description else branch


def _undescribed(schema: Any) -> Any:
    return {name: one for name, one in schema.items() if name != "description"} if is_object(schema) else schema


def _with_properties(schema: ResponseSchema, properties: Mapping[str, Any], required: Sequence[str]) -> ResponseSchema:
    root = schema.json_schema
    known = root.get("properties")
    merged = {
        **root,
        "properties": {**(known if is_object(known) else {}), **properties},
        "required": list(dict.fromkeys([*root.get("required", ()), *required])),
    }
    return structs.replace(schema, json_schema=merged)


@lru_cache(maxsize=64)
def _explain(text: bytes) -> str | None:
    """Why JSON text is not a JSON Schema."""
    try:
        Draft202012Validator.check_schema(msgspec.json.decode(text))
    except SchemaError as error:
        return f"not a JSON Schema: at '/{'/'.join(map(str, error.path)):.60}'"
    return None


def explain_schema(schema: Mapping[str, Any]) -> str | None:
    """Why the data is not a JSON Schema. None if it is one."""
    try:
        return _explain(msgspec.json.encode(schema))
    except (TypeError, ValueError, RecursionError):
        return "not JSON data"


def check_schema(schema: ResponseSchema) -> None:
    """Raises SchemaGenerationFailed unless it is a JSON Schema of an object."""
    if reason := explain_schema(schema.json_schema):
        raise SchemaGenerationFailed(f"the response schema is {reason}", context={"schema": schema.schema_id})
    if schema.json_schema.get("type") != "object":
        raise SchemaGenerationFailed(
            "the response schema must be of the type object", context={"schema": schema.schema_id}
        )


def schema_text(schema: ResponseSchema) -> str:
    """The schema as text for the prompt."""
    return json.dumps(schema.json_schema, ensure_ascii=False, indent=1)


def schema_section(schema: ResponseSchema, version: str) -> SchemaSection:
    """The section that describes the response schema."""
    required = schema.json_schema.get("required", ())
    rules = [
        "Answer with one JSON object and no other text.",
        f"Give every required property: {', '.join(required)}." if required else "All properties are optional.",
        "Use only elements that are in the outline of the page.",
    ]
    if "decision" in schema.json_schema.get("properties", {}):
        rules.append("Decide first: the action must follow from the decision.")
    return SchemaSection(
        schema=schema,
        schema_version=version,
        format_instructions="Answer with a JSON object that is valid against this JSON Schema:",
        rules=tuple(rules),
    )


def valid_only(schema: ResponseSchema) -> tuple[dict[str, Any], ...]:
    """The examples that the schema itself accepts."""
    return tuple(one for one in schema.examples if not violations(one, schema))


def violations(data: Any, schema: ResponseSchema) -> list[str]:
    """Where the data breaks the schema: path and keyword of each error, without the data itself."""
    validator: Any = Draft202012Validator(schema.json_schema)
    errors = sorted(validator.iter_errors(data), key=lambda one: list(map(str, one.path)))
    return [f"{one.json_path}: {_broken(one.validator, one.validator_value)}" for one in errors]


def _broken(keyword: object, expected: object) -> str:
    return f"breaks '{keyword}': {msgspec.json.encode(expected).decode():.200}"


def examples_section(schema: ResponseSchema) -> ExamplesSection | None:
    """A section with the schema's valid examples. None if it has no valid example."""
    outputs = valid_only(schema)
    if not outputs:
        return None
    examples = tuple(
        PromptExample(input=f"an answer of the form {schema.schema_id}", output=msgspec.json.encode(one).decode())
        for one in outputs
    )
    return ExamplesSection(examples=examples)


def read_reply(reply: str) -> Any:
    """A model's reply as data: JSON, fenced or not. Raises ValueError for other text."""
    try:
        return json.loads(_unfenced(reply))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def check_reply(reply: str, schema: ResponseSchema) -> tuple[str, ...]:
    """The errors in a model's reply. Empty for one JSON object, fenced or not, that is valid against the schema."""
    try:
        data = read_reply(reply)
    except ValueError as error:
        return (f"not JSON: {error}",)
    return tuple(violations(data, schema))


def _unfenced(reply: str) -> str:
    text = reply.strip()
    if text.startswith("```") and text.endswith("```"):
        return text[3:-3].removeprefix("json").strip()
    return text
