"""Bytes into frames: server-sent events, and lines of JSON. No I/O; the frames are the same however the bytes are cut.

Server-sent events are parsed as the WHATWG standard says (html.spec.whatwg.org, 9.2.6), with two differences: `id`
and `retry` are ignored, since nothing here reconnects, and bytes that are not UTF-8 make a `BadFrame`
instead of U+FFFD, so that no text is changed silently.
An event or a line beyond its bound makes a `BadFrame`, too.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from art_sdk.http.size_limits import NO_BOUND, Bound

_BOM: Final = b"\xef\xbb\xbf"


class Frame(Struct, frozen=True, gc=False):
    """One event: its data, and its type, which is `message` by default.

    `is_error`: the framing itself marks it as an error, whose code is its type.
    """

    data: str
    event: str = "message"
    is_error: bool = False


class Frames(Protocol):
    """Parses the bytes of a stream into frames."""

    def feed(self, chunk: bytes) -> list[Frame | BadFrame]:
        """The frames that these bytes complete."""
        ...

    def finish(self) -> list[Frame | BadFrame]:
        """The frame that the end of the body completes, if there is one."""
        ...

    def close(self) -> bytes:
        """The start of a frame whose end did not come."""
        ...


class BadFrame(NamedTuple):
    """The bytes of an event that is not text or too large, and what is wrong with them."""

    data: bytes
    reason: str


class ServerSentEvents:
    """Parses `text/event-stream`. `bound` is that of an event, and of a line."""

    def __init__(self, bound: Bound = NO_BOUND) -> None:
        self._bound = bound
        self._lines = _Lines()
        self._data: list[bytes] = []
        self._size = 0
        self._event = b""

    def feed(self, chunk: bytes) -> list[Frame | BadFrame]:
        """The frames that these bytes complete."""
        frames: list[Frame | BadFrame] = []
        for line in self._lines.feed(chunk):
            if line:
                self._take(line)
                continue
            if self._data:
                frames.append(self._complete())
            self._event = b""
        if self._bound.is_broken_by(self._size + self._lines.waiting):
            frames.append(BadFrame(self._start(), str(self._bound)))
        return frames

    def finish(self) -> list[Frame | BadFrame]:
        """None: only a blank line completes an event."""
        return []

    def close(self) -> bytes:
        """The start of an event without the blank line that ends it. The standard drops it; callers may object."""
        return b"\n".join([*self._data, self._lines.close()])

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")  # a line without a colon is a field without a value
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)
        elif name == b"event":
            self._event = value.removeprefix(b" ")

    def _complete(self) -> Frame | BadFrame:
        is_too_large = self._bound.is_broken_by(self._size)
        frame = BadFrame(self._start(), str(self._bound)) if is_too_large else self._frame()
        self._data, self._size = [], 0
        return frame

    def _frame(self) -> Frame | BadFrame:
        data = b"\n".join(self._data)
        try:
            return Frame(data.decode(), self._event.decode() or "message")
        except UnicodeDecodeError as error:
            return _not_text(data, error)

    def _start(self) -> bytes:
        """The first bytes of an event that is too large."""
        return b"\n".join(self._data)[:_KEPT]


_KEPT: Final = 4096
"""Bytes that are kept of an event or a line that is too large, for its error."""


def _not_text(data: bytes, error: UnicodeDecodeError) -> BadFrame:
    return BadFrame(data, f"the bytes are not UTF-8: {error.reason} at byte {error.start}")


class JsonLines:
    """Parses `application/x-ndjson`: one frame per line. Blank lines are skipped. `bound` is that of a line."""

    def __init__(self, bound: Bound = NO_BOUND) -> None:
        self._bound = bound
        self._lines = _Lines()

    def feed(self, chunk: bytes) -> list[Frame | BadFrame]:
        """The frames that these bytes complete."""
        frames = self._frames(self._lines.feed(chunk))
        if self._bound.is_broken_by(self._lines.waiting):
            frames.append(BadFrame(self._lines.close()[:_KEPT], str(self._bound)))
        return frames

    def finish(self) -> list[Frame | BadFrame]:
        """The last line, if it lacks nothing but its end: the JSON in it is whole."""
        try:
            msgspec.json.decode(self._lines.close())
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return []
        return self.feed(b"\n")

    def close(self) -> bytes:
        """The start of a line whose end did not come."""
        return self._lines.close()

    def _frames(self, lines: list[bytes]) -> list[Frame | BadFrame]:
        """The lines as text, decoded at once where all of them are: this is the hot loop."""
        if not self._bound.is_broken_by(sum(map(len, lines))):
            with suppress(UnicodeDecodeError):  # one of them is not text; the others are
                return [*map(Frame, map(bytes.decode, filter(bytes.strip, lines)))]
        return [self._frame(line) for line in lines if line.strip()]

    def _frame(self, line: bytes) -> Frame | BadFrame:
        if self._bound.is_broken_by(len(line)):
            return BadFrame(line[:_KEPT], str(self._bound))
        try:
            return Frame(line.decode())
        except UnicodeDecodeError as error:
            return _not_text(line, error)


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

    @property
    def waiting(self) -> int:
        """How many bytes of a line are there without its end."""
        return len(self._rest)

    def _complete(self, lines: list[bytes]) -> None:
        if self._rest:
            self._rest += lines[0]
            lines[0] = bytes(self._rest)
            self._rest.clear()
        if self._is_first:
            self._is_first = False
            lines[0] = lines[0].removeprefix(_BOM)
