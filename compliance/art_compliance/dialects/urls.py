"""Which service a URL names, and which model.

Published types and rules speak only for those who published them. Azure, Bedrock and Google name the model in URLs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote


@lru_cache(maxsize=1024)
def host_of(url: str | None) -> str | None:
    """The host that a URL names, in lower case and without its port; None for no URL and for a path alone.

    A masked host, such as `<API_BASE>` or `RESOURCE.example.com`, and a local one are hosts of services that are not
    known. The scheme may be missing.
    """
    authority = "" if url is None else _split(url).authority.rpartition("@")[2]
    bracketed = re.match(r"\[([0-9a-fA-F:.]+)\]", authority)
    host = bracketed[1] if bracketed else re.sub(r":\d*$", "", authority)
    return host.lower().rstrip(".") or None


def path_of(url: str) -> str:
    """The path of a URL, or of a path with a query."""
    return _split(url).path


def target_of(url: str) -> str:
    """The path and the query of a URL, as a request line has them: all that it says without its host."""
    parts = _split(url)
    return f"{parts.path}{parts.query}"


class _Parts(NamedTuple):
    authority: str
    path: str
    query: str


_PARTS: Final = re.compile(
    r"(?:[a-zA-Z][a-zA-Z0-9+.-]*://(?P<authority>[^/?#]*)"  # with a scheme
    r"|(?P<bare>[^/?#]*[.:<>{}\[\]$*][^/?#]*|localhost)(?=/))?"  # a name that looks like a host's, or a masked one
    r"(?P<path>[^?#]*)(?P<query>\??[^#]*)"
)


@lru_cache(maxsize=1024)
def _split(url: str) -> _Parts:
    """The parts of a URL; masked ones, which `urlsplit` refuses or takes for paths, are read as well."""
    found = _PARTS.match(url)
    if found is None:
        return _Parts("", url, "")
    return _Parts(found["authority"] or found["bare"] or "", found["path"], found["query"])


def is_one_of(host: str, names: Sequence[str]) -> bool:
    """Whether the host is one of these or belongs to one: a subdomain, or a region before a hyphen."""
    return any(host == name or host.endswith((f".{name}", f"-{name}")) for name in names)


_MODEL: Final = re.compile(
    r"/(?:models?|deployments)/([^/?]+?)(?::(?:\w*[gG]enerateContent|rawPredict|streamRawPredict))?(?=[/?]|$)"
)
"""The model's segment without the verb of Gemini or Vertex AI; other colons belong to the model."""


@lru_cache(maxsize=1024)
def model_of(url: str | None) -> str | None:
    """The model that a URL names, or None where it names none."""
    found = _MODEL.search(url or "")
    return None if found is None else unquote(found[1])
