"""Renders pieces with plain data (`to_plain`): looks names up, repeats sections, writes values, counts its steps.

Values are read only by name and index, and never searched for tags.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

import msgspec

from art_sdk.blueprints.limits import BlueprintLimits
from art_sdk.blueprints.mustache import BlueprintError, Location
from art_sdk.blueprints.pieces import Body, Piece, Section, Step, TextPiece, Variable, string_content
from art_sdk.json_data import is_array, is_object

Strict = Literal["variables", "all", "off"]
"""Which missing names are errors: those of variables, of variables and sections (`all`), or none (`off`)."""

LOOP_NAMES: Final = frozenset({"-first", "-last", "-index"})
"""Names that a loop defines for its current item."""

_MISSING: Final = object()
_AT_ONCE: Final = 2**16  # characters of a value that are encoded at once: encoding can make six of one
_encode: Final = msgspec.json.Encoder().encode


def render(body: Body, data: Any, strict: Strict, limits: BlueprintLimits) -> str:
    """The rendered text. Raises BlueprintError."""
    rendering = _Rendering(strict, limits)
    rendering.run(body, _Scope(data, None))
    return "".join(rendering.texts)


def find_place(body: Body, data: Any, strict: Strict, limits: BlueprintLimits, offset: int) -> Location | None:
    """The place in the blueprint that the character at this offset of the rendered text comes from."""
    rendering = _Traced(strict, limits)
    rendering.run(body, _Scope(data, None))
    for text, piece in zip(rendering.texts, rendering.pieces, strict=True):
        if offset < len(text):
            return _place_of(piece, offset)
        offset -= len(text)
    return _place_of(rendering.pieces[-1], len(rendering.texts[-1])) if rendering.pieces else None


def _place_of(piece: Piece, offset: int) -> Location:
    return piece.find(offset) if isinstance(piece, TextPiece) else piece.place


def unresolved(tag: Variable | Section) -> BlueprintError:
    """The error of a name that the context does not have."""
    return _error_of(tag, f"Mustache unresolved tag '{tag.label}'")


class _Scope(NamedTuple):
    """A value to look names up in, and the scope around it. In a loop, the item's index and the number of items."""

    value: Any
    outer: _Scope | None
    position: int = 0
    items: int = 0


class _Rendering:
    """One rendering, which collects texts. Every method raises BlueprintError."""

    def __init__(self, strict: Strict, limits: BlueprintLimits) -> None:
        self.texts: list[str] = []
        self._strict = strict
        self._limits = limits
        self._steps_left = limits.steps
        self._output_left = limits.output

    def run(self, body: Body, scope: _Scope) -> None:
        """Renders the pieces in the scope."""
        for piece in body:
            match piece:
                case TextPiece():
                    self._write(piece.text, piece)
                case Variable():
                    self._show(piece, self._find(piece, scope))
                case Section():
                    self._repeat(piece, scope)

    def _repeat(self, tag: Section, scope: _Scope) -> None:
        for inner in self._scopes(tag, scope):
            self._use_steps(1 + len(tag.body), tag)
            self.run(tag.body, inner)

    def _scopes(self, tag: Section, scope: _Scope) -> Iterable[_Scope]:
        """The scopes that the section is rendered in: one per item, one for another true value, or none."""
        value = self._find(tag, scope)
        if value is _MISSING and self._strict == "all":
            raise unresolved(tag)
        # as in JavaScript: an empty object is true, zero and the empty string are false
        is_true = value is not _MISSING and (bool(value) or is_object(value))
        if tag.inverted:
            return () if is_true else (scope,)
        if is_true and is_array(value):
            return (_Scope(item, scope, at, len(value)) for at, item in enumerate(value))
        return (_Scope(value, scope),) if is_true else ()

    def _find(self, tag: Variable | Section, scope: _Scope) -> Any:
        if not tag.path:
            return scope.value
        value = _own(scope, tag.path[0])
        outer = scope.outer
        while value is _MISSING and outer is not None:
            self._use_steps(1, tag)
            value = _own(outer, tag.path[0])
            outer = outer.outer
        return _descend(value, tag.path)

    def _show(self, tag: Variable, value: Any) -> None:
        if value is _MISSING:
            if self._strict != "off":
                raise unresolved(tag)
            value = None
        if tag.in_string:
            if value is not None:
                self._write_content(value if isinstance(value, str) else self._encode(value, tag), tag)
        elif isinstance(value, str):
            self._write(' "', tag)  # blanks keep two adjacent values from becoming one
            self._write_content(value, tag)
            self._write('" ', tag)
        else:
            self._write(f" {self._encode(value, tag)} ", tag)

    def _encode(self, value: Any, tag: Variable) -> str:
        encoded = _encode(value)
        self._check_output(len(encoded) // 4, tag)  # UTF-8 has at most four bytes per character
        return encoded.decode()

    def _write_content(self, text: str, tag: Variable) -> None:
        """Writes text as the content of a JSON string, long text in parts: encoding can make six characters of one."""
        if len(text) <= _AT_ONCE:
            self._write(string_content(text), tag)
            return
        self._check_output(len(text), tag)
        for at in range(0, len(text), _AT_ONCE):
            self._write(string_content(text[at : at + _AT_ONCE]), tag)

    def _write(self, text: str, piece: Piece) -> None:
        self._check_output(len(text), piece)
        self._output_left -= len(text)
        self.texts.append(text)

    def _check_output(self, size: int, piece: Piece) -> None:
        if size > self._output_left:
            most = self._limits.output
            raise _error_of(piece, f"the rendered text has more than {most:,} characters (the limit 'output')")

    def _use_steps(self, many: int, tag: Variable | Section) -> None:
        self._steps_left -= many
        if self._steps_left < 0:
            raise _error_of(tag, f"rendering takes more than {self._limits.steps:,} steps (the limit 'steps')")


class _Traced(_Rendering):
    """A rendering that also collects the piece which each text comes from."""

    def __init__(self, strict: Strict, limits: BlueprintLimits) -> None:
        super().__init__(strict, limits)
        self.pieces: list[Piece] = []

    def _write(self, text: str, piece: Piece) -> None:
        super()._write(text, piece)
        self.pieces.append(piece)


def _error_of(piece: Piece, reason: str) -> BlueprintError:
    return BlueprintError(reason, _place_of(piece, 0), tag=None if isinstance(piece, TextPiece) else piece.label)


def _own(scope: _Scope, step: Step) -> Any:
    if scope.items and step.name in LOOP_NAMES:
        return {
            "-index": scope.position,
            "-first": not scope.position,
            "-last": scope.position + 1 == scope.items,
        }[step.name]
    return _child(scope.value, step)


def _descend(value: Any, path: tuple[Step, ...]) -> Any:
    """What the rest of the path leads to, from the value of its first step."""
    for step in islice(path, 1, None):
        if value is _MISSING:
            break
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
