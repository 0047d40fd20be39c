"""Anthropic's rules about what does not go together: roles and blocks, citations and schemas, servers and toolsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from art_compliance.dialects.anthropic_messages.messages import Messages
from art_compliance.dialects.ruling import Broken, Place, child, objects, rule
from art_compliance.quoting import show
from art_sdk.json_data import is_object


@rule("anthropic.image-of-user")
def image_of_user(request: Messages) -> Iterator[Broken]:
    """One inside a result is in a user's message."""
    for message in request.messages:
        for block in message.blocks if message.role == "assistant" else ():
            if block.value.get("type") == "image":
                yield Broken(f"{block.pointer}/type", "an assistant message cannot contain an image")


@rule("anthropic.citations-all-or-none")
def citations_all_or_none(request: Messages) -> Iterator[Broken]:
    """Only documents that stand directly in a message: those in results are the tools'."""
    documents = _documents(request)
    if any(map(_is_cited, documents)):
        for document in documents:
            if not _is_cited(document):
                yield Broken(document.pointer, "citations are enabled for other documents, but not for this one")


@rule("anthropic.citations-or-schema")
def citations_or_schema(request: Messages) -> Iterator[Broken]:
    """Whatever the schema."""
    wanted = child(child(request.root, "output_config"), "format", "output_format")
    if is_object(wanted.value.get("schema")) and any(map(_is_cited, _documents(request))):
        yield Broken(wanted.pointer, "citations are enabled for a document, so there cannot be an output schema")


def _documents(request: Messages) -> list[Place]:
    blocks = (block for message in request.messages for block in message.blocks)
    return [block for block in blocks if block.value.get("type") == "document"]


def _is_cited(document: Place) -> bool:
    return child(document, "citations").value.get("enabled") is True


@rule("anthropic.mcp-servers-and-toolsets")
def mcp_servers_and_toolsets(request: Messages) -> Iterator[Broken]:
    """Without any toolset, `anthropic.mcp-server-without-toolset` is broken instead."""
    toolsets = [tool for tool in objects(request.root, "tools") if tool.value.get("type") == "mcp_toolset"]
    servers = list(objects(request.root, "mcp_servers"))
    named = Counter(str(toolset.value.get("mcp_server_name")) for toolset in toolsets)
    for toolset in toolsets:
        name = toolset.value.get("mcp_server_name")
        if isinstance(name, str) and name not in [server.value.get("name") for server in servers]:
            yield Broken(f"{toolset.pointer}/mcp_server_name", f"no server in mcp_servers is named {show(name)}")
    for server in servers if toolsets else ():
        name, count = server.value.get("name"), named[str(server.value.get("name"))]
        if isinstance(name, str) and count != 1:
            yield Broken(f"{server.pointer}/name", f"{count} toolsets refer to the server {show(name)}; expected one")


@rule("anthropic.mcp-server-without-toolset")
def mcp_server_without_toolset(request: Messages) -> Iterator[Broken]:
    """A header decides: with the older beta, servers have no toolsets."""
    if not any(tool.value.get("type") == "mcp_toolset" for tool in objects(request.root, "tools")):
        for server in objects(request.root, "mcp_servers"):
            message = f"no toolset names the server {show(server.value.get('name'))}; only the older beta takes that"
            yield Broken(server.pointer, message)
