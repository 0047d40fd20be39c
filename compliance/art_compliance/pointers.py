"""JSON pointers (RFC 6901): write them, look them up, and list those of every scalar."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from art_sdk.json_data import is_array, is_object

_MOST_DIGITS: Final = 20


def escape(name: str) -> str:
    """The name as one step of a pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def look_up(value: Any, pointer: str) -> Any:
    """The value at the pointer, or None."""
    for name in _names_in(pointer):
        if is_object(value):
            value = value.get(name)
        elif is_array(value) and len(name) < _MOST_DIGITS and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def follow(root: Any, reference: str) -> Any:
    """What a reference within a schema (`#/...`) leads to, or None. It may be percent-encoded (RFC 6901, section 6)."""
    return look_up(root, unquote(reference[1:]))


@lru_cache(maxsize=1024)
def _names_in(pointer: str) -> tuple[str, ...]:
    return tuple([step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]])


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar of a JSON value with its pointer, in order."""
    if is_object(value):
        for name, item in value.items():
            yield from leaves(item, f"{pointer}/{escape(name)}")
    elif is_array(value):
        for index, item in enumerate(value):
            yield from leaves(item, f"{pointer}/{index}")
    else:
        yield pointer, value


def ends(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """As `leaves`, with every empty object and array, too."""
    if is_object(value) and value:
        for name, item in value.items():
            yield from ends(item, f"{pointer}/{escape(name)}")
    elif is_array(value) and value:
        for index, item in enumerate(value):
            yield from ends(item, f"{pointer}/{index}")
    else:
        yield pointer, value
