"""OpenAI's rules about tools and their schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.json_schemas import schema_faults
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, Place, child, rule, schemas, too_many
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object


@rule("openai.tools-nonempty")
def tools_nonempty(chat: Chat) -> Iterator[Broken]:
    """The field should be left out instead."""
    tools = chat.body.get("tools")
    if is_array(tools) and not tools:
        yield Broken("/tools", "the list is empty; omit the field")


@rule("openai.tools-max128")
def tools_max128(chat: Chat) -> Iterator[Broken]:
    """All kinds of tools count."""
    yield from too_many(chat.body.get("tools"), "/tools", "tools", 128)


@rule("openai.tool-choice-needs-tools")
def tool_choice_needs_tools(chat: Chat) -> Iterator[Broken]:
    """Even `none` needs tools."""
    if chat.body.get("tool_choice") is not None and not chat.body.get("tools"):
        yield Broken("/tool_choice", "tool_choice needs tools")


@rule("openai.tool-choice-known")
def tool_choice_known(chat: Chat) -> Iterator[Broken]:
    """A choice without any tools breaks another rule."""
    chosen = child(child(chat.root, "tool_choice"), "function")
    name = chosen.value.get("name")
    if isinstance(name, str) and chat.functions and name not in [function.name for function in chat.functions]:
        yield Broken(f"{chosen.pointer}/name", f"no tool is named {show(name)}")


@rule("openai.tool-names-unique")
def tool_names_unique(chat: Chat) -> Iterator[Broken]:
    """The second tool of a name, and each one after it."""
    seen: set[str] = set()
    for function in chat.functions:
        if function.name is not None and function.name in seen:
            yield Broken(f"{function.pointer}/name", f"two tools are named {show(function.name)}")
        seen.add(function.name or "")


_NAME: Final = re.compile(r"[a-zA-Z0-9_-]*")


@rule("openai.tool-name-pattern")
def tool_name_pattern(chat: Chat) -> Iterator[Broken]:
    """Functions that are offered, and functions that are called."""
    for function in chat.named:
        if function.name is not None and not _NAME.fullmatch(function.name):
            yield Broken(
                f"{function.pointer}/name",
                f"the name {show(function.name)} may only contain a-z, A-Z, 0-9, _ and -",
            )


@rule("openai.tool-name-len64")
def tool_name_len64(chat: Chat) -> Iterator[Broken]:
    """As above."""
    for function in chat.named:
        if function.name is not None and len(function.name) > 64:
            yield Broken(
                f"{function.pointer}/name", f"the name has {len(function.name)} characters; at most 64 are allowed"
            )


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
                f"{function.pointer}/description",
                f"the description has {len(text)} characters; at most 1024 are allowed",
            )


_NOT_AT_THE_ROOT: Final = ("oneOf", "anyOf", "allOf", "enum", "not")


@rule("openai.schema-root-object")
def schema_root_object(chat: Chat) -> Iterator[Broken]:
    """Below the root, all of these are allowed."""
    for function in chat.functions:
        schema = child(function, "parameters")
        for keyword in _NOT_AT_THE_ROOT:
            if keyword in schema.value:
                yield Broken(f"{schema.pointer}/{keyword}", f"the root of the tool's parameters cannot have {keyword}")


@rule("openai.schema-valid")
def schema_valid(chat: Chat) -> Iterator[Broken]:
    """As a JSON Schema of draft 7: of tools, and of the answer's format."""
    roots = [child(function, "parameters") for function in chat.functions]
    roots.append(child(_wanted(chat), "schema"))
    for root in roots:
        for pointer, message in schema_faults(root.value):
            yield Broken(f"{root.pointer}{pointer}", message)


@rule("openai.response-schema-name")
def response_schema_name(chat: Chat) -> Iterator[Broken]:
    """A missing name is left to the wire schema."""
    name = _wanted(chat).value.get("name")
    if isinstance(name, str) and not _SCHEMA_NAME.fullmatch(name):
        yield Broken(f"{_wanted(chat).pointer}/name", f"the name {show(name)} does not match {_SCHEMA_NAME.pattern}")


_SCHEMA_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def _wanted(chat: Chat) -> Place:
    return child(child(chat.root, "response_format"), "json_schema")


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
            yield Broken(schema.pointer, "in strict mode, an object's schema must have additionalProperties: false")


@rule("openai.strict-schema-all-required")
def strict_schema_all_required(chat: Chat) -> Iterator[Broken]:
    """An optional property gets the additional type null instead."""
    for schema in _strict_objects(chat):
        properties, required = schema.value.get("properties"), schema.value.get("required")
        named: list[Any] = list(required) if is_array(required) else []
        missing = [name for name in (properties if is_object(properties) else ()) if name not in named]
        if missing:
            yield Broken(schema.pointer, f"in strict mode, an object's schema must require {', '.join(missing)}")


@rule("openai.strict-schema-keywords")
def strict_schema_keywords(chat: Chat) -> Iterator[Broken]:
    """At any depth; the root of a tool's parameters breaks another rule."""
    for root in _strict_roots(chat):
        for schema in schemas(root):
            for keyword in ("oneOf", "allOf"):
                if keyword in schema.value and (schema is not root or root.under == "schema"):
                    yield Broken(f"{schema.pointer}/{keyword}", f"in strict mode, a schema cannot have {keyword}")


@rule("openai.response-schema-root")
def response_schema_root(chat: Chat) -> Iterator[Broken]:
    """In strict mode. A root without a type is left to other rules."""
    wanted = _wanted(chat)
    kind = child(wanted, "schema").value.get("type")
    if wanted.value.get("strict") is True and isinstance(kind, str) and kind != "object":
        yield Broken(
            f"{wanted.pointer}/schema/type", f'the type of the response schema is {show(kind)}; it must be "object"'
        )


@rule("openai.parallel-calls-need-tools")
def parallel_calls_need_tools(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    offered = chat.body.get("tools") or chat.body.get("functions")
    if chat.body.get("parallel_tool_calls") is not None and not offered:
        yield Broken("/parallel_tool_calls", "parallel_tool_calls needs tools")


def _strict_objects(chat: Chat) -> Iterator[Place]:
    for root in _strict_roots(chat):
        yield from (node for node in schemas(root) if node.value.get("type") == "object")


def _strict_roots(chat: Chat) -> list[Place]:
    roots = [child(function, "parameters") for function in chat.functions if function.value.get("strict") is True]
    wanted = _wanted(chat)
    if wanted.value.get("strict") is True:
        roots.append(child(wanted, "schema"))
    return roots
