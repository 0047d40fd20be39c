"""Explains schema errors, one explanation per mismatch: the place, what was expected, and what was found.

A union's own error only says "none of these". The branch that was probably meant is the one with the mildest errors:
a wrong `role` or `type` is worse than any error inside, and a wrong JSON type is worse than that.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind
from msgspec import Struct

from art_compliance.judging.wire.shaping import Schema
from art_compliance.pointers import escape
from art_compliance.quoting import shorten
from art_sdk.json_data import is_object, json_type

_OTHER_TYPE: Final = 1000
_OTHER_VALUE: Final = 300
_OTHER_KIND: Final = 100
_NO_KIND: Final = 50

_KINDS: Final = frozenset({"role", "type"})
"""The fields that distinguish the branches of a union."""

Branches = list[list[ValidationError]]
"""The errors of each branch of a union."""

_LONGEST: Final = 60
_MOST: Final = 12


class Mismatch(Struct, frozen=True):
    """One mismatch, with the `value` found at the pointer.

    `keyword` is the schema's keyword for it; `enum` for every word that is not one of the known ones.
    """

    pointer: str
    message: str
    keyword: str
    value: Any = None


def explain(errors: Iterable[ValidationError], schema: Schema) -> list[Mismatch]:
    """The mismatches behind a payload's errors, each once."""
    mismatches = [mismatch for error in errors for mismatch in _Explaining(schema).mismatches(error)]
    return list({(mismatch.pointer, mismatch.message): mismatch for mismatch in mismatches}.values())


def show(value: Any) -> str:
    """A value as JSON text, shortened where it is long."""
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    return shorten(text, _LONGEST)


class _Explaining:
    """Finds the mismatches behind errors; the schema gives the known names."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def mismatches(self, error: ValidationError) -> Iterator[Mismatch]:
        match error.kind:
            case Kind.AnyOf(branches):
                yield from self._of_union(error, branches)
            case Kind.AdditionalProperties(names):
                yield from self._unknown_fields(error, names)
            case Kind.Required(name):
                yield Mismatch(_pointer(error), f"the field {name!r} is missing", "required", error.instance)
            case Kind.OneOfNotValid() | Kind.OneOfMultipleValid():
                if is_object(error.instance):  # otherwise its type is a mismatch already
                    yield self._not_exactly_one(error, error.instance)
            case _:
                yield _unexpected(error, [error])

    def _of_union(self, error: ValidationError, branches: Branches) -> Iterator[Mismatch]:
        """The mismatches of the branch that was meant; if none was, one mismatch that names all branches."""
        best = min(branches, key=lambda branch: _cost(branch, error))
        worst = max(_error_cost(item, error) for item in best)  # many small errors do not add up to a big one
        if worst >= _OTHER_VALUE:
            yield _unexpected(error, list(_simple(branches, error)))
        elif any(_is_other_kind(item, error) for item in best):
            names = [item for branch in branches for item in branch if _is_other_kind(item, error)]
            yield _unexpected(_deepest(best, error), names)
        else:
            for item in best:
                yield from self.mismatches(item)

    def _unknown_fields(self, error: ValidationError, names: list[str]) -> Iterator[Mismatch]:
        known = list(self._at(error.schema_path[:-1]).get("properties", ()))
        for name in names:
            near = difflib.get_close_matches(name, known, n=1) if len(name) <= _LONGEST else []
            hint = f"; did you mean {near[0]!r}?" if near else f"; known fields: {_listed(_one_spelling(known))}"
            pointer = f"{_pointer(error)}/{escape(name)}"
            value = error.instance.get(name) if is_object(error.instance) else None
            yield Mismatch(pointer, f"unknown field {_cut(name)!r}{hint}", "additionalProperties", value)

    def _not_exactly_one(self, error: ValidationError, found: dict[str, Any]) -> Mismatch:
        """Exactly one field of a group is allowed: what protobuf calls a oneof."""
        group = [_first_required(branch) for branch in self._at(error.schema_path)]
        there = [name for name in group if name in found]
        found_names = " and ".join(there) if there else "none of them"
        message = f"expected exactly one of {_listed(group)}; found {found_names}"
        return Mismatch(_pointer(error), message, "oneOf", found)

    def _at(self, path: list[str | int]) -> Any:
        """The part of the schema at the path."""
        found: Any = self._schema
        for step in path:
            found = found[step]
        return found


def _cost(branch: list[ValidationError], union: ValidationError) -> int:
    """How far a branch of a union is from the value found."""
    return sum(_error_cost(error, union) for error in branch)


def _error_cost(error: ValidationError, union: ValidationError) -> int:
    here = error.instance_path == union.instance_path
    match error.kind:
        case Kind.Type() if here:
            return _OTHER_TYPE
        case Kind.Enum() | Kind.Constant() | Kind.Pattern() if here:
            return _OTHER_VALUE
        case Kind.AnyOf(branches) if here:
            return min(_cost(branch, union) for branch in branches)
        case Kind.Required(name) if here and name in _KINDS:
            return _NO_KIND
        case _:
            return _OTHER_KIND if _is_other_kind(error, union) else 1


def _is_other_kind(error: ValidationError, union: ValidationError) -> bool:
    """Whether the `role` or `type` belongs to another branch."""
    path = error.instance_path
    if path[:-1] != union.instance_path or not path or path[-1] not in _KINDS:
        return False
    return isinstance(error.kind, (Kind.Constant, Kind.Enum, Kind.Type))


def _deepest(branch: list[ValidationError], union: ValidationError) -> ValidationError:
    return next(error for error in branch if _is_other_kind(error, union))


def _simple(branches: Branches, union: ValidationError) -> Iterator[ValidationError]:
    """The errors about the value itself, from all branches and the unions inside them."""
    for branch in branches:
        for error in branch:
            if error.instance_path != union.instance_path:
                continue
            if isinstance(error.kind, Kind.AnyOf):
                yield from _simple(error.kind.context, union)
            else:
                yield error


def _unexpected(error: ValidationError, expected: list[ValidationError]) -> Mismatch:
    """The mismatch of a value that is not among those expected."""
    words = list(dict.fromkeys(word for item in expected for word in _expectations(item)))
    found = error.instance
    shown = "" if found is None else f": {show(found)}"
    message = f"expected {_alternatives(words)}; found {json_type(found)}{shown}"
    is_word = isinstance(found, str) and any(isinstance(item.kind, (Kind.Enum, Kind.Constant)) for item in expected)
    return Mismatch(_pointer(error), message, "enum" if is_word else error.kind.name, found)


_ARTICLES: Final = {
    "string": "a string",
    "array": "an array",
    "object": "an object",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}


def _expectations(error: ValidationError) -> list[str]:
    """What the error's schema would have accepted, in words."""
    match error.kind:
        case Kind.Type(types):
            return [_ARTICLES[name] for name in types]
        case Kind.Enum(options):
            return [show(option) for option in options]
        case Kind.Constant(value):
            return [show(value)]
        case Kind.Pattern(pattern):
            return [f"text that matches {pattern}"]
        case _:
            return [error.message]


def _alternatives(words: list[str]) -> str:
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else f"{_listed(words[:-1])} or {words[-1]}"


def _listed(words: Iterable[str]) -> str:
    names = list(words)
    return ", ".join(names if len(names) <= _MOST else [*names[:_MOST], f"{len(names) - _MOST} more"])


def _one_spelling(names: list[str]) -> list[str]:
    """The names, without the snake-case spellings of others."""
    camel = {name: re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name) for name in names}
    return [name for name in names if camel[name] == name or camel[name] not in names]


def _first_required(branch: Schema) -> str:
    return str(branch.get("anyOf", [branch])[0]["required"][0])


def _pointer(error: ValidationError) -> str:
    return "".join(f"/{escape(str(step))}" for step in error.instance_path)
