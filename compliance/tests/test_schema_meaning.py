"""Two schemas that mean the same are the same to the comparison; a change of meaning or of words is found."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.comparison.normal_form import same_json
from art_compliance.comparison.schemas import normal_schema
from trials import messages_of, scenario, translating

CITY = {"type": "object", "properties": {"city": {"type": "string", "description": "Where"}}, "required": ["city"]}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "at": {"type": "integer"}}}


def of(**properties: Any) -> dict[str, Any]:
    """A schema of an object with these properties."""
    return {"type": "object", "properties": properties}


SAME: dict[str, tuple[Any, Any]] = {
    "empty properties": ({"type": "object"}, {"type": "object", "properties": {}}),
    "nothing required": (of(a={"type": "string"}), {**of(a={"type": "string"}), "required": []}),
    "the order of what is required": ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    "additional properties of any kind": (CITY, {**CITY, "additionalProperties": True}),
    "additional properties with an empty schema": (CITY, {**CITY, "additionalProperties": {}}),
    "items of any kind": (of(a={"type": "array"}), of(a={"type": "array", "items": {}})),
    "the version of JSON Schema": (CITY, {"$schema": "https://json-schema.org/draft/2020-12/schema", **CITY}),
    "further items of one kind": (
        of(a={"type": "array", "items": {}, "additionalItems": False}),
        of(a={"type": "array"}),
    ),
    "a comment": (CITY, {**CITY, "$comment": "generated"}),
    "a title that repeats the property": (of(the_city={}), of(the_city={"title": "The City"})),
    "a constant": (of(a={"const": "x"}), of(a={"enum": ["x"]})),
    "the type of an enum": (of(a={"type": "string", "enum": ["x", "y"]}), of(a={"enum": ["y", "x"]})),
    "the types of an enum with null": (
        of(a={"enum": ["x", None]}),
        of(a={"type": ["null", "string"], "enum": ["x", None]}),
    ),
    "a list of one type": (of(a={"type": ["string"]}), of(a={"type": "string"})),
    "a choice between types": (
        of(a={"type": ["string", "null"]}),
        of(a={"anyOf": [{"type": "null"}, {"type": "string"}]}),
    ),
    "a choice of null": (
        of(a={"description": "d", "anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]}),
        of(a={"description": "d", "type": ["null", "string"], "maxLength": 9}),
    ),
    "a list of one subschema": (of(a={"type": "string"}), of(a={"allOf": [{"type": "string"}]})),
    "a whole number": (of(a={"type": "integer", "minimum": 1}), of(a={"type": "integer", "minimum": 1.0})),
    "no least length": (of(a={"type": "string"}), of(a={"type": "string", "minLength": 0})),
    "a reference": ({**of(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "string"}}}, of(a={"type": "string"})),
    "a reference with a description": (
        {**of(a={"$ref": "#/$defs/A", "description": "An a"}), "$defs": {"A": {"type": "string", "title": "A"}}},
        of(a={"type": "string", "description": "An a"}),
    ),
    "a definition that nothing refers to": (CITY, {**CITY, "$defs": {"A": {"type": "string"}}}),
    "a reference to itself": (
        {**of(a={"$ref": "#/$defs/Node"}), "$defs": {"Node": NODE}},
        {**of(a={"$ref": "#/$defs/Node"}), "$defs": {"Node": {**NODE, "$comment": "recursive"}, "Other": {}}},
    ),
    "everything": (of(a=True), of(a={})),
}

OTHER: dict[str, tuple[Any, Any]] = {
    "a dropped description": (CITY, {**CITY, "properties": {"city": {"type": "string"}}}),
    "a property that is no longer required": (CITY, {**CITY, "required": []}),
    "a property that is lost": (of(a={}, b={}), of(a={})),
    "a closed schema": (CITY, {**CITY, "additionalProperties": False}),
    "a title of its own": (of(a={"title": "Where to look"}), of(a={})),
    "a dropped default": (of(a={"default": 3}), of(a={})),
    "a dropped format": (of(a={"format": "date"}), of(a={})),
    "an enum that lost a value": (of(a={"enum": ["x", "y"]}), of(a={"enum": ["x"]})),
    "an enum of another type": (of(a={"enum": ["1"]}), of(a={"enum": [1]})),
    "true for one": (of(a={"enum": [True]}), of(a={"enum": [1]})),
    "a number for an integer": (of(a={"type": "integer"}), of(a={"type": "number"})),
    "further items of a tuple": (of(a={"items": [{}], "additionalItems": False}), of(a={"items": [{}]})),
    "at least one item": (of(a={"contains": {}}), of(a={})),
    "a property for a schema": (of(required={"type": "string"}), of()),
    "a definition that changed": (
        {**of(a={"$ref": "#/$defs/Node"}), "$defs": {"Node": NODE}},
        {**of(a={"$ref": "#/$defs/Node"}), "$defs": {"Node": {**NODE, "required": ["at"]}}},
    ),
    "a constraint beside a reference": (
        {**of(a={"$ref": "#/$defs/A", "maxLength": 3}), "$defs": {"A": {"type": "string", "maxLength": 9}}},
        {**of(a={"$ref": "#/$defs/A", "maxLength": 3}), "$defs": {"A": {"type": "string", "maxLength": 2}}},
    ),
    "a choice of null, and an enum without null": (
        of(a={"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]}),
        of(a={"type": ["string", "null"], "enum": ["x"]}),
    ),
    "a closed choice": (of(a={"oneOf": [{"type": "string"}] * 2}), of(a={"oneOf": [{"type": "string"}]})),
}


@pytest.mark.parametrize("what", SAME)
def test_schemas_of_one_meaning_have_one_normal_form(what: str):
    one, other = SAME[what]
    assert same_json(normal_schema(one), normal_schema(other))


@pytest.mark.parametrize("what", OTHER)
def test_schemas_of_two_meanings_have_two_normal_forms(what: str):
    one, other = OTHER[what]
    assert not same_json(normal_schema(one), normal_schema(other))


def test_a_schema_that_is_too_deep_or_too_large_stays_as_it_is():
    deep: Any = {}
    for _ in range(5_000):
        deep = {"items": deep}
    assert normal_schema(deep) is deep
    wide = {f"D{n}": of(a={"$ref": f"#/$defs/D{n + 1}"}, b={"$ref": f"#/$defs/D{n + 1}"}) for n in range(20)}
    large = {**of(a={"$ref": "#/$defs/D0"}), "$defs": {**wide, "D20": {}}}
    assert normal_schema(large) is large


TOOLS = [{"name": "look", "description": "Looks.", "inputSchema": CITY}]


@pytest.mark.parametrize(
    ("parameters", "fragments"),
    [
        ({"$schema": "x", "additionalProperties": True, "title": "Look", **CITY}, 0),
        ({**CITY, "properties": {"city": {"type": "string"}}}, 1),
    ],
)
def test_the_schema_of_a_tool_is_compared_by_meaning(parameters: Any, fragments: int):
    def change(payload: Any, *_: Any) -> Any:
        payload["tools"][0]["function"]["parameters"] = parameters
        return payload

    asked = scenario(options={"tools": TOOLS}, needs=("tools",))
    found = messages_of("translation.tools-survive", translating(change), asked)
    assert len(found) == fragments


@pytest.mark.parametrize(("key", "count"), [("$comment", 0), ("maxProperties", 1)])
def test_a_response_schema_is_compared_by_meaning(key: str, count: int):
    def change(payload: Any, *_: Any) -> Any:
        payload["response_format"]["json_schema"]["schema"] = {**CITY, key: 3}
        return payload

    asked = scenario(options={"response_schema": CITY}, needs=("response_schema",))
    assert len(messages_of("translation.options-survive", translating(change), asked)) == count
