"""Blocks of an answer that go back with the next turn: kept in a message's `extensions`, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

_FROM_THE_MESSAGE: Final = frozenset({"text", "tool_use", "tool_result"})
"""Blocks that are written from the message itself. In its extensions they would be duplicates, or answer no call."""

Role = Literal["text", "blank", "call", "other"]
"""What a block of an answer is: text, text that is left out, a call, or one that is kept."""


class _KeptBlock(Struct, forbid_unknown_fields=True):
    at: Annotated[int, Meta(ge=0)]
    block: dict[str, Any]


class _Kept(Struct, forbid_unknown_fields=True):
    blocks: list[_KeptBlock]


def type_of(block: dict[str, Any]) -> str | None:
    """The kind of a block with a field `type`; None if it has none."""
    kind = block.get("type")
    return kind if isinstance(kind, str) else None


def keep(content: Iterable[tuple[Role, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The blocks to keep, as `{"at": 0, "block": {...}}`.

    Places are those among the blocks that go back: one block of all text, unless it is blank, then the calls.
    """
    blocks = list(content)
    has_text = any(role == "text" for role, _ in blocks)
    kept: list[dict[str, Any]] = []
    calls, is_after_text = 0, False
    for role, block in blocks:
        if role == "call":
            calls, is_after_text = calls + 1, has_text
        elif role == "text":
            is_after_text = True
        elif role == "other":
            kept.append({"at": len(kept) + is_after_text + calls, "block": block})
    return kept


def put_back(
    blocks: list[dict[str, Any]],
    extension: object,
    *,
    kind_of: Callable[[dict[str, Any]], str | None] = type_of,
    written: frozenset[str] = _FROM_THE_MESSAGE,
) -> None:
    """Inserts the kept blocks of `{"blocks": [{"at": 0, "block": {...}}]}`, each at its place.

    `written` are the kinds of blocks that are written from the message itself. Raises ValueError for an extension of
    another form, with blocks of these kinds, or with places that the blocks do not have.
    """
    free = 0
    for one in msgspec.convert(extension, _Kept).blocks:
        kind = kind_of(one.block)
        if kind is None or kind in written:
            raise ValueError(f"a block of type {kind!r} does not belong there")
        if not free <= one.at <= len(blocks):
            raise ValueError(f"a block has the invalid place {one.at}")
        blocks.insert(one.at, one.block)
        free = one.at + 1
