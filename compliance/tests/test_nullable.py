"""Gemini's own schemas say `nullable` for null; a schema in JSON Schema has a union, and one of OpenAPI says it too."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.comparison import Expected, compare
from art_compliance.dialects import DIALECTS
from art_sdk import ToolSchema, parse_prompt

NULL = {"type": "null"}
A, B = {"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "array", "items": {"type": "integer"}}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "nullable": True}


PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a list of types": ({"type": ["string", "null"]}, nullable({"type": "string"})),
    "a union of a type": ({"anyOf": [A, NULL], "description": "d"}, nullable({**A, "description": "d"})),
    "a union in one branch": ({"anyOf": [A, NULL]}, {"anyOf": [nullable(A)]}),
    "each branch": ({"anyOf": [A, B, NULL]}, {"anyOf": [nullable(A), nullable(B)]}),
    "the union": ({"anyOf": [A, B, NULL]}, nullable({"anyOf": [A, B]})),
    "an enum": ({"type": ["string", "null"], "enum": ["x", None]}, nullable({"type": "string", "enum": ["x"]})),
    "words of OpenAPI": (nullable({"type": "string"}), nullable({"type": "string"})),
    "OpenAPI, inside": (
        {"type": "object", "properties": {"nullable": nullable(A)}},
        {"type": "object", "properties": {"nullable": nullable(A)}},
    ),
}


def differences(dialect: str, own: dict[str, Any], payload: dict[str, Any]) -> list[str]:
    """How the tool that was sent differs from one whose only parameter has this schema."""
    tool = ToolSchema("f", "d", {"type": "object", "properties": {"p": own}})
    prompt = parse_prompt([{"role": "user", "content": "q"}])
    expected = Expected(dialect=dialect, prompt=prompt, tools=(tool,), options={})
    return [one.message for one in compare(expected, DIALECTS[dialect].requests.decode(payload)).differences]


def to_gemini(sent: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"p": sent}}
    declared = {"name": "f", "description": "d", "parameters": parameters}
    return {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "tools": [{"functionDeclarations": [declared]}]}


@pytest.mark.parametrize("pair", PAIRS)
def test_nullable_is_a_union_with_null(pair: str):
    own, sent = PAIRS[pair]
    assert differences("gemini-generate", own, to_gemini(sent)) == []


@pytest.mark.parametrize(
    ("own", "sent"),
    [
        ({"type": ["string", "null"]}, {"type": "string"}),
        ({"anyOf": [A, B, NULL]}, {"anyOf": [A, B]}),
        ({"type": "string"}, nullable({"type": "string"})),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": False}),
    ],
)
def test_a_null_that_is_lost_or_added_is_a_change(own: dict[str, Any], sent: dict[str, Any]):
    assert len(differences("gemini-generate", own, to_gemini(sent))) == 1


def test_a_provider_that_reads_json_schema_knows_no_nullable():
    function = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"p": nullable(A)}}}
    tools = [{"type": "function", "function": function}]
    payload = {"model": "m", "messages": [{"role": "user", "content": "q"}], "tools": tools}
    assert len(differences("openai-chat", {"anyOf": [A, NULL]}, payload)) == 1
