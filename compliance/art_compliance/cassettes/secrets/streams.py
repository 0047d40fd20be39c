"""Joins what a stream split over its events: a key may come in several deltas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from art_sdk.json_data import is_array, is_object

Clean = Callable[[list[str]], list[str]]
"""What is done to the pieces of one text; it returns as many."""


class _Leaf(NamedTuple):
    """A text in an event: what holds it, and under which name or number."""

    holder: Any
    name: str | int


_TELLING: Final = ("type", "index", "output_index", "content_index", "item_id")
"""Fields that say to which text a delta belongs."""

_DEPTH: Final = 24
"""Deltas are near the root; deeper data are not joined."""


def join_events(events: list[Any], clean: Clean) -> None:
    """Cleans the texts of the events, each joined over all events that have a piece of it. Changes the events."""
    channels: dict[tuple[Any, ...], list[_Leaf]] = {}
    for event in events:
        root = tuple(str(event.get(name)) for name in _TELLING) if is_object(event) else ()
        for place, leaf in _leaves(event, (), _DEPTH):
            channels.setdefault((root, place), []).append(leaf)
    for leaves in channels.values():
        pieces: list[str] = [leaf.holder[leaf.name] for leaf in leaves]
        if len(set(pieces)) < 2:  # an id that every event repeats is not text in pieces
            continue
        for leaf, piece in zip(leaves, clean(pieces), strict=True):
            leaf.holder[leaf.name] = piece


def _leaves(value: Any, place: tuple[Any, ...], depth: int) -> Iterator[tuple[tuple[Any, ...], _Leaf]]:
    """The texts below a value. An item of a list is known by its `index`, if it has one."""
    items = enumerate(value) if is_array(value) else value.items() if is_object(value) else ()
    for name, item in items:
        number = item.get("index", name) if is_object(item) and isinstance(name, int) else name
        here = (*place, number if isinstance(number, (str, int)) else name)
        if isinstance(item, str):
            yield here, _Leaf(value, name)
        elif depth:
            yield from _leaves(item, here, depth - 1)
