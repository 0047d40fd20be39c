"""Other forms in which a provider may give the same answer: split, joined or in another order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from art_compliance.dialects.aws_events import is_messages, read_messages

Events = tuple[bytes, ...]


class Variation(Struct, frozen=True, kw_only=True):
    """One such form: text, calls and finish are the same. An answer that it does not apply to stays as it is."""

    words: str
    """The form, after "given with"."""
    whole: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Rewrites the body of an unstreamed answer; None: it differs only in streams."""
    events: Callable[[Events], Events] | None = None
    """Rewrites the events of a stream; None: a stream differs as the body does, if at all."""
    goes_back: tuple[str, ...] = ()
    """Texts of the answer that the provider wants back with the next request."""


def read_data(event: bytes) -> dict[str, Any] | None:
    """The JSON object of an event: a server-sent one, a line of JSON, or a message; None for comments and end marks."""
    if is_messages(event):
        named = {message.name: json.loads(message.payload) for message in read_messages(event)}
        return named or None
    for line in event.splitlines():
        if line.startswith((b"data: {", b"{")):
            data: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
            return data
    return None


def in_halves(text: str) -> tuple[str, str]:
    """A text as two."""
    half = len(text) // 2
    return text[:half], text[half:]
