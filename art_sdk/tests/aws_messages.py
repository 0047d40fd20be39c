"""Writes messages of Amazon's event streams, good and broken, as bytes."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any


def header(name: str, value: bytes, kind: int = 7) -> bytes:
    """A header; strings and byte arrays have their length before them."""
    length = struct.pack("!H", len(value)) if kind in (6, 7) else b""
    return bytes([len(name)]) + name.encode() + bytes([kind]) + length + value


def raw(headers: bytes, payload: bytes) -> bytes:
    """A message with these headers and this payload, and right checksums."""
    begin = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    whole = begin + struct.pack("!I", zlib.crc32(begin)) + headers + payload
    return whole + struct.pack("!I", zlib.crc32(whole))


def message(event: str, payload: Any, kind: str = "event") -> bytes:
    """An event, or an exception, with a payload in JSON."""
    headers = header(f":{kind}-type", event.encode()) + header(":content-type", b"application/json")
    return raw(headers + header(":message-type", kind.encode()), json.dumps(payload, ensure_ascii=False).encode())


def error(code: str, words: str) -> bytes:
    """An error that the format's own headers describe."""
    says = {":error-code": code, ":error-message": words, ":message-type": "error"}
    return raw(b"".join(header(name, value.encode()) for name, value in says.items()), b"")
