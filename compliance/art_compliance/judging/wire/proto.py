"""Schemas of protobuf messages in their JSON form, as Google's services read it.

Field names are taken in camel case and in snake case, enum values by name (in upper and lower case) and by number,
numbers also as text, and null where a field may be left out, which then counts as unset, in a oneof too:
https://protobuf.dev/programming-guides/json. Beyond that page, the services take one message where many may stand:
recorded requests with `"parts": {"text": ...}` got a 200.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Final

from art_compliance.judging.wire.shaping import Schema, finish, rewrite_whole

NULL: Final[Schema] = {"type": "null"}
NUMBER: Final[Schema] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^(-?[0-9.]+([eE][+-]?[0-9]+)?|NaN|-?Infinity)$"}]
}
WHOLE_NUMBER: Final[Schema] = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^-?[0-9]+$"}]}
TEXT: Final[Schema] = {"type": "string"}

_WELL_KNOWN: Final[dict[str, Schema]] = {
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.protobuf.ListValue": {"type": "array"},
    "google.protobuf.Duration": TEXT,
    "google.protobuf.Timestamp": TEXT,
}
_BY_PYTHON_TYPE: Final[dict[str, Schema]] = {
    "CPPTYPE_DOUBLE": NUMBER,
    "CPPTYPE_FLOAT": NUMBER,
    "CPPTYPE_BOOL": {"type": "boolean"},
    "CPPTYPE_STRING": TEXT,
}
_REQUIRED: Final = re.compile(r"^\s*(\w+) \(.*\):\n\s+Required\.", re.MULTILINE)

Required = Callable[[Any], frozenset[str]]
"""The JSON names of the fields that a message must have."""


def answer_schema(module: str, name: str) -> Schema:
    """The open schema of a service's answer: nothing is required, and enums may grow."""
    home: Any = import_module(module)
    raw = message_schema(getattr(home, name).pb().DESCRIPTOR, lambda _: frozenset())
    opened = rewrite_whole(raw, _opened)
    return finish({"$defs": opened["$defs"], **opened["$defs"][name]}, is_closed=False)


def message_schema(descriptor: Any, required: Required) -> Schema:
    """The schema of a message and of the messages in it, under their names in the package."""
    definitions: dict[str, Schema] = {}
    _define(descriptor, required, definitions)
    return {"$ref": f"#/$defs/{local_name(descriptor)}", "$defs": definitions}


def local_name(descriptor: Any) -> str:
    """A message's name within its package: `Tool.GoogleSearch`."""
    return str(descriptor.full_name).removeprefix(f"{descriptor.file.package}.")


def documented_as_required(module: Any) -> Required:
    """The fields that the docstring of a message's class calls `Required.`: the descriptors do not say it."""

    def required(descriptor: Any) -> frozenset[str]:
        named = _REQUIRED.findall(getattr(module, descriptor.name, None).__doc__ or "")
        names = {str(field.name): str(field.json_name) for field in descriptor.fields}
        return frozenset(names[name.rstrip("_")] for name in named if name.rstrip("_") in names)

    return required


def message_of(fields: dict[str, Schema], required: frozenset[str], one_of: list[list[str]]) -> Schema:
    """An object with fields by JSON name; it has at most one of each list of names in `one_of`."""
    properties: dict[str, Schema] = {}
    for name, value in fields.items():
        wanted = value if name in required or value == {} else {"anyOf": [value, NULL]}
        properties |= dict.fromkeys(spellings(name), wanted)
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    plain = sorted(name for name in required if len(spellings(name)) == 1)
    either = [any_spelling(name) for name in sorted(required) if len(spellings(name)) > 1]
    groups = [{"oneOf": at_most_one(map(any_given, group))} for group in one_of]
    if plain:
        schema["required"] = plain
    if either or groups:
        schema["allOf"] = [*either, *groups]
    return schema


def spellings(name: str) -> tuple[str, ...]:
    """A field's JSON name and its own, where they differ: `toolConfig`, `tool_config`."""
    return tuple(dict.fromkeys((name, re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name))))


def any_spelling(name: str) -> Schema:
    """Requires a field, in either spelling."""
    spelled = [{"required": [spelt]} for spelt in spellings(name)]
    return spelled[0] if len(spelled) == 1 else {"anyOf": spelled}


def at_most_one(branches: Iterable[Schema]) -> list[Schema]:
    """The branches of a `oneOf` that also allows none of them: that is the last."""
    given = list(branches)
    return [*given, {"not": {"anyOf": given}}]


def any_given(name: str) -> Schema:
    """Requires a value that is not null under a field's name, in either spelling."""
    open_to_others: Schema = {}
    branches: list[Schema] = [
        {
            "type": "object",
            "required": [spelt],
            "properties": {spelt: {"not": NULL}},
            "additionalProperties": open_to_others,
        }
        for spelt in spellings(name)
    ]
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def enum_of(values: list[str]) -> Schema:
    """The names of an enum, in upper and lower case, or a number."""
    names = sorted({spelt for value in values for spelt in (value, value.lower())})
    return {"anyOf": [{"type": "string", "enum": names}, {"type": "integer"}]}


def _opened(node: Schema) -> Schema:
    if "enum" in node:
        return TEXT  # the provider adds names
    return {name: value for name, value in node.items() if name != "allOf"}


def _define(descriptor: Any, required: Required, definitions: dict[str, Schema]) -> Schema:
    """A reference to the message, which is defined if it was not yet."""
    known = _WELL_KNOWN.get(descriptor.full_name)
    if known is not None:
        return known
    name = local_name(descriptor)
    if name not in definitions:
        definitions[name] = {}  # a message may be recursive
        fields = {str(field.json_name): _field(field, required, definitions) for field in descriptor.fields}
        one_of = [[str(field.json_name) for field in group.fields] for group in descriptor.oneofs]
        groups = [names for names in one_of if len(names) > 1]
        definitions[name] = message_of(fields, required(descriptor), groups)
    return {"$ref": f"#/$defs/{name}"}


def _field(field: Any, required: Required, definitions: dict[str, Schema]) -> Schema:
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        return {
            "type": "object",
            "additionalProperties": _value(message.fields_by_name["value"], required, definitions),
        }
    value = _value(field, required, definitions)
    if not field.is_repeated:
        return value
    listed: Schema = {"type": "array", "items": value}
    return {"anyOf": [listed, value]} if message is not None and value else listed


def _value(field: Any, required: Required, definitions: dict[str, Schema]) -> Schema:
    if field.message_type is not None:
        return _define(field.message_type, required, definitions)
    if field.enum_type is not None:
        return enum_of([str(value.name) for value in field.enum_type.values])
    kinds = {getattr(field, kind): schema for kind, schema in _BY_PYTHON_TYPE.items()}
    return kinds.get(field.cpp_type, WHOLE_NUMBER)
