"""Copies a caller's data into plain JSON data: new dicts and lists, exact types, nothing shared.

The copy is read only by name and index, so none of the caller's code runs afterwards. While it is made, the methods of
JSON's own types are used, whatever a subclass replaces them with.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeGuard, cast

import msgspec

from art_sdk.blueprints.limits import DEFAULT_LIMITS, BlueprintLimits
from art_sdk.blueprints.mustache import clip
from art_sdk.json_data import DEPTH_LIMIT, JSON_TYPES, as_plain_data, describe_key

_MOST_BITS: Final = 14_284
"""Of an integer with 4,300 digits: Python refuses to write longer ones."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class NotPlain(Exception):
    """Data that is not JSON data: `reason` in words, `path` as `.a[2].b`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str] = []

    @property
    def path(self) -> str:
        """Where the data is wrong. Long keys are cut."""
        return "".join(reversed(self.steps))


def clean_text(text: str) -> str:
    """The text with U+FFFD in place of every surrogate, which UTF-8 cannot encode."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return "\ufffd".join(_SURROGATE.split(text))


def to_plain(value: object, limits: BlueprintLimits = DEFAULT_LIMITS) -> Any:
    """The value as plain JSON data.

    Mappings become objects; lists and tuples become arrays. Dataclasses and msgspec structs become objects of all
    their fields, the structs under their JSON names and with their tag. Lone surrogates become U+FFFD.

    Raises NotPlain, with path and type, for anything else: callables, sets, bytes, dates, NaN, keys that are not
    strings, cycles, data nested deeper than 200 levels, and more values or text than the limits allow.
    """
    return _Conversion(limits).convert(value, 0)


class _Conversion:
    """The conversion of one piece of data. Counts values and text, so that shared parts cannot multiply without end."""

    def __init__(self, limits: BlueprintLimits) -> None:
        self._limits = limits
        self._values_left = limits.values
        self._text_left = limits.text

    def convert(self, value: object, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(cast("str", value))
        if kind is dict:
            return self._object(cast("dict[object, object]", value).items(), depth)
        if kind is list or kind is tuple:
            return self._array(cast("list[object]", value), depth)
        if value is None or kind is bool:
            return value
        if kind is int or kind is float:
            return self._number(cast("float", value))
        return self._rare(value, kind, depth)

    def _object(self, items: Iterable[tuple[object, object]], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in items:
            self._count(depth)
            if not issubclass(type(key), str):
                raise NotPlain(f"{describe_key(key)} is not a string")
            name = self._text(cast("str", key))
            try:
                result[name] = self.convert(item, depth + 1)
            except NotPlain as error:
                error.steps.append(f".{clip(name)}")
                raise
        return result

    def _array(self, items: Iterable[object], depth: int) -> list[Any]:
        result: list[Any] = []
        for item in items:
            self._count(depth)
            try:
                result.append(self.convert(item, depth + 1))
            except NotPlain as error:
                error.steps.append(f"[{len(result)}]")
                raise
        return result

    def _rare(self, value: object, kind: type, depth: int) -> Any:
        """Subclasses, and values that become objects."""
        if issubclass(kind, JSON_TYPES):  # the real type: an object may claim another one in `__class__`
            return self.convert(as_plain_data(value), depth)
        return self._object(_read_items(value), depth)

    def _text(self, text: str) -> str:
        self._count_text(str.__len__(text))
        return clean_text(str.__str__(text))

    def _number(self, value: float) -> float:
        if not isinstance(value, int):
            if not math.isfinite(value):
                raise NotPlain(f"{float.__repr__(value)} is not a JSON number")
            return float.__float__(value)
        bits = int.bit_length(value)
        if bits > _MOST_BITS:
            raise NotPlain("an integer with more than 4300 digits")
        self._count_text(bits // 3)
        return int.__int__(value)

    def _count(self, depth: int) -> None:
        self._values_left -= 1
        if depth >= DEPTH_LIMIT:
            raise NotPlain(f"nested deeper than {DEPTH_LIMIT} levels, or contains itself")
        if self._values_left < 0:
            raise NotPlain(f"more than {self._limits.values:,} values (the limit 'values')")

    def _count_text(self, size: int) -> None:
        self._text_left -= size
        if self._text_left < 0:
            raise NotPlain(f"more than {self._limits.text:,} characters of text (the limit 'text')")


def _read_items(value: object) -> Iterator[tuple[object, object]]:
    """Reads an object's fields. Only here can the caller's code run, so anything it raises is caught here."""
    try:
        items = _find_items(value)
        if items is not None:
            yield from items
    except Exception as error:
        raise NotPlain(f"reading a {type(value).__name__} failed ({type(error).__name__})") from error
    if items is None:
        raise NotPlain(f"a value of type {type(value).__name__} is not JSON data")


def _find_items(value: object) -> Iterable[tuple[object, object]] | None:
    if _is_mapping(value):
        return ((key, value[key]) for key in value)  # one by one: a mapping may have no end
    if isinstance(value, msgspec.Struct):
        return _struct_fields(value).items()
    if dataclasses.is_dataclass(kind := type(value)):
        return ((field.name, getattr(value, field.name)) for field in dataclasses.fields(kind))
    return None


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
