"""The credentials that an adapter is made with."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

TEST_KEY: Final = "art-compliance-key-0123456789abcdef"
"""The key for every adapter that calls the loopback provider. It opens nothing."""


class Access(Struct, frozen=True, kw_only=True):
    """Access to a real provider: a key, and the URL and the model unless the adapter chooses them."""

    key: str
    base_url: str | None = None
    model: str | None = None

    def __repr__(self) -> str:
        return f"Access(base_url={self.base_url!r}, model={self.model!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # msgspec's own shows every field to rich
        return [("base_url", self.base_url), ("model", self.model)]
