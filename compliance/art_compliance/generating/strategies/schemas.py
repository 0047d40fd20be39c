"""Tools with their JSON Schemas, and arguments that fit them.

Our own, because hypothesis-jsonschema 0.23 breaks with current Hypothesis and does not know recursive `$ref`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from art_compliance.generating.strategies.texts import plain_tool_names, texts, tool_names

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

Schema = dict[str, Any]

FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("2026-02-28", "2000-02-29"),
    "date-time": ("2026-02-28T23:59:59Z", "2026-02-28T00:00:00.5+01:00"),
    "email": ("a@example.org",),
    "uri": ("https://example.org/a?b=c#d",),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000",),
    "ipv4": ("192.0.2.1",),
    "ipv6": ("2001:db8::1",),
    "hostname": ("example.org",),
}
"""Formats, each with valid values."""

_PLAIN: Final = ("city", "unit", "days", "b", "camelCase", "type", "properties")
_ODD: Final = ("with space", "\u00e9", "", "a" * 65)
_NAMES: Final = st.sampled_from(_PLAIN)
_ODD_NAMES: Final = st.sampled_from((*_PLAIN, *_ODD))
_ONE_IN_FOUR: Final = st.sampled_from((False, False, False, True))
_DEEPEST: Final = 3
"""The depth of a recursive value at which optional parts are left out."""

_LEAVES: Final[SearchStrategy[Schema]] = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "boolean"}),
    st.integers(-5, 5).map(lambda least: {"type": "integer", "minimum": least, "maximum": least + 9}),
    st.just({"type": "number", "description": "How much, in {{unit}}."}),
    st.lists(st.sampled_from(("celsius", "kelvin", "", "\u00b0F")), min_size=1, max_size=3, unique=True).map(
        lambda words: {"type": "string", "enum": words}
    ),
    st.sampled_from(sorted(FORMATS)).map(lambda name: {"type": "string", "format": name}),
    st.integers(0, 3).map(lambda least: {"type": "string", "minLength": least, "maxLength": least + 5}),
    st.just({"type": "integer"}),
    st.just({"type": "null"}),
)


@cache
def json_schemas(depth: int = 2, *, refs: tuple[str, ...] = ()) -> SearchStrategy[Schema]:
    """A JSON Schema (2020-12) of any type, at most `depth` levels deep. `refs` are definitions that it may use."""
    kinds: list[SearchStrategy[Schema]] = [_LEAVES]
    if refs:
        kinds.append(st.sampled_from(refs).map(lambda ref: {"$ref": ref}))
    if depth:
        inner = json_schemas(depth - 1, refs=refs)
        kinds += [_arrays(inner), _objects(inner), st.lists(inner, min_size=1, max_size=2).map(_any_of)]
    return st.one_of(*kinds)


def _any_of(options: list[Schema]) -> Schema:
    return {"anyOf": [*options, {"type": "null"}]}


def _arrays(inner: SearchStrategy[Schema]) -> SearchStrategy[Schema]:
    return st.builds(_array, inner, st.integers(0, 3))


def _array(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


@cache
def _objects(inner: SearchStrategy[Schema], names: SearchStrategy[str] = _NAMES) -> SearchStrategy[Schema]:
    return _objects_with(st.dictionaries(names, inner, max_size=3))


@st.composite
def _objects_with(draw: DrawFn, properties: SearchStrategy[dict[str, Schema]]) -> Schema:
    drawn = draw(properties)
    schema: Schema = {"type": "object", "properties": drawn}
    required = [name for name in drawn if draw(st.booleans())]
    if required:
        schema["required"] = required
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    return schema


_NODE: Final[Schema] = {
    "type": "object",
    "properties": {
        "value": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
    },
    "required": ["value", "next"],
}


@st.composite
def tool_schemas(draw: DrawFn, depth: int = 2, *, odd: bool = False) -> Schema:
    """An input schema, whose root is an object: nested, with `anyOf`, `$ref` and formats, sometimes recursive.

    `odd`: a parameter may have a name that some providers reject.
    """
    names = _ODD_NAMES if odd else _NAMES
    if draw(_ONE_IN_FOUR):
        leaf = draw(_LEAVES)
        root = draw(_objects(json_schemas(depth - 1, refs=("#/$defs/node", "#/$defs/leaf")), names))
        return {**root, "$defs": {"node": _NODE, "leaf": leaf}}
    return draw(_objects(json_schemas(depth - 1), names))


@cache
def tools(*, odd: bool = False) -> SearchStrategy[dict[str, Any]]:
    """A tool as JSON data: `name`, `description`, `inputSchema`.

    `odd`: it and its parameters may have names that some providers reject.
    """
    return st.fixed_dictionaries(
        {
            "name": tool_names() if odd else plain_tool_names(),
            "description": texts().map(lambda text: text[:1_000]),
            "inputSchema": tool_schemas(odd=odd),
        }
    )


@cache
def tool_lists(least: int, most: int, *, odd: bool = False) -> SearchStrategy[list[dict[str, Any]]]:
    """So many `tools`, with different names."""
    return st.lists(tools(odd=odd), min_size=least, max_size=most, unique_by=lambda tool: str(tool["name"]))


def arguments_for(schema: Schema) -> SearchStrategy[Any]:
    """Values that fit a schema from this module, or any other schema with the same keywords.

    Raises ValueError, naming the keyword, for a schema with another keyword.
    """
    _check_keywords(schema)
    return _fitting(schema, schema, 0)


_KNOWN: Final = frozenset(
    [
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "properties",
        "required",
        "title",
        "type",
    ]
)


def _check_keywords(schema: Schema) -> None:
    unknown = sorted(schema.keys() - _KNOWN)
    if unknown:
        raise ValueError(f"cannot make arguments for a schema with {', '.join(unknown)}")
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    for one in [*inner, *([schema["items"]] if "items" in schema else [])]:
        _check_keywords(one)


def _fitting(schema: Schema, root: Schema, depth: int) -> SearchStrategy[Any]:
    if "$ref" in schema:
        return st.deferred(lambda: _fitting(_resolve(root, schema["$ref"]), root, depth + 1))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        options = sorted(schema["anyOf"], key=lambda one: one.get("type") != "null")
        return st.one_of(*(_fitting(one, root, depth) for one in (options[:1] if depth >= _DEEPEST else options)))
    return _OF_TYPE[schema.get("type", "object")](schema, root, depth)


def _resolve(root: Schema, ref: str) -> Schema:
    found: Any = root
    for step in ref.removeprefix("#").split("/")[1:]:
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found  # type: ignore[no-any-return]


def _strings(schema: Schema, _root: Schema, _depth: int) -> SearchStrategy[Any]:
    if "format" in schema:
        return st.sampled_from(FORMATS[schema["format"]])
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if not least and most is None:
        return st.just("") | texts()
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=least, max_size=most)


def _integers(schema: Schema, _root: Schema, _depth: int) -> SearchStrategy[Any]:
    bounds = schema.get("minimum"), schema.get("maximum")
    large = st.integers(2**53, 2**70)
    return st.integers(*bounds) if bounds != (None, None) else st.integers() | large | large.map(lambda n: -n)


def _numbers(schema: Schema, _root: Schema, _depth: int) -> SearchStrategy[Any]:
    return st.floats(schema.get("minimum"), schema.get("maximum"), allow_nan=False, allow_infinity=False)


def _lists(schema: Schema, root: Schema, depth: int) -> SearchStrategy[Any]:
    least = schema.get("minItems", 0)
    most = least if depth >= _DEEPEST else schema.get("maxItems", least + 3)
    return st.lists(_fitting(schema.get("items", {"type": "string"}), root, depth + 1), min_size=least, max_size=most)


def _dicts(schema: Schema, root: Schema, depth: int) -> SearchStrategy[Any]:
    required = set(schema.get("required", ()))
    properties = {name: _fitting(one, root, depth + 1) for name, one in schema.get("properties", {}).items()}
    always = {name: one for name, one in properties.items() if name in required}
    optional = {} if depth >= _DEEPEST else {name: one for name, one in properties.items() if name not in required}
    return st.fixed_dictionaries(always, optional=optional)


def _booleans(_schema: Schema, _root: Schema, _depth: int) -> SearchStrategy[Any]:
    return st.booleans()


def _nulls(_schema: Schema, _root: Schema, _depth: int) -> SearchStrategy[Any]:
    return st.none()


_OF_TYPE: Final[Mapping[str, Callable[[Schema, Schema, int], SearchStrategy[Any]]]] = {
    "string": _strings,
    "integer": _integers,
    "number": _numbers,
    "boolean": _booleans,
    "null": _nulls,
    "array": _lists,
    "object": _dicts,
}
