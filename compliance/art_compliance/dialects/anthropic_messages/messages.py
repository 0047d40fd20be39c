"""A messages request as its rules read it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from art_compliance.dialects.ruling import JudgedRequest, Place, child, objects
from art_sdk.json_data import is_array, is_object


class Linked(Place, frozen=True, gc=False, kw_only=True):
    """A call or a result: `id` is the call's, or None where it is not a string."""

    id: str | None


class Turn(Place, frozen=True, gc=False, kw_only=True):
    """A message, or neighbouring messages of one role joined.

    `is_empty`: the content is an empty text or list. `is_blank`: it is a text of whitespace. Among its blocks are
    `calls` (`tool_use`), `results` (`tool_result`) and `blanks` (texts that are empty or whitespace). Plain text is
    not a block. `marks` counts the objects that are marked for the cache, at any depth.
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
        """The messages as Anthropic reads them: neighbours of one role are joined into one.

        A system message between them does not separate them.
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
        """The tools with a schema; the provider's own have none."""
        return tuple([tool for tool in objects(self.root, "tools") if tool.value.get("type") in (None, "custom")])

    @cached_property
    def system(self) -> tuple[Place, ...]:
        """The blocks of the system prompt."""
        return tuple(objects(self.root, "system"))

    @cached_property
    def sources(self) -> tuple[Place, ...]:
        """The sources of images and documents, in messages and in results."""
        return tuple([source for message in self.messages for block in message.blocks for source in _sources(block)])


def _sources(block: Place) -> Iterator[Place]:
    inner = objects(block, "content") if block.value.get("type") == "tool_result" else ()
    return (child(one, "source") for one in (block, *inner) if "source" in one.value)


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
    call_id = block.value.get(name)
    return Linked(block.value, block.above, block.under, block.at, id=call_id if isinstance(call_id, str) else None)


def blank_texts(blocks: tuple[Place, ...]) -> tuple[Place, ...]:
    """The text blocks that are empty or whitespace."""
    texts = [block for block in blocks if block.value.get("type") == "text"]
    return tuple([block for block in texts if _is_blank(block.value.get("text"))]) if texts else ()


def _is_blank(text: object) -> bool:
    return isinstance(text, str) and (not text or text.isspace())


def count_marks(value: object) -> int:
    """How many objects are marked for the cache: in a list, or a single one, with those inside their content."""
    count, waiting = 0, [value]
    while waiting:
        item: Any = waiting.pop()
        if is_object(item):
            count += "cache_control" in item and is_object(item["cache_control"])
            item = item.get("content")
        if is_array(item):
            waiting += item
    return count
