"""Messages between the suite and an adapter's process: a kind, a length, and data; observations as plain data.

What arrives is data and nothing else: no message makes the other side import or run anything. The kind says how the
data is written: as MessagePack, or, where MessagePack has no form for it, as JSON.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from art_compliance.quoting import shorten
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Called, Crashed, Refused, Sent, Translation
from art_sdk.json_data import is_array, is_object
from art_sdk.sendable import find_unsendable, is_surely_sendable

_PACKED: Final = b"m"
_JSON: Final = b"j"
_LENGTH: Final = 8
"""Bytes of a message's length, which follow its kind."""

_AT_A_TIME: Final = 2**16

_MOST: Final = 512 * 1024 * 1024
"""Bytes of the longest message: an answer of 64 MiB takes six times as much in escapes."""

_DEEP: Final = 40
"""Levels of odd data that are shown."""

_GLANCE: Final = 0.25
"""Seconds without a byte after which whoever waits looks around."""


class Closed(Exception):
    """The other side has closed the connection, or sent what is not a message."""


class Channel:
    """One side of the connection. `look` is called now and then while it waits for the other side; it may raise."""

    def __init__(self, connected: socket.socket, look: Callable[[], None] | None = None) -> None:
        connected.settimeout(None if look is None else _GLANCE)
        self._socket = connected
        self._look = look or _look_at_nothing
        self._read = bytearray()
        self._room = memoryview(bytearray(_AT_A_TIME))

    def send(self, message: Any) -> None:
        """Sends plain data. Raises Closed, and TypeError, ValueError or RecursionError for what is none."""
        kind, data = _write(message)
        left = memoryview(kind + len(data).to_bytes(_LENGTH, "big") + data)
        while left:
            left = left[self._try(self._socket.send, left) :]

    def receive(self) -> Any:
        """The next message. Raises Closed."""
        head = self._take(1 + _LENGTH)
        size = int.from_bytes(head[1:], "big")
        if size > _MOST:
            raise Closed(f"a message of {size:,} bytes")
        try:
            return _READ[head[:1]](self._take(size))
        except (ValueError, RecursionError, KeyError) as error:
            raise Closed(f"a message that is not valid data: {error!r}") from error

    def _take(self, size: int) -> bytes:
        while len(self._read) < size:
            count = self._try(self._socket.recv_into, self._room)
            if not count:
                raise Closed("the end of the connection")
            self._read += self._room[:count]
            if len(self._read) < size:
                self._look()
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    def _try(self, work: Callable[[memoryview], int], data: memoryview) -> int:
        while True:
            try:
                return work(data)
            except TimeoutError:
                self._look()
            except OSError as error:
                raise Closed(str(error)) from error


def _look_at_nothing() -> None:
    """Waits for as long as it takes."""


def _write(message: Any) -> tuple[bytes, bytes]:
    """The kind and the data of a message. MessagePack has no lone surrogates and no integers beyond 64 bits."""
    try:
        return _PACKED, _pack(message)
    except (TypeError, ValueError, OverflowError):
        return _JSON, json.dumps(message, separators=(",", ":")).encode()


_pack: Final = msgspec.msgpack.Encoder().encode
_READ: Final[Mapping[bytes, Callable[[bytes], Any]]] = {
    _PACKED: msgspec.msgpack.Decoder().decode,
    _JSON: json.loads,
}


def pack(value: Any) -> Any:
    """An observation, a list of them, or plain data, as plain data."""
    match value:
        case Answered():
            return {"is": "answered", "events": value.events, "at": value.at}
        case Called():
            return {"is": "called", "reply": pack(value.reply), "changed": value.changed}
        case Translation():
            return {"is": "translation", "observation": pack(value.observation), "changed": value.changed}
        case Sent():
            return {"is": "sent", **_pack_payload(value.payload), "url": value.url, "version": value.version}
        case Refused() | Crashed():
            return {"is": type(value).__name__.lower(), "fields": msgspec.to_builtins(value)}
        case list():
            return {"is": "list", "items": [pack(item) for item in value]}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return {"is": "data", "data": value}


def unpack(packed: Any) -> Any:
    """What was packed. Raises Closed for what was not."""
    try:
        return _UNPACK[packed["is"]](packed)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Closed(f"a message without meaning: {shorten(repr(error))}") from error


def _unpack_answered(packed: Mapping[str, Any]) -> Answered:
    events, at = tuple(packed["events"]), tuple(map(float, packed["at"]))
    if not all(map(is_object, events)):
        raise TypeError("events are objects")
    return Answered(events, at)


_UNPACK: Final[Mapping[str, Callable[[Any], Any]]] = {
    "answered": _unpack_answered,
    "called": lambda packed: Called(unpack(packed["reply"]), bool(packed["changed"])),
    "translation": lambda packed: Translation(unpack(packed["observation"]), bool(packed["changed"])),
    "sent": lambda packed: Sent(
        _unpack_odd(packed["odd"]) if "odd" in packed else packed["payload"],
        packed["url"] if packed["url"] is None else str(packed["url"]),
        version=packed["version"] if packed["version"] is None else str(packed["version"]),
    ),
    "refused": lambda packed: msgspec.convert(packed["fields"], Refused),
    "crashed": lambda packed: msgspec.convert(packed["fields"], Crashed),
    "list": lambda packed: [unpack(item) for item in packed["items"]],
    "data": lambda packed: packed["data"],
}


def _pack_payload(payload: Any) -> dict[str, Any]:
    """A payload as it is written, or, if that would change it, part by part."""
    if is_surely_sendable(payload):
        return {"payload": payload}
    found = find_unsendable(payload)
    if found is None or found.is_too_deep:
        return {"payload": payload}
    return {"odd": _pack_odd(payload, _DEEP)}


def _pack_odd(value: Any, levels: int) -> Any:
    """Data of any kind: what is not JSON data is only shown."""
    if levels and is_object(value):
        return ["object", [[_pack_odd(key, 1), _pack_odd(child, levels - 1)] for key, child in value.items()]]
    if levels and is_array(value):
        return ["array", [_pack_odd(child, levels - 1) for child in value]]
    if type(value) in (str, bool, float, type(None)) or (type(value) is int and value.bit_length() < _MOST_BITS):
        return ["value", value]
    return ["other", type(value).__name__, shorten(_show(value), 10_000)]


_MOST_BITS: Final = 10_000


def _show(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - whatever its own method raises
        return f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"


def _unpack_odd(packed: Any) -> Any:
    kind, *rest = packed
    match kind:
        case "object":
            return {_unpack_odd(key): _unpack_odd(child) for key, child in rest[0]}
        case "array":
            return list(map(_unpack_odd, rest[0]))
        case "value":
            return rest[0]
        case _:
            return type(str(rest[0]), (Foreign,), {})(str(rest[1]))


class Foreign:
    """What stands for a value of another process that is not JSON data: it has its type's name and its `repr`."""

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown
