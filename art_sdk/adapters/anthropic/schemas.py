"""What Anthropic demands of the schema of an answer: every object in it is closed (anthropic.output-schema-closed)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_sdk.json_data import is_array, is_object

_TABLES: Final = ("properties", "$defs", "definitions", "patternProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES: Final = ("items", "not", "if", "then", "else")


def find_open_object(schema: dict[str, Any]) -> str | None:
    """Where the schema has an object without `additionalProperties: false`, as words or a JSON pointer."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:  # no recursion: a schema may be deep
        place, one = waiting.pop()
        if not is_object(one):
            continue
        if one.get("type") == "object" and one.get("additionalProperties") is not False:
            return place or "its root"
        waiting += _inner(place, one)
    return None


def _inner(place: str, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _TABLES:
        table = schema.get(key)
        if is_object(table):
            yield from ((f"{place}/{key}/{name}", one) for name, one in table.items())
    for key in _LISTS:
        items = schema.get(key)
        if is_array(items):
            yield from ((f"{place}/{key}/{at}", one) for at, one in enumerate(items))
    yield from ((f"{place}/{key}", schema[key]) for key in _SINGLES if key in schema)
