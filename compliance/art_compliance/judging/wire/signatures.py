"""Schemas of the parameters of a client's method, for an SDK that has no type for the request's body."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from art_compliance.judging.wire.models import request_schema_of
from art_compliance.judging.wire.shaping import Schema, as_any_of, rewrite_whole, without_branches


def request_schema(module: str, name: str, *, without: frozenset[str], overlay: dict[str, Schema]) -> Schema:
    """The closed schema of what the method `Class.method` sends; `without` are parameters of the client alone.

    `overlay` has properties that the client adds itself.
    """
    from pydantic import ConfigDict, create_model  # noqa: PLC0415 - only where schemas are made

    owner, _, method = name.partition(".")
    client = getattr(import_module(module), owner)
    hints: dict[str, Any] = inspect.get_annotations(getattr(client, method), eval_str=True)
    given = inspect.signature(getattr(client, method)).parameters
    fields: dict[str, Any] = {
        one: (hints[one], ... if parameter.default is inspect.Parameter.empty else None)
        for one, parameter in given.items()
        if one != "self" and one not in without
    }
    made = create_model(owner, __config__=ConfigDict(protected_namespaces=()), **fields)
    schema = rewrite_whole(without_branches(request_schema_of(made), _is_anything), as_any_of)
    return {**schema, "properties": {**schema["properties"], **overlay}}


def _is_anything(branch: Schema) -> bool:
    """A branch next to the names of an enum that the SDK leaves open, so that it reads newer names in answers."""
    return not branch
