"""Splits a large payload into pieces that are explained one after the other.

The validator makes an error for every branch of every union, all at once: one wrong block of Anthropic's has 124. The
schemas ask nothing of a list but of its items, so a list is wrong where a part of it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from art_compliance.pointers import escape
from art_sdk.json_data import is_array, is_object

SIZE: Final = 64
"""Items of lists in a piece, at most."""


class Piece(Struct, frozen=True):
    """A payload with some items of its lists, and none of the others.

    `moved` has the pointer of each list that begins later than in the payload, and by how many items, outer ones first.
    """

    value: Any
    moved: tuple[tuple[str, int], ...] = ()

    def original(self, pointer: str) -> str:
        """Where in the payload a place of the piece is."""
        for place, offset in reversed(self.moved):
            if pointer.startswith(f"{place}/"):
                index, slash, rest = pointer[len(place) + 1 :].partition("/")
                pointer = f"{place}/{int(index) + offset}{slash}{rest}"
        return pointer

    def within(self, step: str, holder: Any, *moved: tuple[str, int]) -> Piece:
        """The piece as part of an object or a list, which has it at this step."""
        return Piece(holder, (*moved, *((f"/{step}{place}", offset) for place, offset in self.moved)))


def split(payload: Any, size: int = SIZE) -> Iterator[Piece]:
    """Pieces that have, together, every item of every list of the payload; one if it has few."""
    return _Splitting(payload, size).pieces(payload)


class _Splitting:
    def __init__(self, payload: Any, size: int) -> None:
        self._weights: dict[int, int] = {}
        self._size = size
        self._weigh(payload)

    def _weigh(self, value: Any) -> int:
        """The number of items of all lists in the value."""
        if not (is_object(value) or is_array(value)):
            return 0
        known = self._weights.get(id(value))
        if known is None:
            items = value.values() if is_object(value) else value
            known = sum(map(self._weigh, items)) + (len(value) if is_array(value) else 0)
            self._weights[id(value)] = known
        return known

    def pieces(self, value: Any) -> Iterator[Piece]:
        if self._weigh(value) <= self._size:
            yield Piece(value)
        elif is_array(value):
            yield from self._of_list(value)
        else:
            yield from self._of_object(value)

    def _of_list(self, items: Sequence[Any]) -> Iterator[Piece]:
        for start, stop in self._runs([1 + self._weigh(item) for item in items]):
            if stop - start > 1:
                yield Piece(items[start:stop], (("", start),))
                continue
            for piece in self.pieces(items[start]):
                yield piece.within("0", [piece.value], ("", start))

    def _of_object(self, fields: dict[str, Any]) -> Iterator[Piece]:
        names, hollow = list(fields), _hollow(fields)
        for start, stop in self._runs([self._weigh(value) for value in fields.values()]):
            if stop - start > 1:
                yield Piece({**hollow, **{name: fields[name] for name in names[start:stop]}})
                continue
            name = names[start]
            for piece in self.pieces(fields[name]):
                yield piece.within(escape(name), {**hollow, name: piece.value})

    def _runs(self, weights: list[int]) -> Iterator[tuple[int, int]]:
        """Ranges of neighbours that are light enough together; one that is too heavy is alone."""
        start, total = 0, 0
        for at, weight in enumerate(weights):
            if at > start and total + weight > self._size:
                yield start, at
                start, total = at, 0
            total += weight
        if start < len(weights):
            yield start, len(weights)


def _hollow(value: Any) -> Any:
    """The value with its lists empty."""
    if is_object(value):
        return {name: _hollow(item) for name, item in value.items()}
    return [] if is_array(value) else value
