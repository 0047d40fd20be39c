"""Schemas of `TypedDict`s, the form in which the openai and anthropic SDKs (and their kin) type a request."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from types import GenericAlias
from typing import Any, Union

from art_compliance.judging.wire.shaping import Schema, as_any_of, finish, merge_roots, rewrite_whole, without_branches


def request_schema(
    module: str,
    names: tuple[str, ...],
    *,
    overlay: Mapping[str, Schema],
    without: frozenset[str] = frozenset(),
    stays_open: frozenset[str] = frozenset(),
) -> Schema:
    """The closed schema of a request that is any of the types of those names.

    `overlay` puts properties over the types' own, `without` takes some away, `stays_open` names definitions
    that anything may stand in.
    """
    home = import_module(module)
    raw = type_schema([getattr(home, name) for name in names])
    merged = merge_roots(without_twins(raw), overlay)
    merged["properties"] = {name: value for name, value in merged["properties"].items() if name not in without}
    return finish(merged, is_closed=True, stays_open=stays_open)


def type_schema(types: list[Any]) -> Schema:
    """The schema of the union of some types, as pydantic writes it.

    A bare TypedDict refuses a configuration, and a list hands its own down. What is lazy when values are
    checked (`Iterable`) is an array in the schema.
    """
    from pydantic import ConfigDict, TypeAdapter  # noqa: PLC0415 - only where schemas are made
    from pydantic.warnings import TypedDictExtraConfigWarning  # noqa: PLC0415 - likewise

    union: Any = Union[tuple(types)]  # noqa: UP007 - of types that are known at run time
    listed_union: Any = GenericAlias(list, (union,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TypedDictExtraConfigWarning)  # a type that declares itself open
        listed: Any = TypeAdapter[Any](listed_union, config=ConfigDict(extra="forbid")).json_schema()
    return rewrite_whole({**listed["items"], "$defs": listed.get("$defs", {})}, as_any_of)


def without_twins(schema: Schema) -> Schema:
    """Without the answer's types in unions next to those of the request (`TextBlock` next to `TextBlockParam`)."""
    definitions = schema.get("$defs", {})
    twins = {f"#/$defs/{name}" for name in definitions if f"{name}Param" in definitions}
    return without_branches(schema, lambda branch: branch.get("$ref") in twins)


def nullable(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}
