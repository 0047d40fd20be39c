"""Looks names up and writes values as text, for every tag that chevron renders.

    pieces ─► tokens with opaque keys ─► chevron.render ─ key ─► Scope ─► value ─► text

chevron looks keys up in a list of scopes; we give it one. Our keys mean nothing to chevron, so it cannot split them,
read attributes by them or escape values. Values are plain data (`to_plain`), read only by name and index, and
never searched for tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec

from art_sdk.blueprints.mustache import BlueprintError, Location
from art_sdk.json_data import is_array, is_object

Strict = Literal["variables", "all", "off"]
"""Which missing names are errors: those of variables, of variables and sections (`all`), or none (`off`)."""


class Step(NamedTuple):
    """One part of a dotted name. `position` is the part as a list index, or -1."""

    name: str
    position: int


class TextPiece(NamedTuple):
    """Text of one line of the blueprint, as it goes to the output."""

    text: str
    place: Location


class Variable(NamedTuple):
    """A tag that becomes a value: text inside a JSON string, a whole JSON value outside."""

    path: tuple[Step, ...]
    label: str
    place: Location
    in_string: bool


class Section(NamedTuple):
    """A tag that opens a section."""

    path: tuple[Step, ...]
    label: str
    place: Location
    inverted: bool


class End(NamedTuple):
    """The end of the section that the piece with this key opened."""

    key: str


BlueprintPiece = TextPiece | Variable | Section | End
Pieces = Mapping[str, BlueprintPiece]
Tokens = tuple[tuple[str, str], ...]
Trace = list[tuple[Location, str]]

_MISSING: Final = object()
_encode: Final = msgspec.json.Encoder().encode


def piece_key(number: int) -> str:
    """The key of a piece: not a number, not dotted and not an attribute, so chevron can only look it up."""
    return f"#{number}"


def to_tokens(pieces: Pieces) -> Tokens:
    """The pieces as chevron's list of tokens. Adjacent texts are joined."""
    tokens: list[tuple[str, str]] = []
    for key, piece in pieces.items():
        token = _token(key, piece)
        if token[0] == "literal" and tokens and tokens[-1][0] == "literal":
            token = "literal", tokens.pop()[1] + token[1]
        tokens.append(token)
    return tuple(tokens)


def render(pieces: Pieces, tokens: Tokens, data: Any, strict: Strict) -> str:
    """The rendered text. Raises BlueprintError."""
    return _render(tokens, Scope(_Run(pieces, strict, None), data))


def trace(pieces: Pieces, data: Any, strict: Strict) -> Trace:
    """The rendered text in parts, each with its place: to locate an error in the blueprint."""
    found: Trace = []
    tokens = tuple(
        ("no escape", key) if isinstance(piece, TextPiece) else _token(key, piece) for key, piece in pieces.items()
    )
    _render(tokens, Scope(_Run(pieces, strict, found), data))
    return found


def _render(tokens: Tokens, root: Scope) -> str:
    import chevron  # noqa: PLC0415 - needed when a prompt is assembled, not at import

    scopes = cast("Any", [root])  # the published types think of integers
    return chevron.render(template=tokens, scopes=scopes, partials_path=None, partials_dict={})


def _token(key: str, piece: BlueprintPiece) -> tuple[str, str]:
    match piece:
        case TextPiece():
            return "literal", piece.text
        case Variable():
            return "no escape", key
        case Section():
            return "inverted section" if piece.inverted else "section", key
        case End():
            return "end", piece.key


class _Run(NamedTuple):
    """One rendering: what all its scopes share."""

    pieces: Pieces
    strict: Strict
    trace: Trace | None

    def show(self, piece: TextPiece | Variable, value: Any) -> str:
        text = piece.text if isinstance(piece, TextPiece) else self._write(piece, value)
        if self.trace is not None:
            self.trace.append((piece.place, text))
        return text

    def _write(self, tag: Variable, value: Any) -> str:
        if value is _MISSING:
            if self.strict != "off":
                raise unresolved(tag)
            value = None
        # blanks keep two adjacent values from becoming one
        return string_content(value) if tag.in_string else f" {_encode(value).decode()} "


class Scope:
    """A value to look names up in, and the scope around it. Always true: chevron skips false items of lists."""

    __slots__ = ("_count", "_index", "_outer", "_run", "_value")

    def __init__(self, run: _Run, value: Any, outer: Scope | None = None, index: int = 0, count: int = 0) -> None:
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
        assert isinstance(piece, TextPiece)  # noqa: S101 - an end is never looked up
        return self._run.show(piece, None)

    def _enter(self, tag: Section) -> object:
        """What chevron repeats the section for: one scope, a scope per item, or False."""
        value = self._find(tag.path)
        if value is _MISSING:
            if self._run.strict == "all":
                raise unresolved(tag)
            return False
        if is_array(value):
            count = len(value)
            return [Scope(self._run, item, self, at, count) for at, item in enumerate(value)]
        # as in JavaScript: an empty object is true, zero and the empty string are false
        return Scope(self._run, value, self) if value or is_object(value) else False

    def _find(self, path: tuple[Step, ...]) -> Any:
        if not path:
            return self._value
        scope: Scope | None = self
        while scope is not None:
            value = scope._own(path[0])  # noqa: SLF001 - another scope
            if value is not _MISSING:
                return _descend(value, path[1:])
            scope = scope._outer  # noqa: SLF001 - likewise
        return _MISSING

    def _own(self, step: Step) -> Any:
        if self._count and step.name in LOOP_NAMES:
            return {"-index": self._index, "-first": not self._index, "-last": self._index + 1 == self._count}[
                step.name
            ]
        return _child(self._value, step)


LOOP_NAMES: Final = frozenset({"-first", "-last", "-index"})
"""Names that a loop defines for its current item."""


def unresolved(tag: Variable | Section) -> BlueprintError:
    """The error of a name that the context does not have."""
    return BlueprintError(f"Mustache unresolved tag '{tag.label}'", tag.place, tag=tag.label)


def string_content(value: Any) -> str:
    """The value as the content of a JSON string: text as it is, nothing for null, anything else as JSON text."""
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
