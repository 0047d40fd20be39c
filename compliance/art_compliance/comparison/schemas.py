"""The normal form of a JSON Schema: the same for two schemas that take the same values and tell a reader the same.

Source: JSON Schema 2020-12, core (sections 8 to 10) and validation (sections 6 and 9). Taken for the same:

- a keyword with its default, and none: an empty `properties`, `required` or `$defs`, `additionalProperties` and `items`
  that take everything, a least length of 0, an empty description;
- `$schema` and `$comment`, and none: they are for those who write schemas;
- `additionalItems` without a list of `items`, and none;
- a title that repeats the name of its property or tool, and none;
- another order in `required`, `enum`, `type`, `anyOf`, `oneOf`, `allOf`, and among keywords;
- `const` and an `enum` of one value; an `enum` with the type of its values and without; 1 and 1.0;
- a list of one subschema and that subschema; an `anyOf` of plain types and a list of types; an `anyOf` of null and a
  schema of one type, and that schema with both types: its other keywords say nothing of null;
- a reference and what it refers to, unless it refers to itself.

A description, its own title, a default, an example or a constraint that is dropped, added or changed is a change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from art_compliance.pointers import follow
from art_sdk.json_data import is_array, is_object


def normal_schema(schema: Any, name: str = "") -> Any:
    """The schema's normal form; `name` is its tool's or response's. What is too deep or too large stays as it is."""
    try:
        return _Normalising(schema).run(schema, (name,), ())
    except (RecursionError, _TooLarge):
        return schema


class _TooLarge(Exception):
    """References that are followed give more subschemas than anybody reads."""


_MOST: Final = 5_000
"""Subschemas that are looked at."""

_FOR_AUTHORS: Final = frozenset({"$schema", "$comment"})

_BESIDE_LIST: Final = ("additionalItems",)
"""Before 2020-12, these were ignored unless `items` was a list: draft-07 validation, section 6.4.2."""

_DEFAULTS: Final[Mapping[str, tuple[Any, ...]]] = {
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), ({},)),
    **dict.fromkeys(("dependentRequired", "dependentSchemas"), ({},)),
    "required": ([],),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), (0,)),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), (False,)),
    "description": ("",),
    **dict.fromkeys(("additionalProperties", "items", "propertyNames"), ({},)),
}
"""Values that say the same as leaving the keyword out. A schema that takes everything is `{}` by then."""

_ONE: Final = frozenset(
    {"additionalProperties", "items", "not", "contains", "propertyNames", "if", "then", "else"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)
_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_TABLES: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_UNORDERED: Final = frozenset({"required", "enum", "type", "anyOf", "oneOf", "allOf"})


class _Normalising:
    """One schema on its way to its normal form."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._count = 0
        self._left: set[str] = set()
        """References that stay: to themselves, or next to keywords that constrain the same."""

    def run(self, schema: Any, names: tuple[str, ...], within: tuple[str, ...]) -> Any:
        """`names` are those that a title may repeat, `within` the references that are being followed."""
        self._count += 1
        if self._count > _MOST:
            raise _TooLarge
        if schema is True:
            return {}
        if not is_object(schema):
            return schema
        reference = schema.get("$ref")
        target = self._target(reference, within)
        if is_object(target) and is_object(merged := _merged(schema, "$ref", target)):
            return self.run(merged, (*names, str(reference).rpartition("/")[2]), (*within, str(reference)))
        self._left |= {str(reference)} if reference is not None else set()
        found = {key: self._keyword(key, value, names, within) for key, value in schema.items()}
        for change in _CHANGES:
            found = change(found, names)
        for key in found.keys() & {"$defs", "definitions"}:
            found[key] = {name: one for name, one in found[key].items() if f"#/{key}/{name}" in self._left}
        return {key: found[key] for key in sorted(found) if not _is_spare(key, found)}

    def _target(self, reference: Any, within: tuple[str, ...]) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#/") or self._is_recursive(reference):
            return None
        return None if reference in within else follow(self._root, reference)

    def _is_recursive(self, reference: str) -> bool:
        """Whether following the reference leads back to it."""
        waiting, seen = [reference], set[str]()
        while waiting:
            target = follow(self._root, waiting.pop())
            for inner in re.findall(r'"\$ref": "(#[^"]*)"', json.dumps(target, default=str)):
                if inner in (reference, "#"):
                    return True
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
        return False

    def _keyword(self, key: str, value: Any, names: tuple[str, ...], within: tuple[str, ...]) -> Any:
        if key in _ONE and not is_array(value):
            return self.run(value, (), within)
        if (key in _LISTS or key == "items") and is_array(value):
            inner = names if key in _UNORDERED else ()
            return [self.run(one, inner, within) for one in value]
        if key in _TABLES and is_object(value):
            return {name: self.run(one, (name,), within) for name, one in value.items()}
        return _plain_numbers(value)


def _is_spare(key: str, schema: Mapping[str, Any]) -> bool:
    """Whether the schema says the same without the keyword."""
    value, defaults = schema[key], _DEFAULTS.get(key, ())
    is_counted = f"unevaluated{key.removeprefix('additional').capitalize()}" in schema
    return not is_counted and any(type(value) is type(default) and value == default for default in defaults)


def _merged(schema: Mapping[str, Any], key: str, inner: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema with the keywords of `inner` in place of `key`, unless both constrain the same.

    Of two texts the nearer one counts.
    """
    rest = {name: value for name, value in schema.items() if name != key}
    both = rest.keys() & inner.keys()
    return {**inner, **rest} if all(name in _TEXTS or rest[name] == inner[name] for name in both) else None


_TEXTS: Final = frozenset({"title", "description", "default", "examples", "deprecated", *_FOR_AUTHORS})

Keywords = dict[str, Any]


def _without_noise(schema: Keywords, names: tuple[str, ...]) -> Keywords:
    title = schema.get("title")
    repeats = isinstance(title, str) and _letters(title) in {_letters(name) for name in names}
    spare = {*_FOR_AUTHORS, *(["title"] if repeats else ()), *(() if is_array(schema.get("items")) else _BESIDE_LIST)}
    return {key: value for key, value in schema.items() if key not in spare}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _unwrapped(schema: Keywords, _: tuple[str, ...]) -> Keywords:
    """A list of one subschema is that subschema."""
    for key in ("anyOf", "oneOf", "allOf"):
        inner = schema.get(key)
        if is_array(inner) and len(inner) == 1 and is_object(inner[0]):
            schema = _merged(schema, key, inner[0]) or schema
    return schema


def _with_types(schema: Keywords, _: tuple[str, ...]) -> Keywords:
    """Choices between plain types are a list of types."""
    choices = schema.get("anyOf")
    if not is_array(choices) or "type" in schema:
        return schema
    kinds = [one["type"] for one in choices if is_object(one) and one.keys() == {"type"}]
    if len(kinds) != len(choices) or not all(isinstance(kind, str) for kind in kinds):
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, "type": kinds}


def _with_null(schema: Keywords, _: tuple[str, ...]) -> Keywords:
    """A choice between null and a schema of one type is that schema, of both types."""
    choices = schema.get("anyOf")
    if not (is_array(choices) and len(choices) == 2 and _NULL in choices) or "type" in schema:
        return schema
    one = choices[1 - choices.index(_NULL)]
    if not (is_object(one) and isinstance(one.get("type"), str)) or one.keys() & _OF_EVERY_TYPE:
        return schema
    return _merged(schema, "anyOf", {**one, "type": [one["type"], "null"]}) or schema


_NULL: Final = {"type": "null"}
_OF_EVERY_TYPE: Final = frozenset({"enum", "const", "not", "anyOf", "oneOf", "allOf", "if", "$ref"})
"""Keywords that also say something of null."""


def _with_enum(schema: Keywords, _: tuple[str, ...]) -> Keywords:
    """A constant is an enum of one; an enum has the types of its values."""
    if "const" in schema and "enum" not in schema:
        rest = {key: value for key, value in schema.items() if key != "const"}
        schema = {**rest, "enum": [schema["const"]]}
    values = schema.get("enum")
    if not is_array(values) or not values:
        return schema
    own, kinds = {_type_of(value) for value in values}, schema.get("type", ())
    allowed = {kinds} if isinstance(kinds, str) else {*map(str, kinds)}
    is_fitting = own <= (allowed | ({"integer"} if "number" in allowed else set()))
    return {**schema, "type": sorted(own)} if is_fitting or not allowed else schema


_TYPES: Final[Mapping[type[Any], str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def _type_of(value: Any) -> str:
    return next(name for kind, name in _TYPES.items() if isinstance(value, kind))


def _in_order(schema: Keywords, _: tuple[str, ...]) -> Keywords:
    """Lists whose order means nothing are sorted, and a list of one type is that type."""
    ordered = {key: _sorted(value) if key in _UNORDERED else value for key, value in schema.items()}
    kinds = ordered.get("type")
    return {**ordered, "type": kinds[0]} if is_array(kinds) and len(kinds) == 1 else ordered


def _sorted(value: Any) -> Any:
    if not is_array(value):
        return value
    return sorted(value, key=lambda one: json.dumps(one, sort_keys=True, default=str))


_CHANGES: Final[tuple[Callable[[Keywords, tuple[str, ...]], Keywords], ...]] = (
    _unwrapped,
    _without_noise,
    _with_types,
    _with_null,
    _with_enum,
    _in_order,
)


def _plain_numbers(value: Any) -> Any:
    """The value with whole numbers as integers: 1.0 and 1 are one number in a schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_array(value):
        return [_plain_numbers(one) for one in value]
    return {key: _plain_numbers(one) for key, one in value.items()} if is_object(value) else value
