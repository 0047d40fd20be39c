"""A converse request as its rules read it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from art_compliance.dialects.bedrock_converse.decode import is_servers
from art_compliance.dialects.ruling import JudgedRequest, Place, objects
from art_sdk.json_data import is_array, is_object


class Turn(Place, frozen=True, gc=False, kw_only=True):
    """A message: its blocks, its calls (those for the caller to make) and its results (of such calls)."""

    role: Any
    is_empty: bool
    blocks: tuple[Place, ...]
    calls: tuple[Place, ...]
    results: tuple[Place, ...]


class Conversation(JudgedRequest):
    """The raw body, with its messages found once."""

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Every message."""
        return tuple(map(_read, objects(self.root, "messages")))


def _read(place: Place) -> Turn:
    content = place.value.get("content")
    blocks = tuple(objects(place, "content"))
    role = place.value.get("role")
    return Turn(
        place.value,
        place.above,
        place.under,
        place.at,
        role=role,
        is_empty=is_array(content) and not content,
        blocks=blocks,
        calls=tuple([one for one in _inside(blocks, "toolUse") if not is_servers(one.value)]),
        results=_inside(blocks, "toolResult") if role == "user" else (),
    )


def _inside(blocks: tuple[Place, ...], name: str) -> tuple[Place, ...]:
    return tuple([Place(block.value[name], block, name) for block in blocks if is_object(block.value.get(name))])
