"""Blocks of foreign text: marked with a nonce that their content cannot know, and that ends them."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final

UNTRUSTED_TAG: Final = "untrusted_content"


def untrusted(source: str, text: str, nonce: str) -> str:
    """A block with the text, which must have gone through `page_text.shown` line by line."""
    return f'<{UNTRUSTED_TAG} source="{source}" nonce="{nonce}">\n{text}\n</{UNTRUSTED_TAG} nonce="{nonce}">'


def session_nonce(secret: bytes, session_id: str) -> str:
    """The nonce of a session's history. It stays from step to step, so that the history keeps its place in caches."""
    return as_letters(hmac.new(secret, session_id.encode("utf-8", "surrogatepass"), sha256).hexdigest())


def as_letters(digits: str) -> str:
    """A nonce of the hexadecimal digits, in letters: nothing takes it for a number."""
    return digits[:NONCE_LENGTH].translate(_LETTERS)


NONCE_LENGTH: Final = 16
_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")
