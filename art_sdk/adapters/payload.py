"""A request body, as JSON data and as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from art_sdk.json_data import as_plain_data

Payload = dict[str, Any]
"""A request body as JSON data."""

_PLACE: Final = b"\0"
"""It stands for what is written already. No JSON text contains it: in a string it is escaped."""


class Written:
    """Items of a list in a payload, as the bytes that stood between its brackets."""

    __slots__ = ("items",)

    def __init__(self, items: bytes | memoryview) -> None:
        self.items = items


def encode_payload(payload: Mapping[str, Any]) -> bytes:
    """The bytes of a payload, in which the items of one list may be written already."""
    body = encode_part(payload)
    if _PLACE not in body:
        return body
    before, _, after = body.partition(_PLACE)
    return b"".join((before, _find_written(payload), after))  # one copy; an encoder makes room for it in steps


def _find_written(payload: Mapping[str, Any]) -> bytes | memoryview:
    lists: list[list[Any]] = [value for value in payload.values() if isinstance(value, list)]
    return next(item.items for items in lists for item in items if isinstance(item, Written))


def _encode_other(value: object) -> object:
    return msgspec.Raw(_PLACE) if type(value) is Written else as_plain_data(value)


encode_part: Final = msgspec.json.Encoder(enc_hook=_encode_other).encode
"""The bytes of a part of a payload."""
