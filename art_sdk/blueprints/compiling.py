"""Compiles tokens to pieces. Whether a tag is inside a JSON string is decided here, before any data is seen.

The compiler follows the quotes of the blueprint's own text. A section must begin and end on the same side of the
quotes, so that its tags stay where they are however often it is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from art_sdk.blueprints.mustache import (
    BlueprintError,
    Location,
    Tag,
    TextToken,
    clip,
    error_at,
    read_marker,
    read_tokens,
)
from art_sdk.blueprints.scope import (
    BlueprintPiece,
    End,
    Pieces,
    Section,
    Step,
    TextPiece,
    Variable,
    piece_key,
    string_content,
)
from art_sdk.json_data import is_array, is_object

SIZE_LIMIT: Final = 1_000_000
"""The most characters of a blueprint, its partials counted each time they are included."""

DEPTH_LIMIT: Final = 16
"""How deep partials may include each other."""

SECTION_LIMIT: Final = 64
"""How deep sections may be nested, those of partials included: chevron recurses at each."""


def check_size(size: int) -> None:
    """Raises BlueprintError for more characters than `SIZE_LIMIT`."""
    if size > SIZE_LIMIT:
        raise BlueprintError(f"the blueprint and its partials have more than {SIZE_LIMIT:,} characters")


class Compiler:
    """Collects the pieces of one blueprint. Every method raises BlueprintError.

    `_string` is the place of the quote that opened the current JSON string, or None outside of strings.
    """

    def __init__(self, partials: Mapping[str, str]) -> None:
        self._partials = partials
        self._pieces: list[BlueprintPiece] = []
        self._string: Location | None = None
        self._size = 0
        self._sections = 0

    def pieces(self) -> Pieces:
        """The collected pieces by key."""
        return MappingProxyType({piece_key(number): piece for number, piece in enumerate(self._pieces)})

    def json_text(self, source: str) -> None:
        """A text blueprint: JSON text with tags in it."""
        self._run(read_tokens(source), ())
        if self._string:
            raise BlueprintError("this JSON string is never closed", self._string)

    def node(self, node: Any, path: str) -> None:
        """A part of an object blueprint. A section may leave a comma too many; rendering drops it."""
        if isinstance(node, str):
            self._leaf(node, path)
        elif is_object(node):
            self._object(node, path)
        elif is_array(node):
            self._array(node, path)
        else:
            self._text(msgspec.json.encode(node).decode(), Location(1, path))

    def _leaf(self, text: str, path: str) -> None:
        """A text of an object blueprint: a value if it is one tag in three braces, else a string."""
        tokens = read_tokens(text, path)
        if len(tokens) == 1 and isinstance(tag := tokens[0], Tag) and tag.sigil == "{":
            self._variable(tag)
        else:
            self.content(tokens, Location(1, path))

    def content(self, tokens: list[TextToken | Tag], place: Location) -> None:
        """A whole JSON string, given as plain text with tags in it."""
        self._text('"', place)
        self._string = place
        self._run(tokens, (), is_content=True)
        self._string = None
        self._text('"', place)

    def _object(self, node: dict[str, Any], path: str) -> None:
        place = Location(1, path)
        self._text("{", place)
        for number, (key, value) in enumerate(node.items()):
            self._text(("," if number else "") + msgspec.json.encode(key).decode() + ":", place)
            self.node(value, f"{path}.{key}")
        self._text("}", place)

    def _array(self, items: Sequence[Any], path: str) -> None:
        opened: list[tuple[str, str]] = []
        self._text("[", Location(1, path))
        for index, item in enumerate(items):
            where = f"{path}[{index}]"
            marker = read_marker(item, where) if isinstance(item, str) else None
            if marker is None:
                self.node(item, where)
                self._text("," if opened or index + 1 < len(items) else "", Location(1, where))
            elif marker.sigil == "/":
                self._close(marker, opened)
            else:
                opened.append((marker.name, self._open(marker)))
        if opened:
            raise BlueprintError(f"the section '{clip(opened[-1][0])}' is never closed in this list", Location(1, path))
        self._text("]", Location(1, path))

    def _close(self, marker: Tag, opened: list[tuple[str, str]]) -> None:
        if not opened or opened[-1][0] != marker.name:
            raise error_at(marker, f"the tag '{marker.label}' does not close a section of this list")
        self._shut(opened.pop()[1])

    def _run(self, tokens: list[TextToken | Tag], within: tuple[str, ...], *, is_content: bool = False) -> None:
        """Compiles the tokens of one text. With `is_content` its texts are the content of a string, else JSON."""
        opened: list[tuple[Tag, str, bool]] = []
        for token in tokens:
            if isinstance(token, TextToken):
                self._literal(token, is_content=is_content)
            elif token.sigil == ">":
                self._partial(token, within)
            elif token.sigil == "/":
                self._end(*opened.pop())
            elif token.sigil in ("#", "^"):
                opened.append((token, self._open(token), self._in_string))
            else:
                self._variable(token)

    @property
    def _in_string(self) -> bool:
        return self._string is not None

    def _literal(self, token: TextToken, *, is_content: bool) -> None:
        lines = _LINES.findall(token.text)
        for number, line in enumerate(lines):
            place = Location(token.place.line + number, token.place.within)
            if is_content:
                self._text(string_content(line), place)
            else:
                self._text("".join(self._json_parts(line, place, is_last=number + 1 == len(lines))), place)

    def _json_parts(self, line: str, place: Location, *, is_last: bool) -> Iterator[str]:
        """The line as JSON text, following its quotes, with raw control characters in strings encoded."""
        for match in _JSON_PARTS.finditer(line):
            part = match[0]
            if part == '"':
                self._string = None if self._string else place
            elif part.startswith("\\"):
                self._check_escape(part, place, before_tag=is_last and match.end() == len(line))
            elif self._string:
                part = _CONTROLS.sub(lambda found: string_content(found[0]), part)
            yield part

    def _check_escape(self, part: str, place: Location, *, before_tag: bool) -> None:
        if not self._string:
            raise BlueprintError("a backslash outside a JSON string", place)
        if len(part) == 1:
            what = "comes right before a tag" if before_tag else "does not begin a JSON escape"
            raise BlueprintError(f"this backslash {what}; write two for a backslash in the text", place)

    def _partial(self, tag: Tag, within: tuple[str, ...]) -> None:
        """Includes a partial: as JSON text, or as content of the string around the tag."""
        source = self._partials.get(tag.name)
        if source is None:
            known = ", ".join(sorted(self._partials)) or "none"
            raise error_at(tag, f"unknown partial '{tag.label}'; known partials: {clip(known)}")
        if tag.name in within:
            raise error_at(tag, f"the partial '{tag.label}' includes itself")
        if len(within) == DEPTH_LIMIT:
            raise error_at(tag, f"the partial '{tag.label}' is nested deeper than {DEPTH_LIMIT} levels")
        outside = self._string
        tokens = read_tokens(_LINE_STARTS.sub(tag.indent, source), f"partial '{clip(tag.name)}'")
        self._run(tokens, (*within, tag.name), is_content=outside is not None)
        if self._string != outside:
            raise error_at(tag, f"the partial '{tag.label}' leaves a JSON string open")

    def _text(self, text: str, place: Location) -> None:
        self._size += len(text)
        check_size(self._size)
        self._pieces.append(TextPiece(text, place))

    def _variable(self, tag: Tag) -> None:
        self._pieces.append(Variable(_path(tag.name), tag.label, tag.place, self._in_string))

    def _open(self, tag: Tag) -> str:
        self._sections += 1
        if self._sections > SECTION_LIMIT:
            raise error_at(tag, f"sections are nested deeper than {SECTION_LIMIT} levels")
        self._pieces.append(Section(_path(tag.name), tag.label, tag.place, tag.sigil == "^"))
        return piece_key(len(self._pieces) - 1)

    def _end(self, tag: Tag, key: str, in_string: bool) -> None:  # noqa: FBT001 - noted when the section opened
        if in_string != self._in_string:
            opens, closes = ("inside", "outside") if in_string else ("outside", "inside")
            raise error_at(tag, f"the section '{tag.label}' opens {opens} a JSON string and closes {closes} of one")
        self._shut(key)

    def _shut(self, key: str) -> None:
        self._sections -= 1
        self._pieces.append(End(key))


_JSON_PARTS: Final = re.compile(r'"|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\|[^"\\]+')
_CONTROLS: Final = re.compile("[\x00-\x1f]")
_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")
_LINE_STARTS: Final = re.compile(r"^(?!\Z)", re.MULTILINE)
_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")


def _path(name: str) -> tuple[Step, ...]:
    if name == ".":
        return ()
    return tuple(Step(part, int(part) if _INDEX.fullmatch(part) else -1) for part in name.split("."))
