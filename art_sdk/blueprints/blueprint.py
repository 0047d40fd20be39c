"""Blueprints: templates of prompts. Compiled once, checked, cached.

    text or object ─► tokens (mustache) ─► pieces (compiling) ─► chevron with our scope ─► JSON text

A tag inside a JSON string is text, a tag outside is a whole JSON value. No data can change which of the two.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import msgspec

from art_sdk.blueprints.compiling import Compiler, check_size
from art_sdk.blueprints.mustache import EXCERPT, BlueprintError, Location, clip, read_tokens
from art_sdk.blueprints.plain_data import NotPlain, to_plain
from art_sdk.blueprints.scope import LOOP_NAMES, Pieces, Section, Strict, Tokens, Variable, render, to_tokens, trace
from art_sdk.errors import PromptAssemblyFailed
from art_sdk.json_data import is_object, json_type

BlueprintSource = str | Mapping[str, Any] | Sequence[Any]
"""Mustache text, `{"template": text}`, or a list of messages whose texts are templates."""

SourceKind = Literal["text", "object"]


@dataclass(frozen=True, repr=False, eq=False)
class Blueprint:
    """A compiled blueprint, made by `compile`. It holds no data, so threads may share it."""

    name: str | None
    _pieces: Pieces
    _tokens: Tokens

    @classmethod
    def compile(
        cls, source: BlueprintSource, *, name: str | None = None, partials: Mapping[str, str] | None = None
    ) -> Blueprint:
        """Compiles a source. Errors name it by `name`; `partials` are what `{{> name}}` includes.

        The 256 blueprints used last are cached. Raises PromptAssemblyFailed, with tag and line, for text that is not
        Mustache, a tag that is not clearly inside or outside a string, a partial that is unknown or includes itself,
        and a source of more than `SIZE_LIMIT` characters.
        """
        with public_errors(name):
            _check_name(name)
            return _compile(*_normalize(source), name, tuple(sorted(text_table(partials or {}, "partials").items())))

    def variables(self) -> frozenset[str]:
        """The names of its variables as written. Those inside a section may be names of its items."""
        return self._names(Variable)

    def sections(self) -> frozenset[str]:
        """The names of its sections as written."""
        return self._names(Section)

    def render(self, context: object, *, strict: Strict = "variables") -> str:
        """The JSON text for a context of JSON data, with needless commas still in it. Raises PromptAssemblyFailed."""
        with public_errors(self.name):
            _check_strict(strict)
            return render(self._pieces, self._tokens, plain(context, "$"), strict)

    def find_place(self, context: object, offset: int, *, strict: Strict) -> Location | None:
        """The place in the blueprint that the character at this offset of the rendered text comes from."""
        parts = trace(self._pieces, plain(context, "$"), strict)
        for place, text in parts:
            offset -= len(text)
            if offset < 0:
                return place
        return parts[-1][0] if parts else None

    def _names(self, kind: type[Variable | Section]) -> frozenset[str]:
        found = (piece for piece in self._pieces.values() if isinstance(piece, kind))
        names = {".".join(step.name for step in piece.path) for piece in found}
        return frozenset(names - LOOP_NAMES - {""})

    def __repr__(self) -> str:
        return f"Blueprint({self.name!r})"


def assembly_failed(name: str | None, error: BlueprintError, **details: Any) -> PromptAssemblyFailed:
    """The public error, with the blueprint's name."""
    for_name = "" if name is None else f" for '{clip(str(name))}'"
    at_place = "" if error.place is None else f" ({error.place})"
    facts = {"blueprint": name, "tag": error.tag, **details}
    if error.place is not None:
        facts |= {"line": error.place.line, "within": error.place.within or None}
    known = {key: value for key, value in facts.items() if value is not None}
    return PromptAssemblyFailed(f"Failed to assemble prompt{for_name}: {error.reason}{at_place}", details=known)


@contextmanager
def public_errors(name: str | None) -> Generator[None]:
    """Raises PromptAssemblyFailed, which names the blueprint, for a BlueprintError in its block."""
    try:
        yield
    except BlueprintError as error:
        raise assembly_failed(name, error) from error.__cause__
    except RecursionError:
        raise assembly_failed(name, BlueprintError("nested too deeply")) from None


def fill_text(text: str, context: object, partials: Mapping[str, str]) -> str:
    """Renders plain text that is not JSON. Raises BlueprintError."""
    compiler = Compiler(partials)
    compiler.content(read_tokens(text), Location(1))
    pieces = compiler.pieces()
    filled: str = msgspec.json.decode(render(pieces, to_tokens(pieces), plain(context, "$"), "variables"))
    return filled


def text_table(table: object, what: str) -> dict[str, str]:
    """A copy of a table of texts by name. Raises BlueprintError."""
    data = plain(table, what)
    if not is_object(data):
        raise BlueprintError(f"{what} must map names to texts")
    for name, text in data.items():
        if not isinstance(text, str):
            raise BlueprintError(f"{what} must map names to texts; '{clip(name)}' is {json_type(text)}")
    return data


def plain(value: object, what: str) -> Any:
    """The value as plain JSON data. Raises BlueprintError, naming path and type, if it is not JSON data."""
    try:
        return to_plain(value)
    except NotPlain as error:
        path = error.path if len(error.path) <= EXCERPT else f"{error.path[:29]}…{error.path[-30:]}"
        raise BlueprintError(f"{what}{path}: {error.reason}") from error.__cause__


def _check_name(name: object) -> None:
    if name is not None and not isinstance(name, str):
        raise BlueprintError(f"a blueprint's name must be a string, not {json_type(name)}")


def _check_strict(strict: object) -> None:
    if strict not in get_args(Strict):
        raise BlueprintError(f"strict must be one of {', '.join(get_args(Strict))}")


def _normalize(source: object) -> tuple[str, SourceKind]:
    """The source as text, which can be a key of the cache, and its kind."""
    data = plain(source, "$")
    if is_object(data) and data.keys() == {"template"}:
        data = data["template"]
    if not isinstance(data, (str, list)):
        raise BlueprintError('a blueprint must be text, a list of messages, or {"template": text}')
    text = data if isinstance(data, str) else msgspec.json.encode(data).decode()
    check_size(len(text))
    return text, "text" if isinstance(data, str) else "object"


@lru_cache(maxsize=256)
def _compile(source: str, kind: SourceKind, name: str | None, partials: tuple[tuple[str, str], ...]) -> Blueprint:
    compiler = Compiler(dict(partials))
    if kind == "text":
        compiler.json_text(source)
    else:
        compiler.node(msgspec.json.decode(source), "$")
    pieces = compiler.pieces()
    return Blueprint(name, pieces, to_tokens(pieces))
