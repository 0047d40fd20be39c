"""Gemini's rules about declared functions and their schemas.

`parameters` is a protobuf message with few of JSON Schema's keywords. `parametersJsonSchema` takes any JSON Schema
and is not checked. Vertex AI knows more keywords than the Gemini API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.gemini_generate.contents import Contents, field
from art_compliance.dialects.ruling import Broken, Place, rule
from art_sdk.json_data import is_array, is_object

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")


@rule("gemini.function-name")
def function_name(request: Contents) -> Iterator[Broken]:
    """The declared functions."""
    for declared in request.declarations:
        name = declared.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{declared.pointer}/name", f"the name {name!r} does not match {_NAME.pattern}")


@rule("gemini.max-declarations")
def max_declarations(request: Contents) -> Iterator[Broken]:
    """Counted over all tools."""
    count = len(request.declarations)
    if count > 512:
        yield Broken("/tools", f"{count} functions are declared; 512 are allowed")


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
                    f"{schema.pointer}/{keyword}", f"parameters may not have {keyword}; use parametersJsonSchema"
                )


@rule("gemini.schema-array-items")
def schema_array_items(request: Contents) -> Iterator[Broken]:
    """In upper and in lower case."""
    for schema in request.schemas if not request.is_vertex else ():
        if _type_of(schema) == "array" and schema.value.get("items") is None:
            yield Broken(schema.pointer, "an array's schema has no items")


@rule("gemini.schema-required-defined")
def schema_required_defined(request: Contents) -> Iterator[Broken]:
    """Among the properties of the same object."""
    for schema in request.schemas if not request.is_vertex else ():
        required: Any = schema.value.get("required")
        defined: Any = schema.value.get("properties")
        for at, name in enumerate(required if is_array(required) else ()):
            if isinstance(name, str) and name not in (defined if is_object(defined) else ()):
                yield Broken(f"{schema.pointer}/required/{at}", f"{name!r} is required, but it is not a property")


@rule("gemini.schema-object-nonempty")
def schema_object_nonempty(request: Contents) -> Iterator[Broken]:
    """An object without `properties` is allowed."""
    for schema in request.schemas:
        if _type_of(schema) == "object" and schema.value.get("properties") == {}:
            yield Broken(f"{schema.pointer}/properties", "an object's schema has an empty object of properties")


@rule("gemini.schema-enum-string")
def schema_enum_string(request: Contents) -> Iterator[Broken]:
    """The field is a list of strings in the protobuf."""
    for schema in request.schemas:
        values: Any = schema.value.get("enum")
        for at, value in enumerate(values if is_array(values) else ()):
            if value is not None and not isinstance(value, str):
                yield Broken(f"{schema.pointer}/enum/{at}", f"the value {value!r} is not a string")


@rule("gemini.schema-props-object-only")
def schema_props_object_only(request: Contents) -> Iterator[Broken]:
    """A list of types does not count as `object`."""
    for schema in request.schemas:
        if schema.value.get("properties") and schema.value.get("type") is not None and _type_of(schema) != "object":
            yield Broken(
                f"{schema.pointer}/properties", f"a schema of the type {schema.value['type']!r} may not have properties"
            )


def _type_of(schema: Place) -> str | None:
    kind = schema.value.get("type")
    return kind.lower() if isinstance(kind, str) else None
