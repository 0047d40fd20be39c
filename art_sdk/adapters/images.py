"""Images: which ones a provider accepts, and their data as base64."""

from __future__ import annotations

import binascii
from typing import Final

from art_sdk.messages import ImagePart

ANY_IMAGE: Final = "image/*"
"""The type of an image by URL if the caller does not know it: the provider detects it."""

_SCHEMES: Final = ("https://", "http://", "gs://")  # the last is Google's own storage


def explain_bad_image(image: ImagePart, types: frozenset[str]) -> str | None:
    """Why a provider that takes these media types refuses the image, or None."""
    if image.url is not None and not image.url.startswith(_SCHEMES):
        return f"the image URL must begin with one of {', '.join(_SCHEMES)}, not {image.url[:60]!r}"
    if image.url is not None and image.mime_type == ANY_IMAGE:
        return None
    if image.mime_type not in types:
        return f"the image type {image.mime_type!r} is not supported; supported: {', '.join(sorted(types))}"
    if image.data is None:
        return None
    if not image.data:
        return "the image has no data"
    try:
        binascii.a2b_base64(standard_base64(image.data), strict_mode=True)
    except ValueError as error:
        return f"the image data is not base64: {error}"
    return None


_STANDARD: Final = str.maketrans("-_", "+/")


def standard_base64(data: str) -> str:
    """The data in base64's usual alphabet. The one for URLs says the same: RFC 4648, section 5."""
    return data.translate(_STANDARD) if "-" in data or "_" in data else data
