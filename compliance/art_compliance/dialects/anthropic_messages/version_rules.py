"""What Anthropic's API rejects since its version 2026-10-21."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.dialects.anthropic_messages.messages import Messages
from art_compliance.dialects.ruling import Broken, Place, objects, rule


@rule("anthropic.sampling-removed")
def sampling_removed(request: Messages) -> Iterator[Broken]:
    """Whatever the model and the value."""
    for name in ("temperature", "top_p", "top_k"):
        if request.body.get(name) is not None:
            yield Broken(f"/{name}", f"this version of the API does not accept {name}")


@rule("anthropic.document-of-user")
def document_of_user(request: Messages) -> Iterator[Broken]:
    """One inside the result of a server's tool is not concerned."""
    for block in _blocks_of(request, "assistant"):
        if block.value.get("type") == "document":
            yield Broken(block.pointer, "an assistant message cannot contain a document")


@rule("anthropic.citations-of-assistant")
def citations_of_assistant(request: Messages) -> Iterator[Broken]:
    """An empty list is accepted. Citations of documents and search results are a switch, and no list."""
    for block in _blocks_of(request, "user"):
        texts = objects(block, "content") if block.value.get("type") == "search_result" else (block,)
        for text in texts:
            if text.value.get("type") == "text" and text.value.get("citations"):
                yield Broken(f"{text.pointer}/citations", "text in a user message cannot have citations")


def _blocks_of(request: Messages, role: str) -> Iterator[Place]:
    return (block for message in request.messages if message.role == role for block in message.blocks)
