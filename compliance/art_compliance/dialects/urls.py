"""Which service a URL names, and which model.

Published types and rules speak only for those who published them. Azure's and Gemini's URLs name the model, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def host_of(url: str | None) -> str | None:
    """The host that a URL names, or None where that says nothing about the service."""
    host = None if url is None else _split(url).hostname
    return None if host is None or host in _LOCAL else host


def path_of(url: str) -> str:
    """The path of a URL, or of a path with a query; empty for what is not a URL."""
    return _split(url).path


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # such as an open bracket in the host
        return urlsplit("")


def is_one_of(host: str, names: Sequence[str]) -> bool:
    """Whether the host is one of these or belongs to one: a subdomain, or a region before a hyphen."""
    return any(host == name or host.endswith((f".{name}", f"-{name}")) for name in names)


_MODEL: Final = re.compile(r"/(?:models|deployments)/([^/?]+?)(?::\w*[gG]enerateContent)?(?=[/?]|$)")
"""The model's segment without Gemini's verb; other colons belong to the model."""


def model_of(url: str | None) -> str | None:
    """The model that a URL names, or None where it names none."""
    found = _MODEL.search(url or "")
    return None if found is None else unquote(found[1])
