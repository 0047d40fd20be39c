"""Gemini's rules about declared functions and their schemas.

`parameters` is a protobuf message with few of JSON Schema's keywords. `parametersJsonSchema` takes any JSON Schema
and is not checked. Vertex AI knows more keywords than the Gemini API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.gemini_generate.contents import Contents, field
from art_compliance.dialects.gemini_generate.protobuf import TYPES, enum_name
from art_compliance.dialects.ruling import Broken, rule
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")


@rule("gemini.function-name")
def function_name(request: Contents) -> Iterator[Broken]:
    """The declared functions."""
    for declared in request.declarations:
        name = declared.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{declared.pointer}/name", f"the name {show(name)} does not match {_NAME.pattern}")


@rule("gemini.function-names-unique")
def function_names_unique(request: Contents) -> Iterator[Broken]:
    """Over all tools."""
    seen: set[str] = set()
    for declared in request.declarations:
        name = declared.value.get("name")
        if isinstance(name, str) and name in seen:
            yield Broken(f"{declared.pointer}/name", f"the function {show(name)} is already declared")
        elif isinstance(name, str):
            seen.add(name)


@rule("gemini.max-declarations")
def max_declarations(request: Contents) -> Iterator[Broken]:
    """Counted over all tools."""
    count = len(request.declarations)
    if count > 512:
        yield Broken("/tools", f"{count} functions are declared; at most 512 are allowed")


@rule("gemini.parameters-exclusive")
def parameters_exclusive(request: Contents) -> Iterator[Broken]:
    """Whatever they contain."""
    for declared in request.declarations:
        if field(declared, "parameters") is not None and field(declared, "parametersJsonSchema") is not None:
            yield Broken(declared.pointer, "parameters and parametersJsonSchema exclude each other")


_UNKNOWN: Final = (
    "$schema",
    "$ref",
    "$defs",
    "definitions",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "const",
    "oneOf",
    "allOf",
    "not",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "uniqueItems",
    "multipleOf",
)
"""Keywords of JSON Schema that the Gemini API's Schema lacks."""


@rule("gemini.schema-unknown-keyword")
def schema_unknown_keyword(request: Contents) -> Iterator[Broken]:
    """At any depth."""
    for schema in request.schemas if not request.is_vertex else ():
        for keyword in _UNKNOWN:
            if keyword in schema.value:
                yield Broken(
                    f"{schema.pointer}/{keyword}", f"parameters cannot contain {keyword}; use parametersJsonSchema"
                )


@rule("gemini.schema-array-items")
def schema_array_items(request: Contents) -> Iterator[Broken]:
    """Named in upper or in lower case, or by its number."""
    for schema in request.schemas if not request.is_vertex else ():
        if enum_name(schema.value.get("type"), TYPES) == "ARRAY" and schema.value.get("items") is None:
            yield Broken(schema.pointer, "an array's schema has no items")


@rule("gemini.schema-required-defined")
def schema_required_defined(request: Contents) -> Iterator[Broken]:
    """Among the properties of the same object."""
    for schema in request.schemas if not request.is_vertex else ():
        required: Any = schema.value.get("required")
        defined: Any = schema.value.get("properties")
        for at, name in enumerate(required if is_array(required) else ()):
            if isinstance(name, str) and name not in (defined if is_object(defined) else ()):
                yield Broken(f"{schema.pointer}/required/{at}", f"{show(name)} is required, but it is not a property")


@rule("gemini.schema-object-nonempty")
def schema_object_nonempty(request: Contents) -> Iterator[Broken]:
    """An object without `properties` is allowed."""
    for schema in request.schemas:
        if enum_name(schema.value.get("type"), TYPES) == "OBJECT" and schema.value.get("properties") == {}:
            yield Broken(f"{schema.pointer}/properties", "an object's schema has empty properties")


@rule("gemini.schema-enum-string")
def schema_enum_string(request: Contents) -> Iterator[Broken]:
    """The field is a list of strings in the protobuf."""
    for schema in request.schemas:
        values: Any = schema.value.get("enum")
        for at, value in enumerate(values if is_array(values) else ()):
            if value is not None and not isinstance(value, str):
                yield Broken(f"{schema.pointer}/enum/{at}", f"the value {show(value)} is not a string")


@rule("gemini.schema-enum-nonempty")
def schema_enum_nonempty(request: Contents) -> Iterator[Broken]:
    """White space is not judged."""
    for schema in request.schemas:
        values: Any = schema.value.get("enum")
        for at, value in enumerate(values if is_array(values) else ()):
            if value == "":
                yield Broken(f"{schema.pointer}/enum/{at}", "an enum value is empty")


@rule("gemini.schema-enum-type")
def schema_enum_type(request: Contents) -> Iterator[Broken]:
    """A missing type counts, too. Values that are not strings break `gemini.schema-enum-string` instead."""
    for schema in request.schemas if not request.is_vertex else ():
        kind, values = schema.value.get("type"), schema.value.get("enum")
        if values and enum_name(kind, TYPES) != "STRING" and is_array(values) and all(map(_is_text, values)):
            yield Broken(f"{schema.pointer}/enum", f"only a STRING can have an enum; the type is {show(kind)}")


@rule("gemini.schema-props-object-only")
def schema_props_object_only(request: Contents) -> Iterator[Broken]:
    """A list of types does not count as `object`."""
    for schema in request.schemas:
        kind = schema.value.get("type")
        if schema.value.get("properties") and kind is not None and enum_name(kind, TYPES) != "OBJECT":
            yield Broken(f"{schema.pointer}/properties", f"a schema of type {show(kind)} cannot have properties")


@rule("gemini.schema-format")
def schema_format(request: Contents) -> Iterator[Broken]:
    """Of texts; numbers have other formats. Vertex AI is not judged."""
    for schema in request.schemas if not request.is_vertex else ():
        kind, given = enum_name(schema.value.get("type"), TYPES), schema.value.get("format")
        if kind == "STRING" and isinstance(given, str) and given not in ("", "enum", "date-time"):
            yield Broken(f"{schema.pointer}/format", f"the format {show(given)} is neither enum nor date-time")


def _is_text(value: object) -> bool:
    return isinstance(value, str)
