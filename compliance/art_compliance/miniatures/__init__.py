"""The suite's own exam: adapters made wrong, each in one named way, and the checks that must fail for it."""

from __future__ import annotations

from typing import Final

from art_compliance.miniatures import (
    answers,
    calls,
    conduct,
    connections,
    content,
    conversations,
    declared,
    decoding,
    demanding,
    edges,
    errors,
    family,
    faults,
    formats,
    forms,
    gateways,
    generated,
    isolation,
    learning,
    methods,
    models,
    pieces,
    readers,
    remembering,
    replay,
    reported,
    returning,
    rules,
    settings,
    sparing,
    states,
    streams,
    surroundings,
    times,
    usual,
    ways,
    wire,
)
from art_compliance.miniatures.base import Miniature

_MODULES: Final = (
    content,
    calls,
    demanding,
    remembering,
    models,
    conduct,
    declared,
    wire,
    rules,
    answers,
    forms,
    gateways,
    sparing,
    decoding,
    formats,
    streams,
    family,
    faults,
    errors,
    states,
    reported,
    returning,
    edges,
    usual,
    isolation,
    learning,
    settings,
    conversations,
    surroundings,
    pieces,
    generated,
    times,
    methods,
    replay,
    ways,
    readers,
    connections,
)

MINIATURES: Final[tuple[Miniature, ...]] = tuple(
    value for module in _MODULES for value in vars(module).values() if isinstance(value, Miniature)
)


def find_miniature(name: str) -> Miniature:
    """The miniature of that name. Raises LookupError."""
    found = next((one for one in MINIATURES if one.id == name), None)
    if found is None:
        raise LookupError(f"there is no miniature {name!r}")
    return found


__all__ = ["MINIATURES", "Miniature", "find_miniature"]
