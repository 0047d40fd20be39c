"""What can be sent as JSON: plain data with string keys, finite numbers, and text that UTF-8 can encode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeGuard, cast

import msgspec

DEPTH_LIMIT: Final = 200
"""How deep JSON data may be nested. Providers' parsers stop earlier (protobuf at 100)."""

_AT_A_TIME: Final = 24
"""Items of a list that are checked together: so few that their brackets rarely exceed the depth limit."""

_encode: Final = msgspec.json.Encoder().encode


class Unsendable(NamedTuple):
    """Why a value cannot be sent, and where: `path` looks like `$.a[2].b`."""

    path: str
    reason: str


def find_unsendable(value: object, path: str = "$") -> Unsendable | None:
    """The first part of the value that cannot be sent as JSON, or None. Looks into typed values, too."""
    waiting: list[tuple[object, str, int]] = [(value, path, 0)]
    while waiting:  # a loop instead of recursion: the caller's stack may be deep already
        item, where, depth = waiting.pop()
        if isinstance(item, msgspec.Struct):
            item = msgspec.structs.asdict(item)
        reason = _explain_unsendable(item, depth)
        if reason is not None:
            return Unsendable(where, reason)
        if is_object(item):
            waiting += [(child, f"{where}.{key}", depth + 1) for key, child in reversed(item.items())]
        elif is_array(item):
            waiting += [(item[at], f"{where}[{at}]", depth + 1) for at in reversed(range(len(item)))]
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


def is_deep(value: object) -> bool:
    """Whether JSON data is nested beyond `DEPTH_LIMIT`."""
    level: list[Any] = [value]
    for _ in range(DEPTH_LIMIT + 2):
        level = [child for item in level for child in _children(item)]
    return bool(level)


def _children(item: Any) -> Iterable[Any]:
    if is_object(item):
        return item.values()
    return item if is_array(item) else ()


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether JSON data is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether JSON data is an array."""
    return isinstance(value, (list, tuple))


def json_type(value: object) -> str:
    """What JSON calls the value's type, with its article."""
    names: dict[type, str] = {
        dict: "an object",
        list: "an array",
        tuple: "an array",
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        type(None): "null",
    }
    return names.get(type(value), f"a {type(value).__name__}")


def is_utf8(text: str) -> bool:
    """False for text with a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _explain_unsendable(item: object, depth: int) -> str | None:
    """Why the item itself, without its children, cannot be sent."""
    if item is None or isinstance(item, int):
        return None
    if isinstance(item, str):
        return None if is_utf8(item) else "a lone surrogate cannot be sent as UTF-8; replace it with U+FFFD"
    if isinstance(item, float):
        return None if math.isfinite(item) else f"{item} is not a JSON number"
    if not is_object(item) and not is_array(item):
        return f"a value of type {type(item).__name__} is not JSON data"
    if depth > DEPTH_LIMIT:
        return f"nested deeper than {DEPTH_LIMIT} levels"
    return _explain_bad_key(cast("dict[object, object]", item)) if is_object(item) else None


def _explain_bad_key(table: dict[object, object]) -> str | None:
    for key in table:
        if not isinstance(key, str):
            return f"the key {key!r} is not a string"
        if not is_utf8(key):
            return f"the key {key!r} contains a lone surrogate"
    return None
