"""Reads models from JSON data: names in snake_case or camelCase, anything unknown refused, the place in the error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeGuard, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from art_sdk.agents.browser.errors import ValidationFailed
from art_sdk.blueprints.plain_data import clean_text
from art_sdk.json_data import is_array, is_object
from art_sdk.validation import parse_value

M = TypeVar("M", bound=Struct)


def read_model(data: object, kind: type[M], *, what: str | None = None) -> M:
    """A model, made of JSON data or checked if it is one already.

    Raises ValidationFailed, which names the place and shows no value.
    """
    name = what or kind.__name__
    plain = _as_builtins(data)
    if not is_object(plain):
        raise ValidationFailed(f"{name} must be an object, or a {kind.__name__}")
    try:
        return parse_value(_with_camel_names(scraped(plain), kind), kind)
    except (ValueError, TypeError) as error:
        raise ValidationFailed(f"{name}: {_without_values(str(error))}", context={"model": kind.__name__}) from None


def _is_mapping(data: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(data, Mapping)


def _as_builtins(data: Any) -> Any:
    """Models and times as JSON data. What cannot be such stays, to be refused with its place."""
    try:
        return msgspec.to_builtins({**data} if _is_mapping(data) else data)
    except Exception:  # noqa: BLE001 - whatever a value's own methods raise
        return data


def scraped(data: Any) -> Any:
    """Data of a page, with U+FFFD in place of lone surrogates, which no prompt can be sent with."""
    if isinstance(data, str):
        return clean_text(data)
    if is_object(data):
        return {scraped(key): scraped(value) for key, value in data.items()}
    return [scraped(item) for item in data] if is_array(data) else data


def _without_values(reason: str) -> str:
    """Without what msgspec quotes of the data."""
    return _QUOTED.sub("an unknown value", reason)


_QUOTED: Final = re.compile(r"Invalid enum value .*", re.DOTALL)


def _with_camel_names(data: Any, kind: Any) -> Any:
    """The data with camelCase names for the fields of models, and all else as it is."""
    if isinstance(kind, type) and issubclass(kind, Struct) and is_object(data):
        hints = get_type_hints(kind)
        names = {one.name: one.encode_name for one in msgspec.structs.fields(kind)}
        kinds = {one.encode_name: hints[one.name] for one in msgspec.structs.fields(kind)}
        renamed = {names.get(key, key): value for key, value in data.items()}
        if len(renamed) < len(data):
            raise ValueError("$: a field is given in both snake_case and camelCase")
        return {key: _with_camel_names(value, kinds.get(key)) for key, value in renamed.items()}
    inner = [one for one in get_args(kind) if one is not type(None) and one is not Ellipsis]
    if is_array(data) and get_origin(kind) is tuple:
        return [_with_camel_names(item, inner[0]) for item in cast("list[Any]", data)]
    if is_object(data):
        return next(
            (_with_camel_names(data, one) for one in inner if isinstance(one, type) and issubclass(one, Struct)), data
        )
    return data
