"""OpenAI's rules about parts of messages that are no text: images and sound."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, Place, child, objects, rule
from art_compliance.quoting import show

_DATA_URL: Final = re.compile(r"data:[^,]*;base64,")
_OTHER_CHARACTER: Final = re.compile(r"[^A-Za-z0-9+/_-]")
_LINE_BREAK: Final = re.compile(r"[\r\n\t]+")
_SHORT: Final = 64
_MASK: Final = re.compile(
    r"\s*(<[^>]*>|\[[^\]]*\]|\{[^}]*\})|.*(REDACTED|MASKED|SCRUBBED|OMITTED|TRUNCATED|…|\.\.\.)", re.IGNORECASE
)
"""What recorders put in the place of data: a request that was altered says nothing about its provider."""


@rule("openai.image-base64")
def image_base64(chat: Chat) -> Iterator[Broken]:
    """Only what no reader of base64 takes: the alphabet of URLs and line breaks pass."""
    for place, data in _images(chat):
        if not _is_masked(data) and not _is_base64(data):
            yield Broken(
                f"{place.pointer}/url", "the data of the image is not base64" if data else "the image is empty"
            )


def _is_base64(data: str) -> bool:
    text = _LINE_BREAK.sub("", data).rstrip("=")
    is_cut = len(text) % 4 == 1 and len(text) < _SHORT  # a longer one may have been cut by a recorder
    return bool(text) and not is_cut and _OTHER_CHARACTER.search(text) is None


@rule("openai.image-format")
def image_format(chat: Chat) -> Iterator[Broken]:
    """By the first bytes of the data, whatever type the URL says."""
    for place, data in _images(chat):
        if _is_base64(data) and not _is_masked(data):
            start = _LINE_BREAK.sub("", data[:64])[:8].replace("-", "+").replace("_", "/")
            if not base64.b64decode(start + "=" * (-len(start) % 4)).startswith(_BEGINNINGS):
                yield Broken(f"{place.pointer}/url", "the data of the image is not that of a PNG, JPEG, GIF or WEBP")


_BEGINNINGS: Final = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")


def _images(chat: Chat) -> Iterator[tuple[Place, str]]:
    """Each image whose data is in its URL: its object, and the data."""
    for message in chat.messages:
        for part in objects(message, "content"):
            image = child(part, "image_url")
            url = image.value.get("url")
            if isinstance(url, str) and (found := _DATA_URL.match(url)):
                yield image, url[found.end() :]


def _is_masked(data: str) -> bool:
    return _MASK.match(data[:100]) is not None or _MASK.match(data[-100:]) is not None


@rule("openai.audio-input-models")
def audio_input_models(chat: Chat) -> Iterator[Broken]:
    """Of the user, who alone may send sound."""
    for message in chat.messages:
        for part in objects(message, "content"):
            if part.value.get("type") == "input_audio":
                yield Broken(f"{part.pointer}/type", f"{chat.model} does not accept input_audio")


@rule("openai.image-url")
def image_url(chat: Chat) -> Iterator[Broken]:
    """What a mask stands for is not known."""
    for message in chat.messages:
        for part in objects(message, "content"):
            image = child(part, "image_url")
            url = image.value.get("url")
            if isinstance(url, str) and not _IMAGE_URL.match(url) and not _is_masked(url):
                yield Broken(f"{image.pointer}/url", f"{show(url)} begins with none of http:, https: and data:")


_IMAGE_URL: Final = re.compile(r"https?:|data:", re.IGNORECASE)


@rule("openai.text-part-nonempty")
def text_part_nonempty(chat: Chat) -> Iterator[Broken]:
    """Beside other parts, or alone. Blanks are text."""
    for message in chat.messages:
        for part in objects(message, "content"):
            if part.value.get("type") == "text" and part.value.get("text") == "":
                yield Broken(f"{part.pointer}/text", "the text is empty; it is not known whether OpenAI takes that")


@rule("openai.parts-nonempty")
def parts_nonempty(chat: Chat) -> Iterator[Broken]:
    """An empty text is no list."""
    for message in chat.messages:
        if message.value.get("content") == []:
            yield Broken(f"{message.pointer}/content", "the list is empty; it must have at least one part")
