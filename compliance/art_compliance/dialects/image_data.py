"""Images in data URLs: whether their data is base64, and that of an image that OpenAI takes."""

from __future__ import annotations

import base64
import re
from string import ascii_letters, digits
from typing import Final

_DATA_URL: Final = re.compile(r"data:[^,]*;base64,")
_ALPHABET: Final = f"{ascii_letters}{digits}+/_-".encode()
_LINE_BREAK: Final = re.compile(r"[\r\n\t]+")
_BREAKS: Final = b"\r\n\t"
_SHORT: Final = 64
_MASK: Final = re.compile(
    r"\s*(<[^>]*>|\[[^\]]*\]|\{[^}]*\})|.*(REDACTED|MASKED|SCRUBBED|OMITTED|TRUNCATED|…|\.\.\.)", re.IGNORECASE
)
"""What recorders put in the place of data: a request that was altered says nothing about its provider."""
_BEGINNINGS: Final = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")


def is_masked(data: str) -> bool:
    """Whether a recorder put something else in the place of the data."""
    return _MASK.match(data[:100]) is not None or _MASK.match(data[-100:]) is not None


def data_in(url: object) -> str | None:
    """The data of a data URL with base64, or None for any other value."""
    found = _DATA_URL.match(url) if isinstance(url, str) else None
    return url[found.end() :] if isinstance(url, str) and found else None


def fault_of(data: str) -> str | None:
    """What is wrong with data that must be base64: only what no reader of base64 takes, so line breaks pass."""
    if is_masked(data) or _is_base64(data):
        return None
    return "the data of the image is not base64" if data else "the image is empty"


def is_no_image(data: str) -> bool:
    """Whether the data is base64 of something else than a PNG, JPEG, GIF or WEBP, by its first bytes."""
    if is_masked(data) or not _is_base64(data):
        return False
    start = _LINE_BREAK.sub("", data[:64])[:8].replace("-", "+").replace("_", "/")
    return not base64.b64decode(start + "=" * (-len(start) % 4)).startswith(_BEGINNINGS)


def _is_base64(data: str) -> bool:
    text = data.encode("ascii", "replace").translate(None, _BREAKS).rstrip(b"=")
    is_cut = len(text) % 4 == 1 and len(text) < _SHORT  # a longer one may have been cut by a recorder
    return bool(text) and not is_cut and not text.translate(None, _ALPHABET)
