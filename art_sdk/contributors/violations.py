"""Everything that is wrong with a configuration, each with its path. msgspec stops at the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from art_sdk.errors import InvalidConfig
from art_sdk.json_data import is_array, is_object, to_plain
from art_sdk.validation import Violation, parse_value

_SHOWN: Final = 20
"""Violations that a message has. `details` has all."""


def shape_violations(data: object, kind: Any, path: str) -> Iterator[Violation]:
    """Every field of the data that is not as the type has it: missing, unknown, or of another type."""
    struct = _struct_in(kind)
    items = _items_in(kind)
    if struct is not None and is_object(data):
        yield from _field_violations(data, struct, path)
    elif items is not None and is_array(data):
        for index, item in enumerate(data):
            yield from shape_violations(item, items, f"{path}[{index}]")
    elif found := type_violation(data, kind, path):
        yield found


def type_violation(data: object, kind: Any, path: str) -> Violation | None:
    """Why the data is not of the type, or None."""
    try:
        parse_value(data, kind)
    except ValueError as error:
        where, _, reason = str(error).partition(": ")
        return {"path": path + where.removeprefix("$"), "message": reason}
    return None


def invalid_config(what: str, violations: Sequence[Violation]) -> InvalidConfig:
    """The error of all these violations."""
    shown = "; ".join(f"{one['path']}: {one['message']}" for one in violations[:_SHOWN])
    more = f"; and {len(violations) - _SHOWN} more" if len(violations) > _SHOWN else ""
    return InvalidConfig(f"bad {what}: {shown}{more}", details={"violations": list(violations)})


def plain_config(data: object) -> Any:
    """The configuration as plain data, typed values included, under its JSON names. What is not JSON stays as it is."""
    try:
        return msgspec.to_builtins(data, builtin_types=(date, datetime, time, bytes), enc_hook=_without_subclass)
    except Exception:  # noqa: BLE001 - those of values with methods of their own, too
        return to_plain(data)


def _without_subclass(value: object) -> object:
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError


def _field_violations(data: dict[Any, Any], kind: type[Struct], path: str) -> Iterator[Violation]:
    fields = {one.encode_name: one for one in msgspec.structs.fields(kind)}
    for name in (name for name in data if name not in fields):
        known = ", ".join(fields)
        yield {"path": f"{path}.{name}", "message": f"unknown field; known fields: {known}"}
    for name, one in fields.items():
        if name in data:
            yield from shape_violations(data[name], one.type, f"{path}.{name}")
        elif one.required:
            yield {"path": f"{path}.{name}", "message": "missing required field"}


def _struct_in(kind: Any) -> type[Struct] | None:
    """The one struct that the type allows, if there is one."""
    return next((one for one in _members(kind) if isinstance(one, type) and issubclass(one, Struct)), None)


def _items_in(kind: Any) -> Any | None:
    """The type of the items of the array that the type allows, if there is one."""
    return next((get_args(one)[0] for one in _members(kind) if get_origin(one) is tuple), None)


def _members(kind: Any) -> tuple[Any, ...]:
    """The types that a union allows; else the type itself. Without annotations."""
    if get_origin(kind) is Annotated:
        return _members(get_args(kind)[0])
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
