"""Compiles tokens to pieces. Whether a tag is inside a JSON string is decided here, before any data is seen.

The compiler follows the quotes of the blueprint's own text. A section must begin and end on the same side of the
quotes, so that its tags stay where they are however often it is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from art_sdk.blueprints.limits import PARTIAL_DEPTH, SECTION_DEPTH, BlueprintLimits
from art_sdk.blueprints.mustache import (
    BlueprintError,
    Location,
    Path,
    Tag,
    TextToken,
    clip,
    error_at,
    read_marker,
    read_tokens,
)
from art_sdk.blueprints.pieces import (
    BadBackslash,
    Body,
    Piece,
    Section,
    Span,
    Step,
    TextPiece,
    Variable,
    encode_json,
    string_content,
)
from art_sdk.json_data import is_array, is_object


class _Opened(NamedTuple):
    """A section that is not closed yet: its tag, the pieces around it, and the side of the quotes it began on."""

    tag: Tag
    around: list[Piece]
    in_string: bool


class Compiler:
    """Collects the pieces of one blueprint. Every method raises BlueprintError.

    `_string` is the place of the quote that opened the current JSON string, or None outside of strings.
    """

    def __init__(self, partials: Mapping[str, str], limits: BlueprintLimits) -> None:
        self._partials = partials
        self._limits = limits
        self._pieces: list[Piece] = []
        self._texts: list[str] = []
        self._spans: list[Span] = []
        self._length = 0
        self._string: Location | None = None
        self._used: dict[str, int] = {"characters": 0, "tags": 0, "partials": 0}
        self._sections = 0

    def body(self) -> Body:
        """The collected pieces."""
        self._end_text()
        return tuple(self._pieces)

    def json_text(self, source: str) -> None:
        """A text blueprint: JSON text with tags in it."""
        self._use("characters", len(source))
        self._run(read_tokens(source), ())
        if self._string:
            raise BlueprintError("this JSON string is never closed", self._string)

    def node(self, node: Any, path: Path) -> None:
        """A part of an object blueprint. A section may leave a comma too many; rendering drops it."""
        if isinstance(node, str):
            self._leaf(node, path)
        elif is_object(node):
            self._object(node, path)
        elif is_array(node):
            self._array(node, path)
        else:
            self._text(msgspec.json.encode(node).decode(), Location(1, path))

    def _leaf(self, text: str, path: Path) -> None:
        """A text of an object blueprint: a value if it is one tag in three braces, else a string."""
        if text.startswith("{{{") and text.find("}}") == len(text) - 3:
            self._run(read_tokens(text, path), ())
        else:
            self.content(text, Location(1, path))

    def content(self, text: str, place: Location) -> None:
        """A whole JSON string, given as plain text with tags in it."""
        self._use("characters", len(text))
        if "{{" not in text and "\n" not in text:
            self._text(f'"{string_content(text)}"', place)
            return
        self._text('"', place)
        self._string = place
        self._run(read_tokens(text, place.within), (), is_content=True)
        self._string = None
        self._text('"', place)

    def _object(self, node: dict[str, Any], path: Path) -> None:
        place = Location(1, path)
        self._text("{", place)
        for number, (key, value) in enumerate(node.items()):
            self._text(("," if number else "") + msgspec.json.encode(key).decode() + ":", place)
            self.node(value, Path(path, f".{key}"))
        self._text("}", place)

    def _array(self, items: Sequence[Any], path: Path) -> None:
        opened: list[_Opened] = []
        self._text("[", Location(1, path))
        for index, item in enumerate(items):
            where = Path(path, f"[{index}]")
            marker = read_marker(item, where) if isinstance(item, str) else None
            if marker is None:
                self.node(item, where)
                self._text("," if opened or index + 1 < len(items) else "", Location(1, where))
            elif marker.sigil == "/":
                self._close(marker, opened)
            else:
                opened.append(self._open(marker))
        if opened:
            name = clip(opened[-1].tag.name)
            raise BlueprintError(f"the section '{name}' is never closed in this list", Location(1, path))
        self._text("]", Location(1, path))

    def _close(self, marker: Tag, opened: list[_Opened]) -> None:
        if not opened or opened[-1].tag.name != marker.name:
            raise error_at(marker, f"the tag '{marker.label}' does not close a section of this list")
        self._shut(opened.pop())

    def _run(self, tokens: Iterable[TextToken | Tag], within: tuple[str, ...], *, is_content: bool = False) -> None:
        """Compiles the tokens of one text. With `is_content` its texts are the content of a string, else JSON."""
        opened: list[_Opened] = []
        for token in tokens:
            if isinstance(token, TextToken):
                self._literal(token, is_content=is_content)
            elif token.sigil == ">":
                self._partial(token, within)
            elif token.sigil == "/":
                self._end_section(opened.pop())
            elif token.sigil in ("#", "^"):
                opened.append(self._open(token))
            else:
                self._variable(token)

    def _literal(self, token: TextToken, *, is_content: bool) -> None:
        source, place = token
        kept = source if "\n" in source else ""
        if is_content:
            self._text(string_content(source), place, kept)
            return
        before = self._in_string
        try:
            encoded = encode_json(source, before)
        except BadBackslash as error:
            raise BlueprintError(str(error), _line_in(token, error.position)) from None
        if encoded.quote >= 0:
            self._string = _line_in(token, encoded.quote) if encoded.in_string else None
        self._text(encoded.text, place, kept, in_string=before)

    @property
    def _in_string(self) -> bool:
        return self._string is not None

    def _partial(self, tag: Tag, within: tuple[str, ...]) -> None:
        """Includes a partial: as JSON text, or as content of the string around the tag."""
        source = self._partials.get(tag.name)
        if source is None:
            known = ", ".join(sorted(self._partials)) or "none"
            raise error_at(tag, f"unknown partial '{tag.label}'; known partials: {clip(known)}")
        if tag.name in within:
            raise error_at(tag, f"the partial '{tag.label}' includes itself")
        if len(within) == PARTIAL_DEPTH:
            raise error_at(tag, f"the partial '{tag.label}' is nested deeper than {PARTIAL_DEPTH} levels")
        self._use("partials", 1, tag)
        self._use("characters", len(source) + len(tag.indent) * (source.count("\n") + 1), tag)
        outside = self._string
        tokens = read_tokens(_LINE_STARTS.sub(tag.indent, source), f"partial '{clip(tag.name)}'")
        self._run(tokens, (*within, tag.name), is_content=outside is not None)
        if self._string != outside:
            raise error_at(tag, f"the partial '{tag.label}' leaves a JSON string open")

    def _text(self, text: str, place: Location, source: str = "", *, in_string: bool | None = None) -> None:
        """Adds text. Adjacent texts become one piece."""
        self._texts.append(text)
        self._spans.append(Span(self._length, place, source, in_string))
        self._length += len(text)

    def _end_text(self) -> None:
        if self._texts:
            self._pieces.append(TextPiece("".join(self._texts), tuple(self._spans)))
            self._texts, self._spans, self._length = [], [], 0

    def _variable(self, tag: Tag) -> None:
        self._begin_tag(tag)
        self._pieces.append(Variable(_path(tag.name), tag.label, tag.place, self._in_string))

    def _open(self, tag: Tag) -> _Opened:
        self._begin_tag(tag)
        self._sections += 1
        if self._sections > SECTION_DEPTH:
            raise error_at(tag, f"sections are nested deeper than {SECTION_DEPTH} levels")
        opened = _Opened(tag, self._pieces, self._in_string)
        self._pieces = []
        return opened

    def _end_section(self, opened: _Opened) -> None:
        if opened.in_string != self._in_string:
            opens, closes = ("inside", "outside") if opened.in_string else ("outside", "inside")
            label = opened.tag.label
            raise error_at(opened.tag, f"the section '{label}' opens {opens} a JSON string and closes {closes} of one")
        self._shut(opened)

    def _shut(self, opened: _Opened) -> None:
        tag, body = opened.tag, self.body()
        self._sections -= 1
        self._pieces = opened.around
        self._pieces.append(Section(_path(tag.name), tag.label, tag.place, tag.sigil == "^", body))

    def _begin_tag(self, tag: Tag) -> None:
        self._end_text()
        self._use("tags", 1, tag)

    def _use(self, what: str, many: int, tag: Tag | None = None) -> None:
        """Counts something that a limit bounds, and names the tag that is beyond it."""
        self._used[what] += many
        if self._used[what] > (most := getattr(self._limits, what)):
            raise beyond_limit(what, most, tag)


def beyond_limit(name: str, most: int, tag: Tag | None = None) -> BlueprintError:
    """The error of a blueprint that is larger than the limit of this name."""
    what = "blueprint includes more than" if name == "partials" else "blueprint and its partials have more than"
    reason = f"the {what} {most:,} {name} (the limit {name!r})"
    return BlueprintError(reason) if tag is None else error_at(tag, reason)


_LINE_STARTS: Final = re.compile(r"^(?!\Z)", re.MULTILINE)
_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")


def _line_in(token: TextToken, position: int) -> Location:
    return token.place._replace(line=token.place.line + token.text.count("\n", 0, position))


def _path(name: str) -> tuple[Step, ...]:
    if name == ".":
        return ()
    return tuple(Step(part, int(part) if _INDEX.fullmatch(part) else -1) for part in name.split("."))
