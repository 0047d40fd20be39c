"""What may be sent as JSON: plain data with string keys, finite numbers, and text that UTF-8 can hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeGuard, cast

import msgspec

DEPTH_LIMIT: Final = 200
"""How deep JSON data may be nested. Providers' parsers stop earlier (protobuf at 100)."""


_encode: Final = msgspec.json.Encoder().encode


class Unsendable(NamedTuple):
    """Why a value cannot be sent, and where: `path` reads `$.a[2].b`."""

    path: str
    reason: str


def find_unsendable(value: object, path: str = "$", depth: int = 0) -> Unsendable | None:
    """The first thing in the value that cannot be sent as JSON, or None."""
    if value is None or isinstance(value, (bool, int)):
        return None
    if isinstance(value, str):
        return _in_text(value, path)
    if isinstance(value, float):
        return None if math.isfinite(value) else Unsendable(path, f"{value} is not a number that JSON has")
    if depth > DEPTH_LIMIT:
        return Unsendable(path, f"nested deeper than {DEPTH_LIMIT} levels")
    if is_object(value):
        return _first(_in_object(cast("dict[object, object]", value), path, depth + 1))
    if is_array(value):
        items = enumerate(value)
        return _first(find_unsendable(item, f"{path}[{at}]", depth + 1) for at, item in items)
    return Unsendable(path, f"a {type(value).__name__} is not JSON data")


def is_surely_sendable(value: object) -> bool:
    """A fast look before `find_unsendable`: True is certain, False asks for the slow one.

    msgspec refuses surrogates and foreign types, and writes NaN and the infinities as null.
    """
    try:
        return b"null" not in _encode(value)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return False


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


def _in_text(text: str, path: str) -> Unsendable | None:
    if is_utf8(text):
        return None
    return Unsendable(path, "a lone surrogate cannot be sent as UTF-8; replace it by U+FFFD")


def _in_object(table: dict[object, object], path: str, depth: int) -> Iterator[Unsendable | None]:
    for key, item in table.items():
        if not isinstance(key, str):
            yield Unsendable(path, f"the key {key!r} is not a string")
        elif not is_utf8(key):
            yield Unsendable(path, f"the key {key!r} holds a lone surrogate")
        else:
            yield find_unsendable(item, f"{path}.{key}", depth)


def _first(found: Iterator[Unsendable | None]) -> Unsendable | None:
    return next((one for one in found if one is not None), None)
