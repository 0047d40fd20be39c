"""Which elements nobody sees. They are left out: hidden text is where instructions to a model are put."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Final

from art_sdk.agents.browser.pages.name_sets import name_set

SKIPPED: Final = name_set(
    "script style noscript template head meta link svg math iframe object embed canvas audio video base"
)
"""Elements whose content is not text of the page."""

_HIDING: Final = re.compile(
    r"(?<![\w-])(?:display:none|visibility:(?:hidden|collapse)|(?:opacity|font-size):(?=[.\d])0*+\.?+0*+(?:px|%|r?em|pt)?)"
    r"(?![\w.%-])"
)
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.DOTALL)
_HIDING_ATTRIBUTES: Final = name_set("hidden aria-hidden style type")


def is_hidden(tag: str, given: Mapping[str, str | None]) -> bool:
    """Whether the element with these attributes, and all that is in it, is hidden."""
    if tag == "dialog" and "open" not in given:
        return True
    if _HIDING_ATTRIBUTES.isdisjoint(given):
        return False
    return (
        "hidden" in given
        or given.get("aria-hidden") == "true"
        or (tag == "input" and (given.get("type") or "").strip().lower() == "hidden")
        or _HIDING.search(_plain(given.get("style") or "")) is not None
    )


def _plain(style: str) -> str:
    """The style in small letters, without comments, escapes and spaces."""
    text = style.lower()
    if "/*" in text or "\\" in text:
        text = _ESCAPE.sub(_unescaped, _COMMENT.sub("", text))
    return "".join(text.split())


def _unescaped(escape: re.Match[str]) -> str:
    return chr(min(int(escape[1], 16), sys.maxunicode)) if escape[1] else escape[2]
