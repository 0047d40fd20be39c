"""Small changes of a JSON value, as many as wanted: the same ones each time for a name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final
from zlib import crc32

from art_sdk.json_data import is_array, is_object

ODD: Final = (None, "", " ", "0", "null", "~", 0, 1, -1, 2, 0.5, 1e9, True, False, [], {}, ["x"], [{}], {"a": 1})
"""What may stand in the place of any value."""

BESIDE: Final = ("", "Aaa", "aaa", "mmm", "zzz")
"""Names of fields that nobody knows: they sort before, between and behind those that are known."""

Change = tuple[str, Any]
"""The change in words, and the value that takes the place of the other."""


def _of_any(value: Any, random: Random) -> Iterator[Change]:
    odd = random.choice(ODD)
    yield f"is {json.dumps(odd)}", deepcopy(odd)  # a second change may be inside it
    yield "is in a list", [value]


def _of_number(value: float, random: Random) -> Iterator[Change]:
    del random
    for by in (1, -1):
        yield f"{by:+}", value + by
    yield "doubled", value * 2


def _of_text(value: str, random: Random) -> Iterator[Change]:
    at = random.randrange(len(value) + 1)
    yield "in capitals", value.upper()
    yield f"cut at {at}", value[:at]
    yield "with more behind it", f"{value}z"
    yield "with more before it", f"A{value}"
    yield "in blanks", f" {value} "


def _of_list(value: list[Any], random: Random) -> Iterator[Change]:
    at = random.randrange(len(value)) if value else 0
    yield "backwards", value[::-1]
    yield f"without {at}", value[:at] + value[at + 1 :]
    yield f"{at} twice", value[: at + 1] + value[at:]
    yield f"{at} again at the end", value + value[at : at + 1]
    yield f"{at} first", value[at : at + 1] + value[:at] + value[at + 1 :]


def _of_object(value: dict[str, Any], random: Random) -> Iterator[Change]:
    name = random.choice(BESIDE)
    yield f"with {name!r}", {**value, name: 1}
    yield f"with {name!r} first", {name: "x", **value}
    if value:
        known = random.choice(list(value))
        yield f"without {known!r}", {key: one for key, one in value.items() if key != known}
        yield f"with {known!r} as {name!r}", {name if key == known else key: one for key, one in value.items()}
        yield f"with {known!r} last", {**{key: one for key, one in value.items() if key != known}, known: value[known]}


_KINDS: Final[tuple[tuple[type | tuple[type, ...], Callable[[Any, Random], Iterator[Change]]], ...]] = (
    (bool, _of_any),
    ((int, float), _of_number),
    (str, _of_text),
    (list, _of_list),
    (dict, _of_object),
)


def _changes(value: Any, random: Random) -> list[Change]:
    of_kind = next((changes for kind, changes in _KINDS if isinstance(value, kind)), _of_any)
    return [*of_kind(value, random), *_of_any(value, random)]


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if is_object(value) or is_array(value):
        for key, one in value.items() if is_object(value) else enumerate(value):
            yield from _places(one, (*path, key))


def variations(name: str, value: Any, count: int) -> Iterator[Change]:
    """The value with one change each, or two: what was changed where, and the whole."""
    random = Random(crc32(name.encode()))
    for number in range(count):
        changed: Any = deepcopy(value)
        words: list[str] = []
        for _ in range(1 + (number % 3 == 2)):
            path = random.choice(list(_places(changed)))
            said, changed = _change_at(changed, path, random)
            words.append(f"/{'/'.join(map(str, path))} {said}")
        yield ", ".join(words), changed


def _change_at(value: Any, path: tuple[str | int, ...], random: Random) -> Change:
    if not path:
        return random.choice(_changes(value, random))
    parent = value
    for key in path[:-1]:
        parent = parent[key]
    said, parent[path[-1]] = random.choice(_changes(parent[path[-1]], random))
    return said, value
