"""Copies a caller's data into plain JSON data: new dicts and lists, exact types, nothing shared.

The copy is read only by name and index, so none of the caller's code runs afterwards.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeGuard, cast

import msgspec

from art_sdk.json_data import DEPTH_LIMIT, is_array

SIZE_LIMIT: Final = 1_000_000
"""The most values in one piece of data. Shared parts count each time they occur."""

_LONGEST_INTEGER: Final = 10**4300  # Python refuses to write longer ones
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class NotPlain(Exception):
    """Data that is not JSON data: `reason` in words, `path` as `.a[2].b`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""


def clean_text(text: str) -> str:
    """The text with U+FFFD in place of every surrogate, which UTF-8 cannot encode."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return "\ufffd".join(_SURROGATE.split(text))


def to_plain(value: object) -> Any:
    """The value as plain JSON data.

    Mappings become objects; lists and tuples become arrays. Dataclasses and msgspec structs become objects of all
    their fields, the structs under their JSON names and with their tag. Lone surrogates become U+FFFD.

    Raises NotPlain, with path and type, for anything else: callables, sets, bytes, dates, NaN, keys that are not
    strings, cycles, data nested deeper than 200 levels, and more than a million values.
    """
    return _Conversion().convert(value, 0)


class _Conversion:
    """The conversion of one piece of data. Counts values, so that shared parts cannot multiply without end."""

    def __init__(self) -> None:
        self._left = SIZE_LIMIT

    def convert(self, value: object, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return clean_text(cast("str", value))
        if kind is dict:
            return self._object(cast("dict[object, object]", value).items(), depth)
        if kind is list or kind is tuple:
            return self._array(cast("list[object]", value), depth)
        scalar = _SCALARS.get(kind)
        return scalar(value) if scalar else self._rare(value, depth)

    def _object(self, items: Iterable[tuple[object, object]], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in items:
            self._count(depth)
            if not isinstance(key, str):
                raise NotPlain(f"the key {key!r:.40} is not a string")
            try:
                result[clean_text(str.__str__(key))] = self.convert(item, depth + 1)
            except NotPlain as error:
                error.path = f".{key}{error.path}"
                raise
        return result

    def _array(self, items: Iterable[object], depth: int) -> list[Any]:
        result: list[Any] = []
        for item in items:
            self._count(depth)
            try:
                result.append(self.convert(item, depth + 1))
            except NotPlain as error:
                error.path = f"[{len(result)}]{error.path}"
                raise
        return result

    def _rare(self, value: object, depth: int) -> Any:
        """Subclasses, and values that become objects."""
        for base, scalar in _SCALARS.items():
            if isinstance(value, base):
                return scalar(value)
        if is_array(value):
            return self._array(value, depth)
        return self._object(_read_fields(value).items(), depth)

    def _count(self, depth: int) -> None:
        self._left -= 1
        if depth >= DEPTH_LIMIT:
            raise NotPlain(f"nested deeper than {DEPTH_LIMIT} levels, or contains itself")
        if self._left < 0:
            raise NotPlain(f"more than {SIZE_LIMIT:,} values")


def _read_fields(value: object) -> dict[Any, Any]:
    """Reads an object's fields. Only here can the caller's code run, so anything it raises is caught here."""
    try:
        if _is_mapping(value):
            return dict(value)
        if isinstance(value, msgspec.Struct):
            return _struct_fields(value)
        if dataclasses.is_dataclass(kind := type(value)):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    except Exception as error:
        raise NotPlain(f"reading a {type(value).__name__} failed ({type(error).__name__})") from error
    raise NotPlain(f"a value of type {type(value).__name__} is not JSON data")


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _struct_fields(value: msgspec.Struct) -> dict[str, Any]:
    config = value.__struct_config__
    fields: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, attribute in zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True):
        item = getattr(value, attribute)
        if item is not msgspec.UNSET:
            fields[name] = item
    return fields


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise NotPlain(f"{value} is not a JSON number")
    return float.__float__(value)


def _writable(value: int) -> int:
    if abs(value) >= _LONGEST_INTEGER:
        raise NotPlain("an integer with more than 4300 digits")
    return int.__int__(value)


def _as_it_is(value: Any) -> Any:
    return value


_SCALARS: Final[Mapping[type, Callable[[Any], Any]]] = {
    bool: _as_it_is,  # before int, which it is a kind of
    type(None): _as_it_is,
    int: _writable,
    float: _finite,
    str: lambda value: clean_text(str.__str__(value)),
}
"""Each scalar type with the conversion to exactly that type, which a subclass cannot override."""
