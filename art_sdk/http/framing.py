"""Bytes into frames: server-sent events and JSON lines. No I/O; fed in any pieces, the frames are the same.

Server-sent events are read as the WHATWG standard has them (html.spec.whatwg.org, 9.2.6), with two
differences: `id` and `retry` are left alone, since nothing here connects again, and bytes that are
no UTF-8 make a `BadFrame` instead of U+FFFD, so that no text is changed unseen.
There is no limit on a line or a frame: one that counts bytes belongs to whoever reads the socket.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_BOM: Final = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """One event: its data, and its type, which is `message` where none was sent."""

    data: str
    event: str = "message"


class BadFrame(NamedTuple):
    """One event that cannot be read as text, as it came, and why."""

    data: bytes
    reason: str


class ServerSentEvents:
    """A reader of `text/event-stream`."""

    def __init__(self) -> None:
        self._lines = _Lines()
        self._data: list[bytes] = []
        self._event = b""

    def feed(self, chunk: bytes) -> list[Frame | BadFrame]:
        """The frames that these bytes complete."""
        frames: list[Frame | BadFrame] = []
        for line in self._lines.feed(chunk):
            if line:
                self._take(line)
                continue
            if self._data:
                frames.append(_frame(b"\n".join(self._data), self._event))
                self._data = []
            self._event = b""
        return frames

    def close(self) -> bytes:
        """What was begun and not ended by a blank line. The standard drops it; whoever reads should know."""
        return b"\n".join([*self._data, self._lines.close()])

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")  # a line without a colon is a field without a value
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name == b"event":
            self._event = value.removeprefix(b" ")


class JsonLines:
    """A reader of `application/x-ndjson`: a frame a line, blank lines left out."""

    def __init__(self) -> None:
        self._lines = _Lines()

    def feed(self, chunk: bytes) -> list[Frame | BadFrame]:
        """The frames that these bytes complete."""
        return [_frame(line, b"") for line in self._lines.feed(chunk) if line and not line.isspace()]

    def close(self) -> bytes:
        """The last line, if nothing ended it."""
        return self._lines.close()


class _Lines:
    r"""Lines that end in `\n`, `\r` or `\r\n`, a `\r\n` that is cut in two included. A BOM before the first is dropped.

    JSON holds no bare `\r`, so both formats can be cut alike.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_return = False
        self._is_first = True

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._after_return and chunk:
            self._after_return = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        lines = chunk.splitlines()  # of bytes: at these three only
        self._after_return = chunk.endswith(b"\r")
        rest = b"" if self._after_return or chunk.endswith(b"\n") else lines.pop()
        if lines:
            self._complete(lines)
        self._rest += rest  # in place: a line that comes byte by byte is copied once
        return lines

    def close(self) -> bytes:
        return bytes(self._rest)

    def _complete(self, lines: list[bytes]) -> None:
        if self._rest:
            self._rest += lines[0]
            lines[0] = bytes(self._rest)
            self._rest.clear()
        if self._is_first:
            self._is_first = False
            lines[0] = lines[0].removeprefix(_BOM)


def _frame(data: bytes, event: bytes) -> Frame | BadFrame:
    try:
        return Frame(data.decode(), event.decode() or "message")
    except UnicodeDecodeError as error:
        return BadFrame(data, f"the bytes are no UTF-8: {error.reason} at byte {error.start}")
