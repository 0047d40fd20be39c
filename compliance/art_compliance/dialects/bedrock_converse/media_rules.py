"""Bedrock's rules about images, documents, videos and sounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.bedrock_converse.conversation import Conversation
from art_compliance.dialects.image_data import fault_of
from art_compliance.dialects.ruling import Broken, Place, child, objects, rule, too_many
from art_compliance.quoting import show


def _blocks(request: Conversation) -> Iterator[Place]:
    """Every block of a message or a result."""
    for turn in request.turns:
        yield from turn.blocks
        for result in turn.results:
            yield from objects(result, "content")


@rule("bedrock.document-needs-text")
def document_needs_text(request: Conversation) -> Iterator[Broken]:
    """In the same message."""
    for turn in request.turns:
        documents = [block for block in turn.blocks if "document" in block.value]
        if documents and not any("text" in block.value for block in turn.blocks):
            yield Broken(documents[0].pointer, "the message has a document, but no text")


@rule("bedrock.document-name")
def document_name(request: Conversation) -> Iterator[Broken]:
    """In messages and in results. An underscore is accepted, though no document names it."""
    for place, name in _names(request):
        if not _NAME.fullmatch(name) or _SPACES.search(name):
            yield Broken(
                place.pointer, f"the name {show(name)} has a character that is not allowed, or consecutive whitespace"
            )


_NAME: Final = re.compile(r"[A-Za-z0-9_()\[\]\- \t\n\r]+")
_SPACES: Final = re.compile(r"\s\s")


@rule("bedrock.document-names-unique")
def document_names_unique(request: Conversation) -> Iterator[Broken]:
    """In the whole conversation, results included."""
    seen: set[str] = set()
    for place, name in _names(request):
        if name in seen:
            yield Broken(place.pointer, f"an earlier document is also named {show(name)}")
        seen.add(name)


def _names(request: Conversation) -> Iterator[tuple[Place, str]]:
    """The name of every document. An empty one is left to the wire schema."""
    for block in _blocks(request):
        document = child(block, "document")
        name = document.value.get("name")
        if isinstance(name, str) and name:
            yield Place({}, document, "name"), name


@rule("bedrock.bytes-base64")
def bytes_base64(request: Conversation) -> Iterator[Broken]:
    """The data of images, documents, videos and sounds, in messages and in results."""
    for block in _blocks(request):
        for kind in _MEDIA:
            source = child(child(block, kind), "source")
            data = source.value.get("bytes")
            if isinstance(data, str) and fault_of(data) is not None:
                yield Broken(f"{source.pointer}/bytes", "the data is not base64")


_MEDIA: Final = ("image", "document", "video", "audio")
_MOST: Final = {"image": 20, "document": 5}


@rule("bedrock.media-limits")
def media_limits(request: Conversation) -> Iterator[Broken]:
    """In one message."""
    for turn in request.turns:
        for kind, most in _MOST.items():
            found: list[Any] = [block for block in turn.blocks if kind in block.value]
            yield from too_many(found, f"{turn.pointer}/content", f"{kind}s", most)
