"""The suite's own exam: adapters made wrong, each in one named way, and the checks that must see it."""

from __future__ import annotations

from typing import Final

from art_compliance.miniatures import calls, conduct, content
from art_compliance.miniatures.base import Miniature

MINIATURES: Final[tuple[Miniature, ...]] = tuple(
    value for module in (content, calls, conduct) for value in vars(module).values() if isinstance(value, Miniature)
)

__all__ = ["MINIATURES", "Miniature"]
