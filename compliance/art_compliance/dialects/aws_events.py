"""Amazon's event streams as bytes, written and read without any adapter: messages with headers and checksums.

Source of the format: smithy.io/2.0/aws/amazon-eventstream.html, and recorded streams.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"

_PRELUDE: Final = struct.Struct("!III")
_STRING: Final = b"\x07"
_LEAST: Final = _PRELUDE.size + 4


_WRAPPED: Final = re.compile(rb'\{"bytes":"([A-Za-z0-9+/=]*)"[,}].*', re.DOTALL)
"""The payload of such a message, as recorded: the event in base64, and padding."""


class Message(NamedTuple):
    """One message: `kind` is `event` or `exception`, `name` the type of either, `payload` its JSON."""

    kind: str
    name: str
    payload: bytes

    @property
    def wrapped(self) -> bytes | None:
        """The event of another provider's model that the message carries, as of InvokeModelWithResponseStream."""
        found = _WRAPPED.fullmatch(self.payload) if self.name == "chunk" else None
        return None if found is None else b64decode(found[1])

    def write(self) -> bytes:
        """The message as bytes, its headers in the order of recorded ones."""
        said = {f":{self.kind}-type": self.name, ":content-type": "application/json", ":message-type": self.kind}
        return _framed(said, self.payload)


def write_message(name: str, value: Any, kind: str = "event") -> bytes:
    """A message with this JSON."""
    return Message(kind, name, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()).write()


def write_error_message(code: str, words: str) -> bytes:
    """An error that no type describes: its headers say everything (smithy.io/2.0/spec/streaming.html)."""
    return _framed({":error-code": code, ":error-message": words, ":message-type": "error"}, b"")


def _framed(said: Mapping[str, str], payload: bytes) -> bytes:
    """A message with these headers."""
    headers = b"".join(_header(name, value) for name, value in said.items())
    begin = struct.pack("!II", _LEAST + len(headers) + len(payload), len(headers))
    signed = begin + struct.pack("!I", zlib.crc32(begin)) + headers + payload
    return signed + struct.pack("!I", zlib.crc32(signed))


def _header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + _STRING + struct.pack("!H", len(value)) + value.encode()


def is_messages(data: bytes) -> bool:
    """Whether the bytes begin with a message: no text has a prelude with its checksum."""
    return len(data) >= _PRELUDE.size and zlib.crc32(data[:8]) == _PRELUDE.unpack_from(data)[2]


def read_messages(data: bytes) -> Iterator[Message]:
    """The messages of a complete stream. Raises ValueError for one that is broken or cut short."""
    at = 0
    while at < len(data):
        if len(data) - at < _LEAST or not is_messages(data[at : at + _PRELUDE.size]):
            raise ValueError(f"there is no message at byte {at}")
        total, length, _ = _PRELUDE.unpack_from(data, at)
        message, end = data[at : at + total - 4], at + _PRELUDE.size + length
        if len(data) < at + total or zlib.crc32(message).to_bytes(4, "big") != data[at + total - 4 : at + total]:
            raise ValueError(f"the message at byte {at} is cut short, or its checksum is wrong")
        headers = dict(_headers(data[at + _PRELUDE.size : end]))
        kind = headers.get(":message-type", "")
        yield Message(kind, headers.get(f":{kind}-type", ""), data[end : at + total - 4])
        at += total


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """The headers. Bedrock's are strings."""
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        value = name_end + 3
        end = value + int.from_bytes(data[name_end + 1 : value], "big")
        if data[name_end : name_end + 1] != _STRING or end > len(data) or value > len(data):
            raise ValueError("a header is not a string, or is cut short")
        yield data[at + 1 : name_end].decode(), data[value:end].decode()
        at = end


def change_payloads(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The messages with other payloads, and with the checksums of these."""
    return b"".join(one._replace(payload=change(one.payload)).write() for one in read_messages(data))
