"""Schemas of an AWS service, from the model that botocore ships: its shapes become definitions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from typing import Any, Final

from art_compliance.judging.wire.shaping import Schema, close, prune, rewrite_whole

_Shape = Mapping[str, Any]

# Bounds of lists and maps are left to rules: the schemas ask nothing of a list but of its items, see `pieces`.
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "blob": ("minLength", "maxLength"),
    "integer": ("minimum", "maximum"),
    "long": ("minimum", "maximum"),
    "float": ("minimum", "maximum"),
    "double": ("minimum", "maximum"),
}


_TYPES: Final[Mapping[str, str]] = {"blob": "string", "long": "integer", "float": "number", "double": "number"}
"""The types that JSON has by another name; a blob is base64."""


def request_schema(path: str, name: str) -> Schema:
    """The closed schema of a request's body: members in the URL are not in it, and a union has one member."""
    return _schema(path, name, partial(_of_structure, is_union_exact=True), is_closed=True)


def answer_schema(path: str, name: str, *, any_text: frozenset[str] = frozenset()) -> Schema:
    """The open schema of an answer, or of an event: AWS adds members without notice.

    `any_text` names shapes whose published values the service does not keep to.
    """
    return _schema(path, name, partial(_of_structure, is_union_exact=False), any_text=any_text)


def _schema(
    path: str,
    name: str,
    of_structure: Callable[[_Shape], Schema],
    *,
    is_closed: bool = False,
    any_text: frozenset[str] = frozenset(),
) -> Schema:
    shapes: Mapping[str, _Shape] = _load(path)["shapes"]
    definitions = {
        key: {"type": "string"} if key in any_text else _of_shape(shape, of_structure) for key, shape in shapes.items()
    }
    schema = prune({**definitions[name], "$defs": definitions})
    return rewrite_whole(schema, close) if is_closed else schema


def _load(path: str) -> Any:
    """The model, at its path below botocore's folder."""
    found = files("botocore").joinpath(path)
    return json.loads(gzip.decompress(found.read_bytes()))


def _of_shape(shape: _Shape, of_structure: Callable[[_Shape], Schema]) -> Schema:
    kind = shape["type"]
    low, high = _BOUNDS.get(kind, ("", ""))
    bounds = {name: shape[key] for name, key in ((low, "min"), (high, "max")) if key in shape}
    match kind:
        case "structure":
            return {} if shape.get("document") else of_structure(shape)
        case "list":
            return {"type": "array", "items": _refer(shape["member"]), **bounds}
        case "map":
            return {"type": "object", "additionalProperties": _refer(shape["value"]), **bounds}
        case _:
            pattern = {"pattern": f"^(?:{shape['pattern']})$"} if "pattern" in shape else {}
            values = {"enum": shape["enum"]} if "enum" in shape else {}
            return {"type": _TYPES.get(kind, kind), **values, **pattern, **bounds}


def _of_structure(shape: _Shape, *, is_union_exact: bool) -> Schema:
    members = {name: _refer(member) for name, member in shape["members"].items() if member.get("location") != "uri"}
    needed = [name for name in shape.get("required", ()) if name in members]
    one = {"minProperties": 1, "maxProperties": 1} if shape.get("union") and is_union_exact else {}
    required = {"required": needed} if needed else {}
    return {"type": "object", "properties": members, **required, **one}


def _refer(member: _Shape) -> Schema:
    return {"$ref": f"#/$defs/{member['shape']}"}
