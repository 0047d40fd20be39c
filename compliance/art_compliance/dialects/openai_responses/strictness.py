"""Tools without `strict`: OpenAI makes their schemas strict, where that is possible, so that nothing is optional.

Source: developers.openai.com/api/docs/guides/function-calling, as quoted in editor-code-assistant/eca#458 and
juspay/neurolink#1691. Libraries that left it out: langchain-ai/langchain#39309, vercel/ai#15889.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.base import Rewritten
from art_compliance.dialects.ruling import Place, child, objects, schemas
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object

_KNOWN: Final = frozenset(
    {"type", "properties", "required", "description", "title", "enum", "items", "additionalProperties"}
)
"""Keywords with which a strict schema can be made for certain. With others, OpenAI may leave the schema as it is."""


def find_rewritten(payload: dict[str, Any]) -> Iterator[Rewritten]:
    """The tools whose schemas have optional properties and do not say that they are not strict."""
    for tool in objects(Place(payload), "tools"):
        if tool.value.get("type") != "function" or "strict" in tool.value:
            continue
        optional = _optional(child(tool, "parameters"))
        if optional:
            yield Rewritten(
                pointer=tool.pointer,
                message=f"the tool {show(tool.value.get('name'))} is sent without strict, so that the model must give "
                f"its optional {', '.join(map(show, sorted(optional)))}; send strict: false",
                source="https://developers.openai.com/api/docs/guides/function-calling#strict-mode",
            )


def _optional(root: Place) -> set[str]:
    """The optional properties of a schema that can be made strict."""
    found: set[str] = set()
    for schema in schemas(root):
        properties, required = schema.value.get("properties"), schema.value.get("required")
        if schema.value.keys() - _KNOWN or schema.value.get("additionalProperties") not in (None, False):
            return set()
        if is_object(properties):
            found |= set(properties) - {str(one) for one in required} if is_array(required) else set(properties)
    return found
