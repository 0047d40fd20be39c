"""The suite's own exam: adapters made wrong, each in one named way, and the checks that must see it."""

from __future__ import annotations

from typing import Final

from art_compliance.miniatures import answers, calls, conduct, content, generated, pieces, replay, rules, streams, wire
from art_compliance.miniatures.base import Miniature

_MODULES: Final = (content, calls, conduct, wire, rules, answers, streams, pieces, generated, replay)

MINIATURES: Final[tuple[Miniature, ...]] = tuple(
    value for module in _MODULES for value in vars(module).values() if isinstance(value, Miniature)
)

__all__ = ["MINIATURES", "Miniature"]
