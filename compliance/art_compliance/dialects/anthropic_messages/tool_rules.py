"""Anthropic's rules about tools and their schemas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.anthropic_messages.messages import Messages
from art_compliance.dialects.json_schemas import Draft, schema_faults
from art_compliance.dialects.ruling import Broken, child, objects, rule
from art_compliance.pointers import escape
from art_compliance.quoting import show

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


@rule("anthropic.tool-name-pattern")
def tool_name_pattern(request: Messages) -> Iterator[Broken]:
    """The tools that the request offers."""
    for tool in request.tools:
        name = tool.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{tool.pointer}/name", f"the name {show(name)} does not match {_NAME.pattern}")


@rule("anthropic.tool-names-unique")
def tool_names_unique(request: Messages) -> Iterator[Broken]:
    """The provider's own tools count, too."""
    tools = objects(request.root, "tools")
    names = Counter(tool.value["name"] for tool in tools if isinstance(tool.value.get("name"), str))
    for name, count in names.items():
        if count > 1:
            yield Broken("/tools", f"{count} tools are named {show(name)}")


@rule("anthropic.input-schema-object")
def input_schema_object(request: Messages) -> Iterator[Broken]:
    """A tool without a schema is left to the wire schema."""
    for tool in request.tools:
        schema = child(tool, "input_schema")
        if "input_schema" in tool.value and schema.value.get("type") != "object":
            yield Broken(schema.pointer, 'the root of the tool\'s schema must have type "object"')


@rule("anthropic.input-schema-no-root-union")
def input_schema_no_root_union(request: Messages) -> Iterator[Broken]:
    """Below the root, all of these are allowed."""
    for tool in request.tools:
        schema = child(tool, "input_schema")
        for keyword in ("oneOf", "allOf", "anyOf"):
            if keyword in schema.value:
                yield Broken(f"{schema.pointer}/{keyword}", f"the root of the tool's schema cannot have {keyword}")


@rule("anthropic.property-key-pattern")
def property_key_pattern(request: Messages) -> Iterator[Broken]:
    """Properties at the root, which are the ones that the error names."""
    for tool in request.tools:
        properties = child(child(tool, "input_schema"), "properties")
        for name in properties.value:
            if not _PROPERTY.fullmatch(str(name)):
                pointer = f"{properties.pointer}/{escape(str(name))}"
                yield Broken(pointer, f"the property {show(name)} does not match {_PROPERTY.pattern}")


@rule("anthropic.input-schema-valid")
def input_schema_valid(request: Messages) -> Iterator[Broken]:
    """A schema that names draft 7 is held to that one. Its root is left to the rules above."""
    for tool in request.tools:
        schema = child(tool, "input_schema")
        if schema.value.get("type") == "object":
            draft: Draft = "draft-07" if "draft-07" in str(schema.value.get("$schema")) else "2020-12"
            for pointer, message in schema_faults(schema.value, draft):
                yield Broken(f"{schema.pointer}{pointer}", message)


@rule("anthropic.tool-choice-known")
def tool_choice_known(request: Messages) -> Iterator[Broken]:
    """The provider's own tools count, too."""
    choice = child(request.root, "tool_choice").value
    names = [tool.value.get("name") for tool in objects(request.root, "tools")]
    if choice.get("type") == "tool" and isinstance(choice.get("name"), str) and choice["name"] not in names:
        yield Broken("/tool_choice/name", f"the tool {show(choice['name'])} is not in tools")


@rule("anthropic.tool-choice-needs-tools")
def tool_choice_needs_tools(request: Messages) -> Iterator[Broken]:
    """The other types are accepted without tools; `tool` breaks `anthropic.tool-choice-known`."""
    if child(request.root, "tool_choice").value.get("type") == "any" and not request.body.get("tools"):
        yield Broken("/tool_choice", "a call is forced, but there are no tools")


@rule("anthropic.tools-not-all-deferred")
def tools_not_all_deferred(request: Messages) -> Iterator[Broken]:
    """The tools that find the others count, too."""
    tools = list(objects(request.root, "tools"))
    if tools and all(tool.value.get("defer_loading") is True for tool in tools):
        yield Broken("/tools", "every tool has defer_loading: true; the model sees none of them")


@rule("anthropic.search-domains-exclusive")
def search_domains_exclusive(request: Messages) -> Iterator[Broken]:
    """Of searching and of fetching."""
    for tool in objects(request.root, "tools"):
        if tool.value.get("allowed_domains") and tool.value.get("blocked_domains"):
            yield Broken(f"{tool.pointer}/blocked_domains", "allowed_domains and blocked_domains exclude each other")


@rule("anthropic.blocks-of-role")
def blocks_of_role(request: Messages) -> Iterator[Broken]:
    """What only the assistant says. What only the user says is not judged: servers' tools answer in both."""
    for message in request.messages:
        for block in message.blocks if message.role == "user" else ():
            if block.value.get("type") in ("tool_use", "thinking", "redacted_thinking"):
                yield Broken(
                    f"{block.pointer}/type", f"a user message cannot contain a {show(block.value['type'])} block"
                )
