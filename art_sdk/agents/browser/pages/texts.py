"""What happens to every text of a page before a prompt shows it.

Invisible characters are dropped, whitespace is collapsed, and angle brackets become ‹ and ›: whatever a page says, it
writes no line and no tag of its own, so it can neither close the block that it is in nor look like a section.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls, and what Unicode says to ignore: soft hyphens, zero-width, bidi and tag characters."""

_SPACE: Final = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
_BRACKETS: Final = str.maketrans(
    dict.fromkeys("<\uff1c\ufe64\u226e\u2329\u3008\u27e8", "‹")
    | dict.fromkeys(">\uff1e\ufe65\u226f\u232a\u3009\u27e9", "›")
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """The text without characters that nobody sees, on one line."""
    if text.isascii():
        if text.isprintable() and "  " not in text:  # most texts
            return text.strip(" ")
    else:
        text = _SURROGATE.sub("\ufffd", text)
    return _SPACE.sub(" ", _INVISIBLE.sub("", text)).strip(" ")


def neutral(text: str) -> str:
    """The text with ‹ and › in place of angle brackets and of characters that look like them."""
    return text.translate(_BRACKETS) if "<" in text or ">" in text or not text.isascii() else text


def shown(text: str) -> str:
    """Foreign text as a prompt may show it: visible, on one line, without angle brackets."""
    return neutral(visible(text))


def clip(text: str, most: int) -> str:
    """The text with at most `most` characters, the last of which says that something is missing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def clip_middle(text: str, each: int) -> str:
    """The text's beginning and end, with what is missing said in between."""
    return text if len(text) <= 2 * each + 1 else f"{text[:each]}…{text[-each:]}"


def folded(text: str) -> str:
    """The text as it is compared and searched: compatibility forms and case do not count."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
