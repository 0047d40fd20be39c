"""What can be sent as JSON: plain data with string keys, finite numbers, and text that UTF-8 can encode."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

import msgspec

from art_sdk.json_data import DEPTH_LIMIT, describe_key, is_array, is_deep, is_object, is_utf8, items_of, pairs_of

_TOO_DEEP: Final = f"nested deeper than {DEPTH_LIMIT} levels"

_MOST_BITS: Final = 14_284
"""Of an integer with 4,300 digits: Python's own limit for reading and writing one."""

_MOST_WRITTEN: Final = 100_000_000
_TOO_LARGE: Final = f"larger than {_MOST_WRITTEN:,} characters of JSON, with shared parts counted each time"
_TOO_LONG: Final = "an integer of more than 4,300 digits cannot be sent"

_AT_A_TIME: Final = 24
"""Items of a list that are checked together: so few that their brackets rarely exceed the depth limit."""

_encode: Final = msgspec.json.Encoder().encode


class Unsendable(NamedTuple):
    """Why a value cannot be sent, and where: `path` looks like `$.a[2].b`."""

    path: str
    reason: str

    @property
    def is_too_deep(self) -> bool:
        """Whether it is JSON all the same. A provider may accept it."""
        return self.reason == _TOO_DEEP

    @property
    def is_too_large(self) -> bool:
        """Whether it would be a very long text as JSON, so that nothing may write it."""
        return self.reason == _TOO_LARGE


def find_unsendable(value: object, path: str = "$") -> Unsendable | None:
    """The first part of the value that cannot be sent as JSON, or None. Looks into typed values, too.

    A list or object that occurs several times is read once and counted each time, as JSON text would repeat it.
    """
    sizes: dict[int, _Size] = {}
    frames = [_Frame(iter([("", value)]), 0)]
    while frames:  # a loop instead of recursion: the caller's stack may be deep already
        found = frames[-1].read_on(len(frames) - 1, sizes)
        if isinstance(found, str):
            return Unsendable(path + "".join(frame.step for frame in frames), found)
        if found is not None:
            frames.append(found)
        else:
            done = frames.pop()
            if frames:
                sizes[done.identity] = frames[-1].add(done)
    return None


class _Size(NamedTuple):
    """How large a list or object is as JSON: its values and characters, and its levels."""

    written: int
    levels: int


class _Frame:
    """A list or object that is being read. `at` is the key or index of the child that is read now."""

    __slots__ = ("at", "children", "identity", "levels", "written")

    def __init__(self, children: Iterator[tuple[str | int, object]], identity: int) -> None:
        self.children = children
        self.identity = identity
        self.at: str | int = ""
        self.written = 1
        self.levels = 0

    @property
    def step(self) -> str:
        if type(self.at) is int:
            return f"[{self.at}]"
        return f".{str.__str__(cast('str', self.at))}" if self.identity else ""

    def read_on(self, depth: int, sizes: Mapping[int, _Size]) -> _Frame | str | None:
        """The next list or object in it that is not known, or why a child cannot be sent. None at its end."""
        for at, child in self.children:
            self.at = at
            plain = _without_fields(child)
            reason = _explain_unsendable(plain, depth)
            if reason is not None:
                return reason
            self.written += str.__len__(cast("str", plain)) if issubclass(type(plain), str) else 1
            if is_object(plain) or is_array(plain):
                size = sizes.get(id(child))
                if size is None:
                    return _Frame(_children_of(plain), id(child))
                self._count(size)
                if depth + size.levels > DEPTH_LIMIT + 1:
                    return _TOO_DEEP
            if self.written > _MOST_WRITTEN:
                return _TOO_LARGE
        return None

    def add(self, child: _Frame) -> _Size:
        """Counts a child that is read, and returns its size."""
        size = _Size(child.written, child.levels + 1)
        self._count(size)
        return size

    def _count(self, size: _Size) -> None:
        self.written += size.written
        self.levels = max(self.levels, size.levels)


def _children_of(container: dict[str, Any] | list[Any] | tuple[Any, ...]) -> Iterator[tuple[str | int, object]]:
    return iter(pairs_of(container)) if isinstance(container, dict) else enumerate(items_of(container))


def _without_fields(value: object) -> object:
    """A typed value as an object. Any other as it is."""
    is_typed = issubclass(type(value), msgspec.Struct)
    return msgspec.structs.asdict(cast("msgspec.Struct", value)) if is_typed else value


def _explain_unsendable(item: object, depth: int) -> str | None:
    """Why the item itself, without its children, cannot be sent."""
    if is_object(item) or is_array(item):
        if depth > DEPTH_LIMIT:
            return _TOO_DEEP
        return _explain_bad_key(cast("dict[object, object]", item)) if is_object(item) else None
    kind = type(item)
    explain = _EXPLAINED.get(kind) or next((_EXPLAINED[base] for base in _EXPLAINED if issubclass(kind, base)), None)
    return f"a value of type {kind.__name__} is not JSON data" if explain is None else explain(item)


_EXPLAINED: Final[dict[type, Callable[[Any], str | None]]] = {
    int: lambda number: None if int.bit_length(number) <= _MOST_BITS else _TOO_LONG,
    str: lambda text: None if is_utf8(text) else "a lone surrogate cannot be sent as UTF-8; replace it with U+FFFD",
    float: lambda number: None if math.isfinite(number) else f"{float.__repr__(number)} is not a JSON number",
    type(None): lambda _: None,
}
"""For each type of a value without children, why it cannot be sent."""


def _explain_bad_key(table: dict[object, object]) -> str | None:
    for key, _ in pairs_of(table):
        if not issubclass(type(key), str):
            return f"{describe_key(key)} is not a string"
        if not is_utf8(cast("str", key)):
            return f"{describe_key(str.__str__(cast('str', key)))} contains a lone surrogate"
    return None


def is_surely_sendable(value: object) -> bool:
    """A fast check before `find_unsendable`: True is certain, False means that only the slow check can tell.

    msgspec writes NaN as null, and keys, dates and bytes as text. None of these reads back as what it was.
    """
    try:
        return all(map(_is_read_back, _pieces(value)))
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return False


def _pieces(value: object) -> Iterator[object]:
    """A request with its long lists in parts, at their depth, so that no long conversation is copied whole."""
    if type(value) is not dict:
        yield value
        return
    request = cast("dict[object, object]", value)
    long = {name: cast("list[object]", field) for name, field in request.items() if _is_long(field)}
    for items in long.values():
        yield from ([items[at : at + _AT_A_TIME]] for at in range(0, len(items), _AT_A_TIME))
    yield {**request, **dict.fromkeys(long)} if long else request


def _is_long(field: object) -> bool:
    return type(field) is list and len(cast("list[object]", field)) > _AT_A_TIME


def _is_read_back(piece: object) -> bool:
    text = _encode(piece)
    if msgspec.json.decode(text, type=type(piece)) != piece:
        return False
    may_be_deep = text.count(b"{") + text.count(b"[") > DEPTH_LIMIT
    return not (may_be_deep and is_deep(msgspec.to_builtins(piece)))


def repeats_much(*values: object) -> bool:
    """Whether the values have very many lists and objects, each counted as often as it occurs, or very many levels.

    Where parts are shared, a few hundred of them can occur 10^60 times, and whatever copies or writes the value never
    ends; a list that contains itself has no last level. `find_unsendable` and `to_plain` read each once.
    """
    level, seen = _containers(values), 0
    for _ in range(_DEEP):
        if not level:
            return False
        seen += sum(map(_width, level))
        if seen > _MANY:
            break
        level = _containers(gc.get_referents(*level))
    return True


_MANY: Final = 50_000
_DEEP: Final = 2_000


def _containers(values: Iterable[object]) -> list[Any]:
    """The lists, objects and typed values among the values; of a typed value, a tuple of its fields."""
    return [one if type(one) in _LENGTHS else _opened(one) for one in values if type(one) not in _LEAVES]


_LEAVES: Final = frozenset({str, int, float, bool, type(None)})

_LENGTHS: Final[dict[type, Callable[[Any], int]]] = {
    dict: cast("Any", dict).__len__,
    list: cast("Any", list).__len__,
    tuple: cast("Any", tuple).__len__,
}
"""How many children a container has, whatever a subclass says of its length."""


def _opened(value: object) -> object:
    if issubclass(type(value), msgspec.Struct):
        return msgspec.structs.astuple(cast("msgspec.Struct", value))
    return value if issubclass(type(value), tuple(_LENGTHS)) else ()


def _width(container: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> int:
    count = _LENGTHS.get(type(container)) or next(
        n for kind, n in _LENGTHS.items() if issubclass(type(container), kind)
    )
    return count(container)
