"""Blueprints: what a prompt looks like before its data is known. Compiled once, checked, cached.

    text or object ─► tokens (mustache) ─► pieces (compiling) ─► chevron, asking our scope ─► JSON text

A tag inside a JSON string is text, a tag outside is a whole JSON value. No data can change which of the two it is.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import msgspec

from art_sdk.blueprints.compiling import Compiler, hold_size
from art_sdk.blueprints.mustache import EXCERPT, Fault, Place, clip, read_tokens
from art_sdk.blueprints.plain_data import NotPlain, to_plain
from art_sdk.blueprints.scope import LOOP_NAMES, Pieces, Section, Strict, Tokens, Variable, render, to_tokens, trace
from art_sdk.errors import PromptAssemblyFailed
from art_sdk.json_data import is_object, json_type

BlueprintSource = str | Mapping[str, Any] | Sequence[Any]
"""Mustache text, `{"template": text}`, or a list of messages whose texts are templates."""

SourceKind = Literal["text", "object"]


@dataclass(frozen=True, repr=False, eq=False)
class Blueprint:
    """A compiled blueprint. Made by `compile`; holds no data, so threads may share it."""

    name: str | None
    _pieces: Pieces
    _tokens: Tokens

    @classmethod
    def compile(
        cls, source: BlueprintSource, *, name: str | None = None, partials: Mapping[str, str] | None = None
    ) -> Blueprint:
        """The blueprint that the source stands for. `name` stands in errors; `partials` are what `{{> name}}` puts in.

        The 256 last used are kept. Raises PromptAssemblyFailed, with tag and line, for text that is not
        Mustache, for a tag whose place is not clearly inside or outside a string, for an unknown partial
        or one that includes itself, and for a source of more than `SIZE_LIMIT` characters.
        """
        with telling(name):
            _hold_name(name)
            return _compile(*_normalize(source), name, tuple(sorted(text_table(partials or {}, "partials").items())))

    def variables(self) -> frozenset[str]:
        """The names of its variables, as they are written; those inside a section may be its items' own."""
        return self._names(Variable)

    def sections(self) -> frozenset[str]:
        """The names of its sections, as they are written."""
        return self._names(Section)

    def render(self, context: object, *, strict: Strict = "variables") -> str:
        """The JSON text for a context of JSON data, needless commas included. Raises PromptAssemblyFailed."""
        with telling(self.name):
            _hold_mode(strict)
            return render(self._pieces, self._tokens, plain(context, "$"), strict)

    def find_place(self, context: object, offset: int, *, strict: Strict) -> Place | None:
        """Where in the blueprint the character at this offset of the rendered text comes from; the end for its end."""
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


def assembly_failed(name: str | None, fault: Fault, **details: Any) -> PromptAssemblyFailed:
    """The public error of a fault, now that the blueprint's name is known."""
    whose = "" if name is None else f" for '{clip(str(name))}'"
    at = "" if fault.place is None else f" ({fault.place})"
    facts = {"blueprint": name, "tag": fault.tag, **details}
    if fault.place is not None:
        facts |= {"line": fault.place.line, "within": fault.place.within or None}
    known = {key: value for key, value in facts.items() if value is not None}
    return PromptAssemblyFailed(f"Failed to assemble prompt{whose}: {fault.reason}{at}", details=known)


@contextmanager
def telling(name: str | None) -> Generator[None]:
    """Makes public errors of faults. Raises PromptAssemblyFailed."""
    try:
        yield
    except Fault as fault:
        raise assembly_failed(name, fault) from fault.__cause__
    except RecursionError:
        raise assembly_failed(name, Fault("nested too deeply")) from None


def fill_text(text: str, context: object, partials: Mapping[str, str]) -> str:
    """Plain text, not JSON, with its tags filled in. Raises Fault."""
    compiler = Compiler(partials)
    compiler.content(read_tokens(text), Place(1))
    pieces = compiler.pieces()
    filled: str = msgspec.json.decode(render(pieces, to_tokens(pieces), plain(context, "$"), "variables"))
    return filled


def text_table(table: object, what: str) -> dict[str, str]:
    """A table of texts by name as one of our own. Raises Fault."""
    data = plain(table, what)
    if not is_object(data):
        raise Fault(f"{what} are a table of texts by name")
    for name, text in data.items():
        if not isinstance(text, str):
            raise Fault(f"{what} are a table of texts by name; '{clip(name)}' is none")
    return data


def plain(value: object, what: str) -> Any:
    """The value as plain data. Raises Fault, naming path and type, where it is none."""
    try:
        return to_plain(value)
    except NotPlain as error:
        path = error.path if len(error.path) <= EXCERPT else f"{error.path[:29]}…{error.path[-30:]}"
        raise Fault(f"{what}{path}: {error.reason}") from error.__cause__


def _hold_name(name: object) -> None:
    if name is not None and not isinstance(name, str):
        raise Fault(f"a blueprint's name is text, not {json_type(name)}")


def _hold_mode(strict: object) -> None:
    if strict not in get_args(Strict):
        raise Fault(f"strict is one of {', '.join(get_args(Strict))}")


def _normalize(source: object) -> tuple[str, SourceKind]:
    """The source as text that can be a key of the cache."""
    data = plain(source, "$")
    if is_object(data) and data.keys() == {"template"}:
        data = data["template"]
    if not isinstance(data, (str, list)):
        raise Fault('a blueprint is text, a list of messages, or {"template": text}')
    text = data if isinstance(data, str) else msgspec.json.encode(data).decode()
    hold_size(len(text))
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
