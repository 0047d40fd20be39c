"""Arguments that the strict provider makes fit the schema that they are made for."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from art_compliance.provider.values import make_value
from art_compliance.scenarios import load_scenarios
from row_tables import table

TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "next": {"$ref": "#/$defs/node"}},
    "required": ["kids"],
    "$defs": {"node": {"type": "object", "properties": {"on": {"$ref": "#/$defs/node"}}, "required": ["name"]}},
}
LINKED = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                "value": {"type": "integer"},
            },
            "required": ["next", "value"],
        }
    },
}
SCHEMAS: list[Any] = [
    {},
    True,
    {"type": "object"},
    {"const": 7},
    {"enum": ["b", "a"]},
    {"type": ["null", "integer"]},
    {"type": "string", "minLength": 30},
    {"type": "string", "maxLength": 2},
    {"type": "string", "pattern": "^[0-9]{3}$"},
    {"type": "string", "format": "date-time"},
    {"type": "integer", "minimum": 5, "maximum": 9, "multipleOf": 4},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    {"type": "integer", "maximum": -3},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "number", "maximum": -1.5},
    {"type": "number", "multipleOf": 5, "minimum": 1},
    {"type": "array", "minItems": 2, "items": {"type": "boolean"}},
    {"type": "array", "maxItems": 0, "items": {"type": "boolean"}},
    {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"enum": [1, 2, 3]}},
    {"type": "array", "prefixItems": [{"type": "null"}, {"type": "integer"}], "items": False},
    {"properties": {"a": {"type": "null"}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 2},
    {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}]},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "oneOf": [{"required": ["a"]}]},
    {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "integer"}}, "required": ["a"]}]},
    {"type": "object", "properties": {"o": {"type": "object", "required": ["x"]}}, "required": ["o"]},
    TREE,
    LINKED,
]
TOOLS = {
    f"{scenario.id}-{tool['name']}": tool["inputSchema"]
    for scenario in load_scenarios()
    for tool in scenario.options.get("tools", ())
    if scenario.id != "root-one-of"  # a value of one branch that is none of the other has to be found, not made
}


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_value_fits_its_schema(schema: Any):
    jsonschema.validate(make_value(schema), schema, format_checker=jsonschema.FormatChecker())


@table("schema", TOOLS.values(), ids=TOOLS)
def test_arguments_of_every_scenarios_tools_fit(schema: Any):
    jsonschema.validate(make_value(schema), schema)


ENDLESS = {"type": "object", "properties": {"on": {"$ref": "#"}}, "required": ["on"]}


@pytest.mark.parametrize("schema", [ENDLESS, {"allOf": [{"$ref": "#"}]}, {"type": "integer", "minimum": "3"}], ids=str)
def test_a_schema_without_values_gives_none_and_ends(schema: Any):
    assert make_value(schema) is None


def test_types_may_be_written_as_gemini_writes_them():
    assert make_value({"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}, "required": ["n"]}) == {"n": 1}
