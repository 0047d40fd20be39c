"""OpenAI's rules about the tools of a response, and which must be called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.json_schemas import schema_faults
from art_compliance.dialects.openai_responses.items import Items
from art_compliance.dialects.ruling import Broken, Place, child, objects, rule, schemas
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")


@rule("responses.tool-name")
def tool_name(request: Items) -> Iterator[Broken]:
    """Of tools that are offered, and of calls."""
    for place in (*request.tools, *request.calls):
        name = place.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{place.pointer}/name", f"the name {show(name)} must match {_NAME.pattern}")


@rule("responses.tool-choice-needs-tools")
def tool_choice_needs_tools(request: Items) -> Iterator[Broken]:
    """A stored prompt or the items of the input may have tools, too."""
    if request.body.get("tool_choice") == "required" and not request.body.get("tools") and not _has_other(request):
        yield Broken("/tool_choice", "tool_choice forces a call, but there are no tools")


@rule("responses.tool-choice-known")
def tool_choice_known(request: Items) -> Iterator[Broken]:
    """Functions alone: those that the provider has itself go by several types."""
    choice = child(request.root, "tool_choice")
    name = choice.value.get("name")
    known = [tool.value.get("name") for tool in _offered(request.root)]
    if choice.value.get("type") == "function" and name not in known and not _has_other(request):
        yield Broken("/tool_choice/name", f"no tool is named {show(name)}")


def _has_other(request: Items) -> bool:
    """Whether tools may come from elsewhere than from `tools`."""
    may_be_unlisted = any(item.kind in {"additional_tools", "tool_search_output"} for item in request.items)
    return may_be_unlisted or not request.is_whole or bool(request.body.get("prompt"))


def _offered(root: Place) -> Iterator[Place]:
    """Every tool, those in namespaces included."""
    for tool in objects(root, "tools"):
        yield tool
        yield from objects(tool, "tools")


@rule("responses.mcp-address")
def mcp_address(request: Items) -> Iterator[Broken]:
    """Null counts as absent."""
    for tool in objects(request.root, "tools"):
        if tool.value.get("type") == "mcp" and not any(tool.value.get(name) for name in _ADDRESSES):
            yield Broken(tool.pointer, f"the server has none of {', '.join(_ADDRESSES)}")


_ADDRESSES: Final = ("server_url", "connector_id", "tunnel_id")


@rule("responses.tool-schema-object")
def tool_schema_object(request: Items) -> Iterator[Broken]:
    """Of a schema that names no type, nothing is known for certain."""
    for tool in request.tools:
        kind = child(tool, "parameters").value.get("type", "object")
        if kind != "object":
            yield Broken(f"{tool.pointer}/parameters", f'the type of the schema is {show(kind)}; it must be "object"')


@rule("responses.schema-valid")
def schema_valid(request: Items) -> Iterator[Broken]:
    """Of tools and of the answer's format."""
    for place, name in _schemas(request):
        root = child(place, name)
        for pointer, message in schema_faults(root.value):
            yield Broken(f"{root.pointer}{pointer}", message)


@rule("responses.strict-schema-required")
def strict_schema_required(request: Items) -> Iterator[Broken]:
    """Of tools and of the answer's schema, where they say that they are strict."""
    for place, name in _schemas(request):
        if place.value.get("strict") is True:
            for schema in schemas(child(place, name)):
                properties, required = schema.value.get("properties"), schema.value.get("required")
                missing = set(properties) - _names(required) if is_object(properties) else set[str]()
                if missing:
                    yield Broken(
                        schema.pointer,
                        f"in strict mode, an object's schema must require {', '.join(map(show, sorted(missing)))}",
                    )


@rule("responses.strict-schema-closed")
def strict_schema_closed(request: Items) -> Iterator[Broken]:
    """Objects at any depth, those that may be null included."""
    for place, name in _schemas(request):
        for schema in schemas(child(place, name)) if place.value.get("strict") is True else ():
            if _is_of_objects(schema) and schema.value.get("additionalProperties") is not False:
                yield Broken(schema.pointer, "in strict mode, an object's schema must have additionalProperties: false")


def _is_of_objects(schema: Place) -> bool:
    kind = schema.value.get("type")
    return kind == "object" or (is_array(kind) and "object" in kind)


def _schemas(request: Items) -> Iterator[tuple[Place, str]]:
    """What has a schema, and the name of the field with it."""
    yield from ((tool, "parameters") for tool in request.tools)
    yield child(child(request.root, "text"), "format"), "schema"


def _names(required: object) -> set[str]:
    return {name for name in required if isinstance(name, str)} if is_array(required) else set()
