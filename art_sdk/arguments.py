"""The arguments of a call: text that must be a JSON object."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from art_sdk.json_data import DEPTH_LIMIT, is_deep, is_object

_decode_object: Final = msgspec.json.Decoder(dict[str, Any]).decode


def parse_arguments(text: str) -> dict[str, Any]:
    """A call's arguments as an object. Blank text means `{}`.

    Raises ValueError for text that is not a JSON object, a number too large for a float, a key that appears twice in
    one object (parsing would silently drop a value), and nesting deeper than `DEPTH_LIMIT`.
    """
    if not text or text.isspace():
        return {}
    try:
        value = _decode_object(text if type(text) is str else str.__str__(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise ValueError(f"the arguments are not a JSON object: {error}") from error
    if len(text) > DEPTH_LIMIT and text.count("{") + text.count("[") > DEPTH_LIMIT and is_deep(value):
        raise ValueError(f"the arguments are nested deeper than {DEPTH_LIMIT} levels")
    colons = text.count(":")
    if colons != len(value) and colons != _count_keys(value):
        json.loads(text, object_pairs_hook=_object_of)
    return value


def explain_bad_arguments(text: str) -> str | None:
    """Why the text is not a JSON object, or None if it is one."""
    try:
        parse_arguments(text)
    except ValueError as error:
        return str(error)
    return None


_CONTAINERS: Final = frozenset({dict, list})


def _count_keys(value: dict[str, Any]) -> int:
    """How many keys the value has. Each has one colon in the text, so equal counts prove that no key was lost."""
    count = 0
    containers: list[Any] = [value]
    for container in containers:  # grows as it goes
        children: Any = container
        if is_object(container):
            count += len(container)
            children = container.values()
        containers += [child for child in children if type(child) in _CONTAINERS]
    return count


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the arguments have the key {key!r:.60} twice in one object; one value would be lost")
        table[key] = value
    return table
