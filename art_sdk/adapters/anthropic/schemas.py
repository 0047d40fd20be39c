"""What Anthropic demands of the schema of an answer: closed objects, no recursion, no unsupported keywords."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_sdk.json_data import is_array, is_object

_TABLES: Final = ("properties", "$defs", "definitions", "patternProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES: Final = ("items", "not", "if", "then", "else")


_UNSUPPORTED: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems", "oneOf"}
)


def find_open_object(schema: dict[str, Any]) -> str | None:
    """Where the schema has an object without `additionalProperties: false`, as words or a JSON pointer."""
    for place, one in _schemas(schema):
        if one.get("type") == "object" and one.get("additionalProperties") is not False:
            return place or "its root"
    return None


def find_unsupported(schema: dict[str, Any]) -> str | None:
    """The JSON pointer of a keyword that Anthropic answers with 400 (anthropic.output-schema-keywords)."""
    for place, one in _schemas(schema):
        found = sorted(_UNSUPPORTED & one.keys())
        if one.get("minItems", 0) not in (0, 1):
            found.append("minItems")
        if found:
            return f"{place}/{found[0]}"
    return None


def find_recursion(schema: dict[str, Any]) -> str | None:
    """The JSON pointer of a reference that leads back to where it is (anthropic.output-schema-recursive)."""
    named = ((place, one.get("$ref")) for place, one in _schemas(schema))
    references = {
        place: name[1:].replace("~1", "/").replace("~0", "~")
        for place, name in named
        if isinstance(name, str) and name.startswith("#")
    }
    return next((f"{place}/$ref" for place in references if _leads_back(place, references)), None)


def _leads_back(start: str, references: Mapping[str, str]) -> bool:
    waiting, seen = [references[start]], set[str]()
    while waiting:
        target = waiting.pop()
        inside = [one for one in references if f"{one}/".startswith(f"{target}/")]
        if start in inside:
            return True
        waiting += [references[one] for one in inside if references[one] not in seen]
        seen.add(target)
    return False


def _schemas(root: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and all inside it, with their places. No recursion: a schema may be deep."""
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        place, one = waiting.pop()
        if is_object(one):
            yield place, one
            waiting += _inner(place, one)


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
