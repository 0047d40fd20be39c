"""Recorded bodies as JSON, within bounds: a body of a few megabytes can become gigabytes of values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final, NoReturn

from art_compliance.cassettes.compression import is_text
from art_compliance.dialects.aws_events import Message, is_messages, read_messages
from art_sdk.json_data import DEPTH_LIMIT

MOST_VALUES: Final = 500_000
"""The most JSON values of a body, and of all bodies of a cassette."""


def find_excess(body: bytes) -> str | None:
    """Why a body is not read as JSON although it may be: it has too many values or is nested too deeply; or None."""
    if count_values(body) > MOST_VALUES:
        return f"it has more than {MOST_VALUES:,} JSON values"
    return f"it is nested deeper than {DEPTH_LIMIT} levels" if is_deep(body) else None


def count_values(body: bytes) -> int:
    """How many JSON values a text has, or a few more, without reading it."""
    if _count(body) <= _FEW:
        return _count(body)
    return _count(_STRING.sub(b"", body)) if is_text(body) else 0


def _count(body: bytes) -> int:
    return 1 + body.count(b",") + body.count(b"[") + body.count(b"{")


def is_deep(body: bytes) -> bool:
    """Whether the JSON values of a text are nested beyond `DEPTH_LIMIT`."""
    if body.count(b"[") + body.count(b"{") <= DEPTH_LIMIT or not is_text(body):
        return False
    brackets = _NO_BRACKET.sub(b"", _STRING.sub(b"", body))
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) > DEPTH_LIMIT


_FEW: Final = 1_000
"""A few commas in strings do no harm."""

_STRING: Final = re.compile(rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"')
_NO_BRACKET: Final = re.compile(rb"[^][{}]+")


def json_of(body: bytes) -> Any:
    """The JSON value of a body; None if it is not JSON, or more than `find_excess` allows."""
    if find_excess(body) is not None:
        return None
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def stream_items(body: bytes) -> Iterator[Any]:
    """The JSON values of a recorded event stream: one per `data:` line, or one per line of JSON.

    Of Amazon's streams, an object per message, whose only name is the message's type. Messages that wrap the events of
    another provider's model are unwrapped.
    """
    if is_messages(body):
        with suppress(ValueError):
            yield from map(_item_of, read_messages(body))
        return
    for line in _LINE.finditer(body):
        data = line[0].removeprefix(b"data:").strip()
        if data.startswith(b"{") and (value := json_of(data)) is not None:
            yield value


def _item_of(message: Message) -> Any:
    wrapped = message.wrapped
    return {message.name: json_of(message.payload)} if wrapped is None else json_of(wrapped)


_LINE: Final = re.compile(rb"[^\r\n]+")
