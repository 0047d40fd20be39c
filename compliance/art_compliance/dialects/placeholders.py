"""Tells data of a request from a placeholder that somebody put in its place after it was sent."""

from __future__ import annotations

import re
from typing import Final

_PLACEHOLDER: Final = re.compile(
    r"\s*(<.*>|\[.*\]|\{\{?.*\}?\}|\*{3,}|\.{3}|…|.*(…|\.{3}))\s*"  # <BASE64>, [image], {{data}}, ***, aGk…
    r"|.*(redacted|scrubbed|masked|truncated|omitted|placeholder).*",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST: Final = 300


def is_placeholder(text: str) -> bool:
    """Whether a text that is not base64 stands for data that was left out, as in edited recordings."""
    return len(text) <= _LONGEST and _PLACEHOLDER.fullmatch(text) is not None
