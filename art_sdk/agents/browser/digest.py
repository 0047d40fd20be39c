"""The hash of foreign text: tells texts apart, and says nothing of what is in them."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

_CHUNK: Final = 65_536
"""Characters that are encoded at once: encoding a whole page would take three times its memory."""


def digest_of(text: str) -> str:
    """The text's hash."""
    digest = sha256()
    for at in range(0, len(text), _CHUNK):
        digest.update(text[at : at + _CHUNK].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
