"""Which service a URL names: published types and rules speak for those who published them, and for nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def host_of(url: str | None) -> str | None:
    """The host that a URL names, or None where it says nothing of the service."""
    host = None if url is None else urlsplit(url).hostname
    return None if host is None or host in _LOCAL else host


def is_one_of(host: str, names: Sequence[str]) -> bool:
    """Whether the host is one of these, or belongs to one: a subdomain, or a region before a hyphen."""
    return any(host == name or host.endswith((f".{name}", f"-{name}")) for name in names)
