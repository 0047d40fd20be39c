"""Any caller's data to plain JSON data of our own: new dicts and lists, exact types, nothing shared.

What is made here can be read by name and index alone; no code of the caller's runs afterwards.
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
"""How many values one piece of data may hold: shared parts count as often as they are met."""

_LONGEST_INTEGER: Final = 10**4300  # Python writes no longer ones
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class NotPlain(Exception):
    """Data that is no JSON data: `reason` in words, `path` as `.a[2].b`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""


def clean_text(text: str) -> str:
    """The text with U+FFFD for each surrogate, which UTF-8 cannot hold."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return "\ufffd".join(_SURROGATE.split(text))


def to_plain(value: object) -> Any:
    """The value as plain JSON data.

    Mappings become objects, lists and tuples arrays. A dataclass becomes an object of its fields, a
    msgspec struct one of its fields under their JSON names, tag included; no field is left out.
    Lone surrogates become U+FFFD. Raises NotPlain, with path and type, for everything else: callables,
    sets, bytes, dates, NaN, keys that are no strings, cycles, and data deeper than 200 levels or of
    more than a million values.
    """
    return _Conversion().convert(value, 0)


class _Conversion:
    """One piece of data on its way. Counts, so that data which shares parts cannot grow without end."""

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
        """What is a subclass, or becomes an object first."""
        for base, scalar in _SCALARS.items():
            if isinstance(value, base):
                return scalar(value)
        if is_array(value):
            return self._array(value, depth)
        return self._object(_read_fields(value).items(), depth)

    def _count(self, depth: int) -> None:
        self._left -= 1
        if depth >= DEPTH_LIMIT:
            raise NotPlain(f"nested deeper than {DEPTH_LIMIT} levels, or in itself")
        if self._left < 0:
            raise NotPlain(f"more than {SIZE_LIMIT:,} values")


def _read_fields(value: object) -> dict[Any, Any]:
    """The only place where the caller's own code may run, so whatever it raises is caught here."""
    try:
        if _is_mapping(value):
            return dict(value)
        if isinstance(value, msgspec.Struct):
            return _struct_fields(value)
        if dataclasses.is_dataclass(kind := type(value)):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    except Exception as error:
        raise NotPlain(f"a {type(value).__name__} cannot be read ({type(error).__name__})") from error
    raise NotPlain(f"a {type(value).__name__} is not JSON data")


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
        raise NotPlain(f"{value} is not a number that JSON has")
    return float.__float__(value)


def _writable(value: int) -> int:
    if abs(value) >= _LONGEST_INTEGER:
        raise NotPlain("an integer of more than 4300 digits")
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
"""Each with what makes it exact: the types' own conversions, which a subclass cannot override."""
