"""Tags around a text, which the text can neither close nor open again."""

from __future__ import annotations

import re
from typing import Final

_BLANK: Final = "[\\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]*"
"""White space and invisible characters."""

_ESCAPED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;"}


def wrap(tag: str, text: str, **attributes: str) -> str:
    """`<tag name="value">`, the text, and `</tag>`, each on its lines.

    Whatever in the text could be read as this tag, closing or opening, has `&lt;` in place of `<`.
    """
    shown = "".join(f' {name}="{_escape(value)}"' for name, value in attributes.items())
    likeness = re.compile(f"<(?={_BLANK}/?{_BLANK}{re.escape(tag)}(?![A-Za-z0-9_-]))", re.IGNORECASE)
    return f"<{tag}{shown}>\n{likeness.sub('&lt;', text)}\n</{tag}>"


def _escape(value: str) -> str:
    return "".join(_ESCAPED.get(char, char) for char in value)
