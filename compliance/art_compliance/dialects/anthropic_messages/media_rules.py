"""Anthropic's rules about the data of images and documents."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.anthropic_messages.hosted import is_at_bedrock
from art_compliance.dialects.anthropic_messages.messages import Messages
from art_compliance.dialects.placeholders import is_placeholder
from art_compliance.dialects.ruling import Broken, Place, rule
from art_compliance.quoting import quote, show

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\s-]*={0,2}\s*")


@rule("anthropic.data-base64")
def data_base64(request: Messages) -> Iterator[Broken]:
    """It is not known whether the URL-safe alphabet is accepted, so that is not judged."""
    for source, data in _sources(request):
        if not _BASE64.fullmatch(data) and not is_placeholder(data):
            yield Broken(f"{source.pointer}/data", f"the data is not base64: {quote(data)}")


@rule("anthropic.data-left-out")
def data_left_out(request: Messages) -> Iterator[Broken]:
    """Recordings often leave long data out."""
    for source, data in _sources(request):
        if not _BASE64.fullmatch(data) and is_placeholder(data):
            yield Broken(f"{source.pointer}/data", f"the data is a placeholder: {quote(data)}")


@rule("anthropic.image-nonempty")
def image_nonempty(request: Messages) -> Iterator[Broken]:
    """Documents are not judged."""
    for source, data in _sources(request):
        if not data and _is_image(source):
            yield Broken(f"{source.pointer}/data", "the image is empty")


@rule("anthropic.media-type-matches")
def media_type_matches(request: Messages) -> Iterator[Broken]:
    """The first bytes say the type."""
    for source, data in _sources(request):
        stated = source.value.get("media_type")
        found = next((name for name, start in _STARTS.items() if start.match(_first_bytes(data))), None)
        if _is_image(source) and found is not None and found != stated:
            yield Broken(f"{source.pointer}/media_type", f"the data is {found}, but the media type is {show(stated)}")


@rule("anthropic.bedrock-no-urls")
def bedrock_no_urls(request: Messages) -> Iterator[Broken]:
    """Of images; nothing is known about documents."""
    if is_at_bedrock(request.url):
        for source in request.sources:
            if _is_image(source) and source.value.get("type") == "url":
                yield Broken(source.pointer, "Bedrock does not fetch images from URLs")


_STARTS: Final = {
    "image/png": re.compile(rb"\x89PNG\r\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""How the files of each type begin."""


def _first_bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data[:24])
    except ValueError:
        return b""


def _is_image(source: Place) -> bool:
    return source.above is not None and source.above.value.get("type") == "image"


def _sources(request: Messages) -> Iterator[tuple[Place, str]]:
    """The sources with data in base64, each with its data."""
    for source in request.sources:
        data = source.value.get("data")
        if source.value.get("type") == "base64" and isinstance(data, str):
            yield source, data
