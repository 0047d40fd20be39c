"""Gemini's rules about bytes: images and other files, and thought signatures."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.dialects.gemini_generate.contents import Contents, field
from art_compliance.dialects.gemini_generate.protobuf import is_base64
from art_compliance.dialects.placeholders import is_placeholder
from art_compliance.dialects.ruling import Broken, child, rule
from art_compliance.quoting import quote, show


@rule("gemini.bytes-base64")
def bytes_base64(request: Contents) -> Iterator[Broken]:
    """In either alphabet, with or without padding, as protobuf's JSON allows."""
    for place, name, value in request.bytes:
        if not is_base64(value) and not is_placeholder(value):
            yield Broken(f"{place.pointer}/{name}", f"{name} is not base64: {quote(value)}")


@rule("gemini.bytes-left-out")
def bytes_left_out(request: Contents) -> Iterator[Broken]:
    """Recordings often leave long data out."""
    for place, name, value in request.bytes:
        if is_placeholder(value):
            yield Broken(f"{place.pointer}/{name}", f"the data is a placeholder: {quote(value)}")


@rule("gemini.media-type")
def media_type(request: Contents) -> Iterator[Broken]:
    """Only what is not a media type at all, and a wrong name that is often given. Vertex AI is not judged."""
    for content in request.contents if not request.is_vertex else ():
        for part in content.parts:
            data = child(part, "inlineData", "inline_data")
            given = field(data, "mimeType")
            if isinstance(given, str) and given and ("/" not in given or given == "image/jpg"):
                yield Broken(f"{data.pointer}/mimeType", f"{show(given)} is not a MIME type that Gemini knows")
