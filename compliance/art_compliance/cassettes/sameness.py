"""Whether two recordings are the same, apart from ids and times, which differ in every answer.

If a new recording says nothing new, the old file stays as it is.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from art_compliance.cassettes.bodies import json_of, stream_items
from art_compliance.cassettes.exchange import Exchange
from art_compliance.dialects.aws_events import is_messages
from art_sdk.json_data import is_array, is_object

_FLEETING: Final = frozenset(
    {"id", "created", "created_at", "createTime", "responseId", "system_fingerprint", "timings"}
)
"""Fields of answers whose values differ every time (llama-server adds `timings`): only their presence is compared."""

_WHOLE: Final = frozenset({"input", "args", "arguments"})
"""Arguments of a call are the model's own, whatever their names are, so they are compared in full."""


def is_same_recording(one: tuple[Exchange, ...], other: tuple[Exchange, ...]) -> bool:
    """Whether the requests are equal, byte for byte, and the answers equal apart from fleeting fields."""
    return [(_rest(each), _lasting(each.answer_body)) for each in one] == [
        (_rest(each), _lasting(each.answer_body)) for each in other
    ]


def _rest(one: Exchange) -> Exchange:
    return msgspec.structs.replace(one, answer_body=b"")


def _lasting(body: bytes) -> Any:
    """A body without its fleeting fields: as JSON, or line by line."""
    if is_messages(body):
        return [_settled(item) for item in stream_items(body)]
    whole = json_of(body)
    return [_line(line) for line in body.split(b"\n")] if whole is None else _settled(whole)


def _line(line: bytes) -> Any:
    value = json_of(line.removeprefix(b"data:"))
    return line if value is None else (line.startswith(b"data:"), _settled(value))


def _settled(value: Any) -> Any:
    if is_array(value):
        return [_settled(item) for item in value]
    if not is_object(value):
        return value
    return {name: _shape(item) if name in _FLEETING else _inner(name, item) for name, item in value.items()}


def _inner(name: str, value: Any) -> Any:
    return value if name in _WHOLE else _settled(value)


def _shape(value: Any) -> Any:
    return sorted(value) if is_object(value) else type(value).__name__
