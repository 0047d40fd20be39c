"""Images, as every provider takes them: of a known type, and as base64 or by URL."""

from __future__ import annotations

import binascii
from typing import Final

from art_sdk.messages import ImagePart

UNKNOWN: Final = "image/*"
_SCHEMES: Final = ("https://", "http://", "gs://")  # the last is Google's own storage


def explain_bad_image(image: ImagePart, types: frozenset[str]) -> str | None:
    """Why a provider that takes these media types refuses the image, or None.

    The type of an image that is given by its URL may be unknown (`image/*`): the provider finds it out.
    """
    if image.url is not None and not image.url.startswith(_SCHEMES):
        return f"an image whose URL {image.url[:60]!r} begins with none of {', '.join(_SCHEMES)}"
    if image.url is not None and image.mime_type == UNKNOWN:
        return None
    if image.mime_type not in types:
        return f"an image of the type {image.mime_type!r}; it takes {', '.join(sorted(types))}"
    if image.data is None:
        return None
    if not image.data:
        return "an image without data"
    try:
        binascii.a2b_base64(image.data, strict_mode=True)
    except ValueError as error:
        return f"an image whose data is not base64: {error}"
    return None
