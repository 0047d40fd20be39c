"""`nullable`, as OpenAPI 3.0 and Gemini's own schemas write it, in JSON Schema: a union with null.

Sources: OpenAPI 3.0.3, Schema Object; `Schema.nullable` of google.ai.generativelanguage_v1beta.
"""

from __future__ import annotations

from typing import Any, Final

from art_sdk.json_data import is_array, is_object

_NULL: Final[dict[str, Any]] = {"type": "null"}
_DATA: Final = frozenset({"default", "enum", "const", "example", "examples"})
"""Keywords with values instead of schemas."""


def with_null_unions(schema: Any) -> Any:
    """The schema with a union in place of each `nullable`. A union takes null if one of its branches does."""
    if is_array(schema):
        return [with_null_unions(one) for one in schema]
    if not is_object(schema):
        return schema
    plain = {name: value if name in _DATA else with_null_unions(value) for name, value in _without(schema).items()}
    branches = schema.get("anyOf")
    if not is_array(branches):
        return _or_null(plain) if _is_nullable(schema) else plain
    union = {**plain, "anyOf": [with_null_unions(_without(one)) for one in branches]}
    return _or_null(union) if any(map(_is_nullable, (schema, *branches))) else union


def _is_nullable(schema: Any) -> bool:
    return is_object(schema) and schema.get("nullable") is True


def _without(schema: Any) -> Any:
    """The schema without the keyword; a property of that name stays, as it is no boolean."""
    is_said = is_object(schema) and isinstance(schema.get("nullable"), bool)
    return {name: value for name, value in schema.items() if name != "nullable"} if is_said else schema


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    branches, kinds = schema.get("anyOf"), schema.get("type")
    if is_array(branches):
        return {**schema, "anyOf": branches if _NULL in branches else [*branches, _NULL]}
    if kinds is None:
        return {"anyOf": [schema, _NULL]}
    listed = list(kinds) if is_array(kinds) else [kinds]
    values = schema.get("enum")
    taken = {"enum": values if None in values else [*values, None]} if is_array(values) else {}
    return {**schema, **taken, "type": listed if "null" in listed else [*listed, "null"]}
