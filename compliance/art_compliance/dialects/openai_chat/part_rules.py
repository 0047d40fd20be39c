"""OpenAI's rules about parts of messages that are not text: images and sound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.image_data import data_in, fault_of, is_masked, is_no_image
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, Place, child, objects, rule
from art_compliance.quoting import show


@rule("openai.image-base64")
def image_base64(chat: Chat) -> Iterator[Broken]:
    """The alphabet of URLs and line breaks pass."""
    for place, data in _images(chat):
        fault = fault_of(data)
        if fault is not None:
            yield Broken(f"{place.pointer}/url", fault)


@rule("openai.image-format")
def image_format(chat: Chat) -> Iterator[Broken]:
    """By the first bytes of the data, whatever type the URL says."""
    for place, data in _images(chat):
        if is_no_image(data):
            yield Broken(f"{place.pointer}/url", "the image is not a PNG, JPEG, GIF or WEBP")


def _images(chat: Chat) -> Iterator[tuple[Place, str]]:
    """Each image whose data is in its URL: its object, and the data."""
    for message in chat.messages:
        for part in objects(message, "content"):
            image = child(part, "image_url")
            data = data_in(image.value.get("url"))
            if data is not None:
                yield image, data


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
            if isinstance(url, str) and not _IMAGE_URL.match(url) and not is_masked(url):
                yield Broken(f"{image.pointer}/url", f"{show(url)} does not start with http:, https: or data:")


_IMAGE_URL: Final = re.compile(r"https?:|data:", re.IGNORECASE)


@rule("openai.text-part-nonempty")
def text_part_nonempty(chat: Chat) -> Iterator[Broken]:
    """Beside other parts, or alone. Blanks are text."""
    for message in chat.messages:
        for part in objects(message, "content"):
            if part.value.get("type") == "text" and part.value.get("text") == "":
                yield Broken(f"{part.pointer}/text", "the text is empty; it is not known whether OpenAI accepts that")


@rule("openai.parts-nonempty")
def parts_nonempty(chat: Chat) -> Iterator[Broken]:
    """An empty text is not a list."""
    for message in chat.messages:
        if message.value.get("content") == []:
            yield Broken(f"{message.pointer}/content", "the content list is empty; it must have at least one part")
