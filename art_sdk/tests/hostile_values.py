"""Values that misbehave when they are read: mappings without end, methods that raise, wrong types."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator, Mapping
from typing import Any


class Endless(Mapping[str, Any]):
    """A mapping whose keys never end."""

    def __getitem__(self, key: str) -> Any:
        return 1

    def __iter__(self) -> Iterator[str]:
        while True:
            yield "key"

    def __len__(self) -> int:
        return 1


class Deeper(Endless):
    """A mapping that contains mappings without end."""

    def __getitem__(self, key: str) -> Any:
        return Deeper()

    def __iter__(self) -> Iterator[str]:
        yield "a"


class RaisingMapping(UserDict[str, Any]):
    def __iter__(self) -> Iterator[str]:
        raise KeyError("hostile")


class RaisingList(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("hostile")

    def __radd__(self, other: Any) -> Any:
        raise RuntimeError("hostile")


class RaisingDict(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("hostile")

    keys = values = __iter__ = items  # type: ignore[assignment]


class RaisingText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("hostile")

    __hash__ = str.__hash__
    __eq__ = __len__ = __format__ = encode = __str__  # type: ignore[assignment]


class RaisingKey:
    """Neither a string nor something to print."""

    def __repr__(self) -> str:
        raise RuntimeError("hostile")


class Pretender:
    """Says that it is a list, as a mock with a spec does."""

    __class__ = list  # type: ignore[assignment]
