"""A schema may be closed with its optional properties left optional, or with each of them required and null."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.comparison.schema_repairs import explain_schema

GIVEN: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city"],
}
NULL = {"city": {"type": "string"}, "unit": {"type": ["string", "null"]}}
CLOSED = GIVEN | {"additionalProperties": False}


@pytest.mark.parametrize("sent", [CLOSED, CLOSED | {"required": ["city", "unit"], "properties": NULL}])
def test_closing_a_schema_is_one_repair(sent: dict[str, Any]):
    change = explain_schema(GIVEN, sent)
    assert change is not None
    assert (change.repairs, change.loss) == (frozenset({"closes_schemas"}), None)


@pytest.mark.parametrize(
    "sent",
    [
        CLOSED | {"required": []},
        CLOSED | {"required": ["unit"]},
        CLOSED | {"properties": {"city": {"type": "string"}}},
        CLOSED | {"properties": {**GIVEN["properties"], "more": {"type": "string"}}},
    ],
)
def test_closing_a_schema_excuses_nothing_else(sent: dict[str, Any]):
    assert explain_schema(GIVEN, sent) is None
