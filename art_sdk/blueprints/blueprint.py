"""Blueprints: templates of prompts. Compiled once, checked, cached.

    text or object ─► tokens (mustache) ─► pieces (compiling) ─► rendering, with the context ─► JSON text

A tag inside a JSON string is text, a tag outside is a whole JSON value. No data can change which of the two.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, get_args

import msgspec

from art_sdk.blueprints.compiling import Compiler, beyond_limit
from art_sdk.blueprints.limits import DEFAULT_LIMITS, BlueprintLimits
from art_sdk.blueprints.mustache import BlueprintError, Location, Path, clip, clip_middle
from art_sdk.blueprints.pieces import Body, Section, Variable
from art_sdk.blueprints.plain_data import NotPlain, to_plain
from art_sdk.blueprints.rendering import LOOP_NAMES, Strict, find_place, render
from art_sdk.errors import PromptAssemblyFailed
from art_sdk.json_data import is_object, json_type

BlueprintSource = str | Mapping[str, Any] | Sequence[Any]
"""Mustache text, `{"template": text}`, or a list of messages whose texts are templates."""

SourceKind = Literal["text", "object"]


@dataclass(frozen=True, repr=False, eq=False)
class Blueprint:
    """A compiled blueprint, made by `compile`. It contains no data of a context, so threads may share it."""

    name: str | None
    limits: BlueprintLimits
    _body: Body

    @classmethod
    def compile(
        cls,
        source: BlueprintSource,
        *,
        name: str | None = None,
        partials: Mapping[str, str] | None = None,
        limits: BlueprintLimits = DEFAULT_LIMITS,
    ) -> Blueprint:
        """Compiles a source. Errors name it by `name`; `partials` are what `{{> name}}` includes.

        `limits` bound the blueprint, and the contexts that it is rendered with. The 256 blueprints used last are
        cached, and of those with more than 20,000 characters the last 4. Raises PromptAssemblyFailed, with tag and
        line, for text that is not Mustache, a tag that is not clearly inside or outside a string, a partial that is
        unknown or includes itself, and a source beyond the limits.
        """
        with public_errors(name):
            _check_name(name)
            check_limits(limits)
            text, kind = _normalize(source, limits)
            table = tuple(sorted(text_table(partials or {}, "partials", limits).items()))
            is_small = len(text) + sum(len(partial) for _, partial in table) <= _SMALL
            return (_compile_small if is_small else _compile_large)(text, kind, name, table, limits)

    def variables(self) -> frozenset[str]:
        """The names of its variables as written. Those inside a section may be names of its items."""
        return self._names(Variable)

    def sections(self) -> frozenset[str]:
        """The names of its sections as written."""
        return self._names(Section)

    def uses(self) -> frozenset[tuple[str, tuple[str, ...]]]:
        """The first part of every name that it looks up, with those of the sections around it, the outermost first.

        Inside a section, a name may be one of the section's items.
        """
        return frozenset(_uses(self._body, ()))

    def render(self, context: object, *, strict: Strict = "variables") -> str:
        """The JSON text for a context of JSON data, with needless commas still in it. Raises PromptAssemblyFailed."""
        with public_errors(self.name):
            return self.render_plain(plain(context, "$", self.limits), strict=strict)

    def render_plain(self, data: Any, *, strict: Strict) -> str:
        """`render` with plain data. Raises BlueprintError."""
        if strict not in get_args(Strict):
            raise BlueprintError(f"strict must be one of {', '.join(get_args(Strict))}")
        return render(self._body, data, strict, self.limits)

    def find_place(self, data: Any, offset: int, *, strict: Strict) -> Location | None:
        """The place in the blueprint that the character at this offset of the text rendered with the data is from."""
        return find_place(self._body, data, strict, self.limits, offset)

    def _names(self, kind: type[Variable | Section]) -> frozenset[str]:
        names = {".".join(step.name for step in piece.path) for piece in _tags(self._body) if isinstance(piece, kind)}
        return frozenset(names - LOOP_NAMES - {""})

    def __repr__(self) -> str:
        return f"Blueprint({self.name!r})"


def assembly_failed(name: str | None, error: BlueprintError, **details: Any) -> PromptAssemblyFailed:
    """The public error, with the blueprint's name."""
    for_name = "" if name is None else f" for '{clip(str(name))}'"
    at_place = "" if error.place is None else f" ({error.place})"
    facts = {"blueprint": name, "tag": error.tag, **details}
    if error.place is not None:
        facts |= {"line": error.place.line, "within": str(error.place.within) or None}
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


def fill_text(text: str, context: object, partials: Mapping[str, str], limits: BlueprintLimits) -> str:
    """Renders plain text that is not JSON. Raises BlueprintError."""
    compiler = Compiler(partials, limits)
    compiler.content(text, Location(1))
    filled: str = msgspec.json.decode(render(compiler.body(), plain(context, "$", limits), "variables", limits))
    return filled


def text_table(table: object, what: str, limits: BlueprintLimits) -> dict[str, str]:
    """A copy of a table of texts by name. Raises BlueprintError."""
    data = plain(table, what, limits)
    if not is_object(data):
        raise BlueprintError(f"{what} must map names to texts")
    for name, text in data.items():
        if not isinstance(text, str):
            raise BlueprintError(f"{what} must map names to texts; '{clip(name)}' is {json_type(text)}")
    return data


def plain(value: object, what: str, limits: BlueprintLimits) -> Any:
    """The value as plain JSON data. Raises BlueprintError, naming path and type, if it is not JSON data."""
    try:
        return to_plain(value, limits)
    except NotPlain as error:
        raise BlueprintError(f"{what}{clip_middle(error.path)}: {error.reason}") from error.__cause__


def check_limits(limits: object) -> None:
    """Raises BlueprintError for anything but limits of positive numbers."""
    if not isinstance(limits, BlueprintLimits):
        raise BlueprintError(f"limits must be a BlueprintLimits, not {json_type(limits)}")
    for name, most in msgspec.structs.asdict(limits).items():
        if type(most) is not int or most < 1:
            raise BlueprintError(f"the limit '{name}' must be a whole number from 1")


def _check_name(name: object) -> None:
    if name is not None and not isinstance(name, str):
        raise BlueprintError(f"a blueprint's name must be a string, not {json_type(name)}")


def _tags(body: Body) -> Iterator[Variable | Section]:
    for piece in body:
        if isinstance(piece, Section):
            yield from _tags(piece.body)
        if isinstance(piece, (Variable, Section)):
            yield piece


def _uses(body: Body, around: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for piece in body:
        if isinstance(piece, (Variable, Section)) and piece.path and piece.path[0].name not in LOOP_NAMES:
            yield piece.path[0].name, around
        if isinstance(piece, Section):
            inner = around if piece.inverted or not piece.path else (*around, piece.path[0].name)
            yield from _uses(piece.body, inner)


def _normalize(source: object, limits: BlueprintLimits) -> tuple[str, SourceKind]:
    """The source as text, which can be a key of the cache, and its kind."""
    data = plain(source, "$", limits)
    if is_object(data) and data.keys() == {"template"}:
        data = data["template"]
    if not isinstance(data, (str, list)):
        raise BlueprintError('a blueprint must be text, a list of messages, or {"template": text}')
    text = data if isinstance(data, str) else msgspec.json.encode(data).decode()
    if len(text) > limits.characters:
        raise beyond_limit("characters", limits.characters)
    return text, "text" if isinstance(data, str) else "object"


def _compile(
    source: str, kind: SourceKind, name: str | None, partials: tuple[tuple[str, str], ...], limits: BlueprintLimits
) -> Blueprint:
    compiler = Compiler(dict(partials), limits)
    if kind == "text":
        compiler.json_text(source)
    else:
        compiler.node(msgspec.json.decode(source), Path(None, "$"))
    return Blueprint(name, limits, compiler.body())


_SMALL: Final = 20_000
"""The most characters of a blueprint, all its partials included, of which many are cached."""

_compile_small: Final = lru_cache(maxsize=256)(_compile)
_compile_large: Final = lru_cache(maxsize=4)(_compile)
