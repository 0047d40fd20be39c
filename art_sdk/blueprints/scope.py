"""Names to values, and values to text: what chevron asks for every tag while it renders.

    pieces ─► tokens with opaque keys ─► chevron.render ─ key ─► Frame ─► value ─► text

chevron looks a key up in its scopes. Ours has keys that mean nothing outside it, so that chevron splits
none of them, falls back to no attribute, and escapes nothing. Values are plain data (`to_plain`), are read
by name and index alone, and are never looked into for tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec

from art_sdk.blueprints.mustache import Fault, Place
from art_sdk.json_data import is_array, is_object

Strict = Literal["variables", "all", "off"]
"""Which missing names are errors: those of variables, those of sections too, or none."""


class Step(NamedTuple):
    """One part of a dotted name, and the list index that it is, or -1."""

    name: str
    position: int


class Text(NamedTuple):
    """Text of the blueprint, of one line, ready for the output."""

    text: str
    place: Place


class Variable(NamedTuple):
    """A tag that stands for a value: text inside a JSON string, a whole JSON value outside."""

    path: tuple[Step, ...]
    label: str
    place: Place
    in_string: bool


class Section(NamedTuple):
    """A tag that opens a section."""

    path: tuple[Step, ...]
    label: str
    place: Place
    inverted: bool


class End(NamedTuple):
    """The end of the section that the piece of this key opened."""

    key: str


Piece = Text | Variable | Section | End
Pieces = Mapping[str, Piece]
Tokens = tuple[tuple[str, str], ...]
Trace = list[tuple[Place, str]]

_MISSING: Final = object()
_encode: Final = msgspec.json.Encoder().encode


def piece_key(number: int) -> str:
    """The key of a piece. Not a number, not dotted, no attribute of anything: chevron can do nothing with it."""
    return f"#{number}"


def to_tokens(pieces: Pieces) -> Tokens:
    """The pieces as chevron's token list. Neighbouring texts become one."""
    tokens: list[tuple[str, str]] = []
    for key, piece in pieces.items():
        token = _token(key, piece)
        if token[0] == "literal" and tokens and tokens[-1][0] == "literal":
            token = "literal", tokens.pop()[1] + token[1]
        tokens.append(token)
    return tuple(tokens)


def render(pieces: Pieces, tokens: Tokens, data: Any, strict: Strict) -> str:
    """The text that the tokens stand for. Raises Fault."""
    return _render(tokens, Frame(_Run(pieces, strict, None), data))


def trace(pieces: Pieces, data: Any, strict: Strict) -> Trace:
    """The same text again, in parts, each with its place: for saying where an error comes from."""
    found: Trace = []
    tokens = tuple(
        ("no escape", key) if isinstance(piece, Text) else _token(key, piece) for key, piece in pieces.items()
    )
    _render(tokens, Frame(_Run(pieces, strict, found), data))
    return found


def _render(tokens: Tokens, root: Frame) -> str:
    import chevron  # noqa: PLC0415 - needed when a prompt is assembled, not at import

    scopes = cast("Any", [root])  # the published types think of integers
    return chevron.render(template=tokens, scopes=scopes, partials_path=None, partials_dict={})


def _token(key: str, piece: Piece) -> tuple[str, str]:
    match piece:
        case Text():
            return "literal", piece.text
        case Variable():
            return "no escape", key
        case Section():
            return "inverted section" if piece.inverted else "section", key
        case End():
            return "end", piece.key


class _Run(NamedTuple):
    """One rendering: what all its frames share."""

    pieces: Pieces
    strict: Strict
    trace: Trace | None

    def show(self, piece: Text | Variable, value: Any) -> str:
        text = piece.text if isinstance(piece, Text) else self._write(piece, value)
        if self.trace is not None:
            self.trace.append((piece.place, text))
        return text

    def _write(self, tag: Variable, value: Any) -> str:
        if value is _MISSING:
            if self.strict != "off":
                raise unresolved(tag)
            value = None
        # blanks keep two neighbouring values from becoming one
        return string_content(value) if tag.in_string else f" {_encode(value).decode()} "


class Frame:
    """A value that names are looked up in, and the frame around it. Always true: chevron skips false items."""

    __slots__ = ("_count", "_index", "_outer", "_run", "_value")

    def __init__(self, run: _Run, value: Any, outer: Frame | None = None, index: int = 0, count: int = 0) -> None:
        self._run = run
        self._value = value
        self._outer = outer
        self._index = index
        self._count = count

    def __getitem__(self, key: str) -> object:
        piece = self._run.pieces[key]
        if isinstance(piece, Section):
            return self._enter(piece)
        if isinstance(piece, Variable):
            return self._run.show(piece, self._find(piece.path))
        assert isinstance(piece, Text)  # noqa: S101 - an end is never looked up
        return self._run.show(piece, None)

    def _enter(self, tag: Section) -> object:
        """What chevron makes a section of: a frame, a frame for each item, or False."""
        value = self._find(tag.path)
        if value is _MISSING:
            if self._run.strict == "all":
                raise unresolved(tag)
            return False
        if is_array(value):
            count = len(value)
            return [Frame(self._run, item, self, at, count) for at, item in enumerate(value)]
        # as JavaScript has it: an empty object is true, zero and empty text are not
        return Frame(self._run, value, self) if value or is_object(value) else False

    def _find(self, path: tuple[Step, ...]) -> Any:
        if not path:
            return self._value
        frame: Frame | None = self
        while frame is not None:
            value = frame._own(path[0])  # noqa: SLF001 - another frame
            if value is not _MISSING:
                return _descend(value, path[1:])
            frame = frame._outer  # noqa: SLF001 - likewise
        return _MISSING

    def _own(self, step: Step) -> Any:
        if self._count and step.name in LOOP_NAMES:
            return {"-index": self._index, "-first": not self._index, "-last": self._index + 1 == self._count}[
                step.name
            ]
        return _child(self._value, step)


LOOP_NAMES: Final = frozenset({"-first", "-last", "-index"})
"""What a loop says of the item it is at."""


def unresolved(tag: Variable | Section) -> Fault:
    """The fault of a name that the context does not have."""
    return Fault(f"Mustache unresolved tag '{tag.label}'", tag.place, tag=tag.label)


def string_content(value: Any) -> str:
    """What the value is inside a JSON string: text as it is, nothing for null, JSON text for all else; encoded."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else _encode(value).decode()
    return _encode(text)[1:-1].decode()


def _descend(value: Any, path: tuple[Step, ...]) -> Any:
    for step in path:
        if step.name == "length" and is_array(value):
            return len(value) if step is path[-1] else _MISSING
        value = _child(value, step)
    return value


def _child(value: Any, step: Step) -> Any:
    if is_object(value):
        return value.get(step.name, _MISSING)
    if is_array(value) and 0 <= step.position < len(value):
        return value[step.position]
    return _MISSING
