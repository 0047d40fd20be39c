"""A messages request as its rules look at it."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from art_compliance.dialects.ruling import JudgedRequest, Place, objects
from art_sdk.json_data import is_array, is_object


class Linked(Place, frozen=True, gc=False, kw_only=True):
    """A call or a result: `id` is the call's, or None where that is no text."""

    id: str | None


class Turn(Place, frozen=True, gc=False, kw_only=True):
    """A message, read once: what its content is, where that is text or an empty list, `is_empty` and `is_blank` say.

    Of its blocks (text alone is none) some are calls (`tool_use`), some results (`tool_result`), and some `blanks`:
    texts of nothing but white space, or of nothing. `marks` counts what is marked for the cache, at any depth.
    """

    role: Any
    is_empty: bool
    is_blank: bool
    blocks: tuple[Place, ...]
    calls: tuple[Linked, ...]
    results: tuple[Linked, ...]
    blanks: tuple[Place, ...]
    marks: int


class Messages(JudgedRequest):
    """The raw body, with messages, turns and tools found once."""

    @cached_property
    def messages(self) -> tuple[Turn, ...]:
        """Every message."""
        return tuple(map(_read, objects(self.root, "messages")))

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """As Anthropic takes them: those of one role that stand next to each other are one, with the blocks of all.

        A system message inside the conversation parts no turns.
        """
        said = (message for message in self.messages if message.role != "system")
        return tuple([_join(tuple(messages)) for _, messages in groupby(said, attrgetter("role"))])

    @cached_property
    def calls(self) -> tuple[Linked, ...]:
        """The calls of all turns."""
        return tuple([call for turn in self.turns for call in turn.calls])

    @cached_property
    def results(self) -> tuple[Linked, ...]:
        """The results of all turns."""
        return tuple([result for turn in self.turns for result in turn.results])

    @cached_property
    def tools(self) -> tuple[Place, ...]:
        """The tools that have a schema of their own; the provider's have none."""
        return tuple([tool for tool in objects(self.root, "tools") if tool.value.get("type") in (None, "custom")])

    @cached_property
    def system(self) -> tuple[Place, ...]:
        """The blocks of the system prompt."""
        return tuple(objects(self.root, "system"))


def _read(place: Place) -> Turn:
    blocks, content = tuple(objects(place, "content")), place.value.get("content")
    return Turn(
        place.value,
        place.above,
        place.under,
        place.at,
        role=place.value.get("role"),
        is_empty=content == "" or (is_array(content) and not content),
        is_blank=isinstance(content, str) and content.isspace(),
        blocks=blocks,
        calls=_linked(blocks, "tool_use", "id"),
        results=_linked(blocks, "tool_result", "tool_use_id"),
        blanks=blank_texts(blocks),
        marks=count_marks(place.value),
    )


def _join(messages: tuple[Turn, ...]) -> Turn:
    if len(messages) == 1:
        return messages[0]
    return replace(
        messages[0],
        blocks=tuple([block for message in messages for block in message.blocks]),
        calls=tuple([call for message in messages for call in message.calls]),
        results=tuple([result for message in messages for result in message.results]),
    )


def _linked(blocks: tuple[Place, ...], kind: str, name: str) -> tuple[Linked, ...]:
    found = [block for block in blocks if block.value.get("type") == kind]
    return tuple([_link(block, name) for block in found]) if found else ()


def _link(block: Place, name: str) -> Linked:
    told = block.value.get(name)
    return Linked(block.value, block.above, block.under, block.at, id=told if isinstance(told, str) else None)


def blank_texts(blocks: tuple[Place, ...]) -> tuple[Place, ...]:
    """The blocks of text in which nothing is said."""
    texts = [block for block in blocks if block.value.get("type") == "text"]
    return tuple([block for block in texts if _is_blank(block.value.get("text"))]) if texts else ()


def _is_blank(text: object) -> bool:
    return isinstance(text, str) and (not text or text.isspace())


def count_marks(value: object) -> int:
    """How many objects of a list, or one alone, are marked for the cache, with those of their content."""
    count, waiting = 0, [value]
    while waiting:
        item: Any = waiting.pop()
        if is_object(item):
            count += "cache_control" in item and is_object(item["cache_control"])
            item = item.get("content")
        if is_array(item):
            waiting += item
    return count
