"""Schemas of tools and answers that Cohere does not accept.

Source: docs.cohere.com/reference/errors ("property title must have a type", "required field name not found in
properties") and docs.cohere.com/docs/structured-outputs ("every object in the schema must have at least one `required`
field").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_sdk.json_data import is_array, is_object

_TYPED_BY: Final = ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const")
"""Keywords that say what a property may be. All but the first are inferred: the error's text knows `type` alone."""


def find_odd_schema(root: dict[str, Any]) -> str | None:
    """What is wrong with a schema, and where (`properties.path has no type`), or None."""
    for path, schema in _schemas(root):
        properties: dict[str, Any] = _table(schema.get("properties"))
        for name, value in properties.items():
            if not is_object(value) or not any(key in value for key in _TYPED_BY):
                return f"{_join(path, f'properties.{name}')} has no type"
        required: Any = schema.get("required")
        for name in required if is_array(required) else ():
            if "properties" in schema and name not in properties:
                return f"{_join(path, 'required')} names {name!r}, which is not in properties"
    return None


def find_loose_object(root: dict[str, Any]) -> str | None:
    """The path of an object in the schema that requires no property (`the root`, `properties.path`), or None."""
    for path, schema in _schemas(root):
        if schema.get("type") == "object" and not schema.get("required"):
            return path or "the root"
    return None


def _schemas(root: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and all schemas of properties and items inside it, with their paths."""
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:  # a loop instead of recursion: the schema may be deep
        path, schema = waiting.pop()
        if not is_object(schema):
            continue
        yield path, schema
        for keyword in ("properties", "$defs"):
            waiting += [(_join(path, f"{keyword}.{name}"), one) for name, one in _table(schema.get(keyword)).items()]
        waiting.append((_join(path, "items"), schema.get("items")))


def _join(path: str, step: str) -> str:
    return f"{path}.{step}".lstrip(".")


def _table(value: object) -> dict[str, Any]:
    return value if is_object(value) else {}
