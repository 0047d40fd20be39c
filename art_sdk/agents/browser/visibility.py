"""Which elements nobody sees. They are left out: hidden text is where instructions to a model are put."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

SKIPPED: Final = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "meta",
        "link",
        "svg",
        "math",
        "iframe",
        "object",
        "embed",
        "canvas",
        "audio",
        "video",
        "base",
    ]
)
"""Elements whose content is no text of the page."""

_HIDING: Final = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|(?:opacity|font-size):0(?:px|%|em|rem)?(?:;|!|$)"
)


def is_hidden(tag: str, given: Mapping[str, str]) -> bool:
    """Whether the element with these attributes, and all that is in it, is hidden."""
    style = given.get("style")
    return (
        "hidden" in given
        or given.get("aria-hidden") == "true"
        or (tag == "input" and given.get("type", "").strip().lower() == "hidden")
        or (tag == "dialog" and "open" not in given)
        or (style is not None and _HIDING.search(_without_space(style)) is not None)
    )


def _without_space(style: str) -> str:
    return "".join(style.lower().split())
