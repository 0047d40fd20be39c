"""Tools of the Responses API whose schemas OpenAI makes strict, as they do not say that they are not."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.dialects.openai_responses.strictness import find_rewritten

PLACE: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}}
NESTED: dict[str, Any] = {"type": "object", "properties": {"at": PLACE}, "required": ["at"]}


def rewritten(schema: dict[str, Any], **fields: Any) -> list[str]:
    tool = {"type": "function", "name": "look", "parameters": schema, **fields}
    return [one.message for one in find_rewritten({"tools": [{"type": "web_search"}, tool]})]


@pytest.mark.parametrize("schema", [PLACE | {"required": ["city"]}, NESTED | {"properties": {"at": PLACE}}])
def test_optional_properties_would_be_required(schema: dict[str, Any]):
    (message,) = rewritten(schema)
    assert message.startswith('the tool "look" is sent without strict')
    assert '"unit"' in message


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (PLACE, {"strict": False}),
        (PLACE, {"strict": True}),
        (PLACE | {"required": ["city", "unit"]}, {}),
        (PLACE | {"additionalProperties": True}, {}),
        (PLACE | {"patternProperties": {}}, {}),
        ({"type": "object", "properties": {"at": {"oneOf": [PLACE]}}}, {}),
        ({}, {}),
    ],
)
def test_nothing_changes_where_all_is_said_or_nothing_is_certain(schema: dict[str, Any], fields: dict[str, Any]):
    assert rewritten(schema, **fields) == []
