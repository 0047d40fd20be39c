"""JSON data: its types, how deep it is, and plain copies of values that only behave like it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeGuard, cast

import msgspec

DEPTH_LIMIT: Final = 200
"""How deep JSON data may be nested. Providers' parsers stop earlier (protobuf at 100)."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether JSON data is an object."""
    return issubclass(type(value), dict)  # `isinstance` would ask the value for its class


def is_array(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether JSON data is an array."""
    return issubclass(type(value), (list, tuple))


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
        str.encode(text)
    except UnicodeEncodeError:
        return False
    return True


def describe_key(key: object) -> str:
    """The key as messages show it, or its type if showing it could be long or run code of its own."""
    is_short = key is None or type(key) in (bool, float, str) or (type(key) is int and abs(key) < 10**20)
    return f"the key {key!r:.60}" if is_short else f"the key of type {type(key).__name__}"


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


def to_plain(value: object) -> Any:
    """A copy in JSON's own types: of their subclasses, such as a string with methods of its own, and of typed values.

    No method of a value is called, and whatever is not JSON data stays as it is. What is shared stays shared.
    """
    try:
        return _to_plain(value, {})
    except RecursionError:  # which `find_unsendable` explains
        return value


def _to_plain(value: object, known: dict[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    kind = type(value)
    if issubclass(kind, msgspec.Struct):
        value = _fields_of(cast("msgspec.Struct", value))
    if is_object(value):
        table = known[id(value)] = dict[Any, Any]()
        table.update((_to_plain(key, known), _to_plain(child, known)) for key, child in pairs_of(value))
        return table
    if is_array(value):
        items = known[id(value)] = list[Any]()
        items.extend(_to_plain(child, known) for child in items_of(value))
        return items
    if kind is bool:
        return value
    return next((make(value) for base, make in _PLAIN_VALUES.items() if base in kind.__mro__[1:]), value)


def _fields_of(value: msgspec.Struct) -> dict[str, Any]:
    """The fields as JSON names them."""
    config = value.__struct_config__
    tag = {config.tag_field: config.tag} if config.tag_field else {}
    return tag | {one.encode_name: getattr(value, one.name) for one in msgspec.structs.fields(value)}


def as_plain_data(value: object) -> object:
    """A value of a subclass of JSON's types, such as a string with methods of its own, as one of the type itself.

    For `msgspec.json.Encoder(enc_hook=...)`. Raises NotImplementedError for anything else, as msgspec wants it.
    """
    kind = type(value)  # not `__class__`, which an object may make up
    for base, make in _PLAIN_VALUES.items():
        if issubclass(kind, base):
            return make(value)
    raise NotImplementedError(f"a value of type {kind.__name__} is not JSON data")


_PLAIN_VALUES: Final[dict[type, Callable[[Any], object]]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    list: cast("Any", list).copy,
    tuple: lambda value: cast("Any", tuple).__getitem__(value, slice(None)),
    dict: lambda value: dict(cast("Any", dict).items(value)),
}
"""How a subclass's value becomes one of its base, without a method that the subclass may have replaced."""

JSON_TYPES: Final = tuple(_PLAIN_VALUES)
"""The types whose values, subclasses included, are JSON data."""


def pairs_of(table: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Keys and values as they are, whatever a subclass of dict does when it is iterated."""
    return [*dict[Any, Any].items(table)]


def items_of(array: list[Any] | tuple[Any, ...]) -> list[Any]:
    """The items as they are, whatever a subclass of list or tuple does when it is iterated."""
    if issubclass(type(array), list):
        return cast("list[Any]", _PLAIN_VALUES[list](array))
    return [*cast("tuple[Any, ...]", _PLAIN_VALUES[tuple](array))]
