"""Bytes into frames: server-sent events. No I/O; the frames are the same however the bytes are cut.

They are parsed as the WHATWG standard says (html.spec.whatwg.org, 9.2.6), with two differences: `id`
and `retry` are ignored, since nothing here reconnects, and bytes that are not UTF-8 make a `BadFrame`
instead of U+FFFD, so that no text is changed silently.
Lines and frames have no size limit: whoever reads the socket can count bytes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_BOM: Final = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """One event: its data, and its type, which is `message` by default."""

    data: str
    event: str = "message"


class BadFrame(NamedTuple):
    """The bytes of an event that is not text, and what is wrong with them."""

    data: bytes
    reason: str


class ServerSentEvents:
    """Parses `text/event-stream`."""

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
        """The start of an event without the blank line that ends it. The standard drops it; callers may object."""
        return b"\n".join([*self._data, self._lines.close()])

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")  # a line without a colon is a field without a value
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name == b"event":
            self._event = value.removeprefix(b" ")


class _Lines:
    r"""Lines that end in `\n`, `\r` or `\r\n`, also where a cut divides `\r\n`. A BOM before the first is dropped."""

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
        return BadFrame(data, f"the bytes are not UTF-8: {error.reason} at byte {error.start}")
