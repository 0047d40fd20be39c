"""Keys in the header that most services use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BEARER_ADVICE: Final = "send it as the header authorization: Bearer KEY"


def find_bearer_key(headers: Mapping[str, str], target: str = "") -> str | None:
    """The key of a header `authorization: Bearer ...`, or None."""
    del target
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None
