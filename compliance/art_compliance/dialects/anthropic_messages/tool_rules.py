"""Anthropic's rules about tools and their schemas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.anthropic_messages.messages import Messages
from art_compliance.dialects.ruling import Broken, child, objects, rule
from art_compliance.pointers import escape

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


@rule("anthropic.tool-name-pattern")
def tool_name_pattern(request: Messages) -> Iterator[Broken]:
    """The tools that the request offers."""
    for tool in request.tools:
        name = tool.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{tool.pointer}/name", f"the name {name!r} does not match {_NAME.pattern}")


@rule("anthropic.tool-names-unique")
def tool_names_unique(request: Messages) -> Iterator[Broken]:
    """The provider's own tools count, too."""
    tools = objects(request.root, "tools")
    names = Counter(tool.value["name"] for tool in tools if isinstance(tool.value.get("name"), str))
    for name, count in names.items():
        if count > 1:
            yield Broken("/tools", f"{count} tools have the name {name!r}")


@rule("anthropic.input-schema-object")
def input_schema_object(request: Messages) -> Iterator[Broken]:
    """A tool without a schema is left to the wire schema."""
    for tool in request.tools:
        schema = child(tool, "input_schema")
        if "input_schema" in tool.value and schema.value.get("type") != "object":
            yield Broken(schema.pointer, 'the root of the tool\'s schema must have the type "object"')


@rule("anthropic.input-schema-no-root-union")
def input_schema_no_root_union(request: Messages) -> Iterator[Broken]:
    """Below the root, all of these are allowed."""
    for tool in request.tools:
        schema = child(tool, "input_schema")
        for keyword in ("oneOf", "allOf", "anyOf"):
            if keyword in schema.value:
                yield Broken(f"{schema.pointer}/{keyword}", f"the root of the tool's schema may not have {keyword}")


@rule("anthropic.property-key-pattern")
def property_key_pattern(request: Messages) -> Iterator[Broken]:
    """Properties at the root, which are the ones that the error names."""
    for tool in request.tools:
        properties = child(child(tool, "input_schema"), "properties")
        for name in properties.value:
            if not _PROPERTY.fullmatch(str(name)):
                pointer = f"{properties.pointer}/{escape(str(name))}"
                yield Broken(pointer, f"the property {name!r} does not match {_PROPERTY.pattern}")
