"""What a blueprint is compiled to: a tree of texts, variables and sections. It holds no data and never changes."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Final, NamedTuple

import msgspec

from art_sdk.blueprints.mustache import Location


class Step(NamedTuple):
    """One part of a dotted name. `position` is the part as a list index, or -1."""

    name: str
    position: int


class Variable(NamedTuple):
    """A tag that becomes a value: text inside a JSON string, a whole JSON value outside."""

    path: tuple[Step, ...]
    label: str
    place: Location
    in_string: bool


class Section(NamedTuple):
    """A tag that opens a section, and what is in the section."""

    path: tuple[Step, ...]
    label: str
    place: Location
    inverted: bool
    body: Body


class Span(NamedTuple):
    """Where a part of a text comes from. `offset` is its place in the text.

    `source` is the part as the blueprint has it, if it has several lines. `in_string` says whether it begins inside a
    JSON string, and None that all of it is the content of one.
    """

    offset: int
    place: Location
    source: str = ""
    in_string: bool | None = None

    def find(self, offset: int) -> Location:
        """The place of the character at this offset of the span, found by encoding the source once more."""
        line_ends = [match.end() for match in _NEWLINES.finditer(self.source)]
        return self.place._replace(line=self.place.line + bisect_right(line_ends, offset, key=self._encoded_size))

    def _encoded_size(self, stop: int) -> int:
        part = self.source[:stop]
        return len(string_content(part) if self.in_string is None else encode_json(part, self.in_string).text)


class TextPiece(NamedTuple):
    """Text as it goes to the output, and where its parts come from."""

    text: str
    spans: tuple[Span, ...]

    def find(self, offset: int) -> Location:
        """The place in the blueprint of the character at this offset."""
        span = self.spans[bisect_right(self.spans, offset, key=lambda one: one.offset) - 1]
        return span.find(offset - span.offset)


Piece = TextPiece | Variable | Section
Body = tuple[Piece, ...]


class EncodedJson(NamedTuple):
    """JSON text with raw control characters in its strings encoded. `quote`: where the source opened the last one."""

    text: str
    in_string: bool
    quote: int


class BadBackslash(Exception):
    """A backslash that JSON does not allow where it is, at `position`."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position


def encode_json(source: str, in_string: bool) -> EncodedJson:  # noqa: FBT001 - the state that the text begins in
    """The source as JSON text, following its quotes. Raises BadBackslash."""
    parts: list[str] = []
    at, quote = 0, -1
    while at < len(source):
        end = _end_of_run(source, at, in_string)
        run = source[at:end]
        parts.append(run.translate(_ESCAPES) if in_string and _CONTROLS.search(run) else run)
        if end < len(source):
            if source[end] == "\\":
                raise BadBackslash(end, _explain_backslash(source, end, in_string))
            parts.append('"')
            in_string, quote = not in_string, end
        at = end + 1
    return EncodedJson("".join(parts), in_string, quote)


def _end_of_run(source: str, at: int, in_string: bool) -> int:  # noqa: FBT001 - likewise
    """Where the next quote is, or a backslash that is not part of a JSON escape in a string, or the end."""
    run = (_INSIDE if in_string else _OUTSIDE).match(source, at)
    return at if run is None else run.end()


def _explain_backslash(source: str, at: int, in_string: bool) -> str:  # noqa: FBT001 - likewise
    if not in_string:
        return "a backslash outside a JSON string"
    what = "comes right before a tag" if at == len(source) - 1 else "does not begin a JSON escape"
    return f"this backslash {what}; write two for a backslash in the text"


def string_content(value: Any) -> str:
    """The value as the content of a JSON string: text as it is, nothing for null, anything else as JSON text."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else _encode(value).decode()
    return _encode(text)[1:-1].decode()


_encode: Final = msgspec.json.Encoder().encode
_NEWLINES: Final = re.compile("\n")
_OUTSIDE: Final = re.compile(r'[^"\\]*+')
_INSIDE: Final = re.compile(r'[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+')
_CONTROLS: Final = re.compile("[\x00-\x1f]")
_ESCAPES: Final = {code: string_content(chr(code)) for code in range(0x20)}
