"""OpenAI's rules about tools and their schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, Place, child, rule, schemas
from art_sdk.json_data import is_array, is_object


@rule("openai.tools-nonempty")
def tools_nonempty(chat: Chat) -> Iterator[Broken]:
    """The field should be left out instead."""
    tools = chat.body.get("tools")
    if is_array(tools) and not tools:
        yield Broken("/tools", "the list is empty; leave the field out")


@rule("openai.tools-max128")
def tools_max128(chat: Chat) -> Iterator[Broken]:
    """All kinds of tools count."""
    tools = chat.body.get("tools")
    if is_array(tools) and len(tools) > 128:
        yield Broken("/tools", f"there are {len(tools)} tools; 128 are allowed")


@rule("openai.tool-choice-needs-tools")
def tool_choice_needs_tools(chat: Chat) -> Iterator[Broken]:
    """Even `none` needs tools."""
    if chat.body.get("tool_choice") is not None and not chat.body.get("tools"):
        yield Broken("/tool_choice", "tool_choice needs tools")


_NAME: Final = re.compile(r"[a-zA-Z0-9_-]*")


@rule("openai.tool-name-pattern")
def tool_name_pattern(chat: Chat) -> Iterator[Broken]:
    """Functions that are offered, and functions that are called."""
    for function in chat.named:
        if function.name is not None and not _NAME.fullmatch(function.name):
            yield Broken(
                f"{function.pointer}/name",
                f"the name {function.name!r} may only contain a-z, A-Z, 0-9, _ and -",
            )


@rule("openai.tool-name-len64")
def tool_name_len64(chat: Chat) -> Iterator[Broken]:
    """As above."""
    for function in chat.named:
        if function.name is not None and len(function.name) > 64:
            yield Broken(f"{function.pointer}/name", f"the name has {len(function.name)} characters; 64 are allowed")


@rule("openai.tool-name-nonempty")
def tool_name_nonempty(chat: Chat) -> Iterator[Broken]:
    """As above."""
    for function in chat.named:
        if function.name == "":
            yield Broken(f"{function.pointer}/name", "the name is empty")


@rule("openai.tool-description-len1024")
def tool_description_len1024(chat: Chat) -> Iterator[Broken]:
    """The function's description; those of its parameters may be longer."""
    for function in chat.functions:
        text = function.value.get("description")
        if isinstance(text, str) and len(text) > 1024:
            yield Broken(
                f"{function.pointer}/description", f"the description has {len(text)} characters; 1024 are allowed"
            )


_NOT_AT_THE_ROOT: Final = ("oneOf", "anyOf", "allOf", "enum", "not")


@rule("openai.schema-root-object")
def schema_root_object(chat: Chat) -> Iterator[Broken]:
    """Below the root, all of these are allowed."""
    for function in chat.functions:
        schema = child(function, "parameters")
        for keyword in _NOT_AT_THE_ROOT:
            if keyword in schema.value:
                yield Broken(f"{schema.pointer}/{keyword}", f"the root of the tool's parameters may not have {keyword}")


@rule("openai.schema-array-items")
def schema_array_items(chat: Chat) -> Iterator[Broken]:
    """In strict schemas and in others."""
    for function in chat.functions:
        for schema in schemas(child(function, "parameters")):
            if schema.value.get("type") == "array" and "items" not in schema.value:
                yield Broken(schema.pointer, "an array's schema has no items")


@rule("openai.strict-schema-closed")
def strict_schema_closed(chat: Chat) -> Iterator[Broken]:
    """Schemas of tools and of the answer's format."""
    for schema in _strict_objects(chat):
        if schema.value.get("additionalProperties") is not False:
            yield Broken(schema.pointer, "the schema of an object in strict mode needs additionalProperties: false")


@rule("openai.strict-schema-all-required")
def strict_schema_all_required(chat: Chat) -> Iterator[Broken]:
    """An optional property gets the additional type null instead."""
    for schema in _strict_objects(chat):
        properties, required = schema.value.get("properties"), schema.value.get("required")
        named: list[Any] = list(required) if is_array(required) else []
        missing = [name for name in (properties if is_object(properties) else ()) if name not in named]
        if missing:
            yield Broken(schema.pointer, f"the schema of an object in strict mode must require {', '.join(missing)}")


def _strict_objects(chat: Chat) -> Iterator[Place]:
    roots = [child(function, "parameters") for function in chat.functions if function.value.get("strict") is True]
    wanted = child(child(chat.root, "response_format"), "json_schema")
    if wanted.value.get("strict") is True:
        roots.append(child(wanted, "schema"))
    for root in roots:
        yield from (node for node in schemas(root) if node.value.get("type") == "object")
