"""Bytes into frames: Amazon's binary event streams. No I/O; the frames are the same however the bytes are cut.

A message is a prelude (its length, that of its headers, a checksum of both), headers, a payload, and a checksum of all
that. Source of the format and of its limits: smithy.io/2.0/aws/amazon-eventstream.html, and `botocore.eventstream`.
What breaks the format makes a `BadFrame`. Nothing after it is read, since it may lie about where it ends.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from art_sdk.http.framing import BadFrame, Frame
from art_sdk.http.size_limits import NO_BOUND, Bound

_PRELUDE: Final = struct.Struct("!III")
_LEAST: Final = _PRELUDE.size + 4
_unpack_prelude: Final = _PRELUDE.unpack_from
_crc32: Final = zlib.crc32
_MOST_HEADERS: Final = 128 * 1024
_MOST_PAYLOAD: Final = 24 * 1024 * 1024

_KEPT: Final = 4096
"""Bytes that are kept of a message that cannot be read, for its error."""


class _Kind(NamedTuple):
    """What the headers of a message say: what it is called, whether it is an error, and an error's own words."""

    event: str
    is_error: bool = False
    words: str | None = None


class AwsEventStream:
    """Parses `application/vnd.amazon.eventstream`. `bound` is that of a message."""

    def __init__(self, bound: Bound = NO_BOUND) -> None:
        self._bound = bound
        most = _MOST_HEADERS + _MOST_PAYLOAD + _LEAST
        self._most = most if bound.most is None else min(bound.most, most)
        self._rest = bytearray()
        self._needed = _PRELUDE.size
        self._kinds: dict[bytes, _Kind] = {}
        self._is_broken = False

    def feed(self, chunk: bytes) -> list[Frame | BadFrame]:
        """The frames that these bytes complete."""
        if self._is_broken:
            return []
        if not self._rest:
            frames, read = self._read(chunk)
            self._rest += chunk[read:]
            return frames
        self._rest += chunk  # in place: a message that comes byte by byte is copied once
        if len(self._rest) < self._needed:
            return []
        frames, read = self._read(bytes(self._rest))
        del self._rest[:read]
        return frames

    def finish(self) -> list[Frame | BadFrame]:
        """None: a message says how long it is."""
        return []

    def close(self) -> bytes:
        """The start of a message whose end did not come."""
        return bytes(self._rest)

    def _read(self, data: bytes) -> tuple[list[Frame | BadFrame], int]:
        """The frames of the whole messages at the start of the data, and how many bytes they are."""
        frames: list[Frame | BadFrame] = []
        at, size, self._needed = 0, len(data), _PRELUDE.size
        try:
            while size - at >= _PRELUDE.size:  # one loop, with few calls: a stream has many small messages
                total, length, checksum = _unpack_prelude(data, at)
                if _crc32(data[at : at + 8]) != checksum:
                    raise ValueError("the checksum of a message's prelude is wrong")  # noqa: TRY301 - as all others
                if total > self._most or total < length + _LEAST or length > _MOST_HEADERS:
                    self._refuse(total, length)
                end = at + total
                if end > size:
                    self._needed = total
                    break
                frames.append(self._frame(data[at : end - 4], length, data[end - 4 : end]))
                at = end
        except ValueError as error:
            self._is_broken = True
            frames.append(BadFrame(data[at : at + _KEPT], str(error)))
            return frames, size
        return frames, at

    def _refuse(self, total: int, headers: int) -> NoReturn:
        """Raises ValueError for lengths that a message cannot have."""
        payload = total - headers - _LEAST
        if payload < 0:
            raise ValueError(f"a message of {total} bytes cannot have {headers} bytes of headers")
        if self._bound.is_broken_by(total):
            raise ValueError(str(self._bound))
        raise ValueError(
            f"a message has {headers} bytes of headers and {payload} of payload; "
            f"at most {_MOST_HEADERS} and {_MOST_PAYLOAD} are allowed"
        )

    def _frame(self, signed: bytes, headers_length: int, checksum: bytes) -> Frame:
        """A whole message, without its checksum and with it. Raises ValueError for one that is not sound."""
        if _crc32(signed).to_bytes(4, "big") != checksum:
            raise ValueError("the checksum of a message is wrong")
        start = _PRELUDE.size + headers_length
        headers = signed[_PRELUDE.size : start]
        event, is_error, words = self._kinds.get(headers) or self._kind(headers)
        if words is not None:
            return Frame(words, event, is_error)
        try:
            return Frame(signed[start:].decode(), event, is_error)
        except UnicodeDecodeError as error:
            raise ValueError(f"the payload is not UTF-8: {error.reason} at byte {error.start}") from error

    def _kind(self, headers: bytes) -> _Kind:
        """What headers say. A stream has few different ones, so they are kept."""
        kind = _kind_of(_read_headers(headers))
        if len(self._kinds) < _MOST_KINDS:
            self._kinds[headers] = kind
        return kind


_MOST_KINDS: Final = 64


def _kind_of(headers: Mapping[str, Any]) -> _Kind:
    """What a message is. Raises ValueError for headers that do not say it."""
    kind = headers.get(":message-type")
    if kind == "error":
        words = msgspec.json.encode({"message": str(headers.get(":error-message") or "")}).decode()
        return _Kind(str(headers.get(":error-code") or "error"), is_error=True, words=words)
    header = _NAMED_BY.get(kind) if isinstance(kind, str) else None
    if header is None:
        raise ValueError(f"a message has the unknown type {kind!r}; expected event, exception or error")
    name = headers.get(header)
    if not isinstance(name, str) or not name:
        raise ValueError(f"a message of the type {kind} has no header {header}")
    if kind == "event":
        return _Kind(name)
    return _Kind(name[:1].upper() + name[1:], is_error=True)  # as the header of an error answer names it


_NAMED_BY: Final[Mapping[str, str]] = {"event": ":event-type", "exception": ":exception-type"}


def _read_headers(data: bytes) -> dict[str, Any]:
    """The headers by name. Raises ValueError, which names the header where its name is readable."""
    headers: dict[str, Any] = {}
    for name, value in _each_header(data):
        if name in headers:
            raise ValueError(f"a message has the header {name!r} twice")
        headers[name] = value
    return headers


def _each_header(data: bytes) -> Iterator[tuple[str, Any]]:
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        if name_end >= len(data):
            raise ValueError("the headers of a message are cut short")
        name, kind = _text(data[at + 1 : name_end], "a header's name"), data[name_end]
        if kind in _LENGTHS:
            start, end = name_end + 1, name_end + 1 + _LENGTHS[kind]
        elif kind in _READERS:
            start = name_end + 3
            end = start + int.from_bytes(data[name_end + 1 : start], "big")
        else:
            raise ValueError(f"the header {name!r} has the unknown type {kind}")
        if end > len(data):
            raise ValueError(f"the header {name!r} is cut short")
        yield name, _READERS.get(kind, _skip)(data[start:end])
        at = end


def _text(data: bytes, what: str = "a header's value") -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{what} is not UTF-8: {error.reason} at byte {error.start}") from error


def _skip(data: bytes) -> None:
    """The value of a header that says nothing about the message: a number, a time, an id."""
    del data


_LENGTHS: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""The bytes of a value by its type: true, false, byte, short, integer, long, timestamp, uuid."""

_READERS: Final[Mapping[int, Callable[[bytes], Any]]] = {6: bytes, 7: _text}
"""What reads the values whose length is written before them, in two bytes: byte arrays and strings."""
