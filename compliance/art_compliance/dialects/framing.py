"""How answers are cut and framed when they are streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from art_compliance.dialects.aws_events import change_payloads, is_messages
from art_sdk.json_data import is_object

_MOST: Final = 128
"""Pieces of one text: enough to join wrongly, and more than some libraries take for a model that repeats itself."""

_LONGEST: Final = 12


_letter_by_letter: Final = ContextVar("letter_by_letter", default=False)


@contextmanager
def letter_by_letter() -> Generator[None]:
    """Has each piece of what is written in the block be a single character."""
    before = _letter_by_letter.set(True)
    try:
        yield
    finally:
        _letter_by_letter.reset(before)


def pieces(text: str) -> Iterator[str]:
    """The text in pieces, at least three if it is long enough. They cut through words and escapes."""
    size = max(1, min(_LONGEST, len(text) // 3), -(-len(text) // _MOST))
    size = 1 if _letter_by_letter.get() else size
    return (text[at : at + size] for at in range(0, len(text), size))


def to_json(value: Any) -> str:
    """JSON on one line, as providers write it: without escapes or spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def data_frame(value: Any, *, event: str | None = None, newline: str = "\n") -> bytes:
    """A server-sent event with this data."""
    name = "" if event is None else f"event: {event}{newline}"
    return f"{name}data: {to_json(value)}{newline}{newline}".encode()


def go_json(value: Any) -> str:
    """JSON as Go's encoding/json writes it: markup and line separators are escaped."""
    return _GO_ESCAPES.sub(lambda found: f"\\u{ord(found[0]):04x}", to_json(value))


_GO_ESCAPES: Final = re.compile("[<>&\u2028\u2029]")  # they stand inside strings alone


def json_line(value: Any) -> bytes:
    """A line of JSON (`application/x-ndjson`), as Ollama's server, a program in Go, writes it."""
    return f"{go_json(value)}\n".encode()


def change_data(event: bytes, change: Callable[[Any], Any]) -> bytes:
    """The event with its data changed: a server-sent one, a line of JSON, or one of Amazon's messages.

    An event without JSON stays as it is.
    """
    if is_messages(event):
        return change_payloads(event, lambda payload: to_json(change(json.loads(payload))).encode())
    lines = event.splitlines(keepends=True)
    return b"".join(map(partial(_change_line, change), lines))


def _change_line(change: Callable[[Any], Any], line: bytes) -> bytes:
    if line.startswith(b"{"):
        return json_line(change(json.loads(line)))
    if not line.startswith(b"data: {"):
        return line
    return f"data: {to_json(change(json.loads(line.removeprefix(b'data: '))))}\n".encode()


def change_bytes(event: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The event with its bytes changed; of Amazon's messages the payload, so that lengths and checksums are right."""
    return change_payloads(event, change) if is_messages(event) else change(event)


def truncate(event: bytes) -> bytes:
    """The event without the last third of its data, which still ends as events do."""
    if is_messages(event):
        return change_payloads(event, lambda payload: payload[: -max(1, len(payload) // 3)])
    return event.rstrip()[: -max(1, len(event) // 3)] + b"\n\n"


def as_array(events: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The data of the events as a JSON array, one element per piece."""
    data = [event.strip().removeprefix(b"data: ") for event in events]
    return (*((b",\r\n" if at else b"[") + one for at, one in enumerate(data)), b"]\n")


def body_wants_stream(payload: object, target: str = "") -> bool:
    """Whether the body of a request asks for a stream, as in most dialects."""
    del target
    return is_object(payload) and payload.get("stream") is True
