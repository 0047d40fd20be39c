"""Blocks of an answer that go back with the next turn: kept in a message's `extensions`, each with its place."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

_FROM_THE_MESSAGE: Final = frozenset({"text", "tool_use", "tool_result"})
"""Blocks that are written from the message itself. In its extensions they would be duplicates, or answer no call."""


class _KeptBlock(Struct, forbid_unknown_fields=True):
    at: Annotated[int, Meta(ge=0)]
    block: dict[str, Any]

    def __post_init__(self) -> None:
        kind = self.block.get("type")
        if not isinstance(kind, str) or kind in _FROM_THE_MESSAGE:
            raise ValueError(f"a block of type {kind!r} does not belong there")


class _Kept(Struct, forbid_unknown_fields=True):
    blocks: list[_KeptBlock]


def put_back(blocks: list[dict[str, Any]], extension: object) -> None:
    """Inserts the kept blocks of `{"blocks": [{"at": 0, "block": {...}}]}`, each at its place.

    Raises ValueError for an extension of another form, or with places that the blocks do not have.
    """
    free = 0
    for one in msgspec.convert(extension, _Kept).blocks:
        if not free <= one.at <= len(blocks):
            raise ValueError(f"a block has the invalid place {one.at}")
        blocks.insert(one.at, one.block)
        free = one.at + 1
