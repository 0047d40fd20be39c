"""Schemas of pydantic models: what the SDKs read answers and stream items into, and what some type requests by."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from art_compliance.wire.shaping import Schema, as_any_of, finish, rewrite_whole


def answer_schema(module: str, name: str, *, beside: Sequence[str] = ()) -> Schema:
    """The open schema of a model, or of a union of models: providers add fields to their answers without notice.

    `beside` are values of `type` that the service sends and the SDK reads before it comes to its models.
    """
    from pydantic import TypeAdapter  # noqa: PLC0415 - only where schemas are made

    told: Schema = TypeAdapter[Any](getattr(import_module(module), name)).json_schema()
    schema = finish(rewrite_whole(told, as_any_of), is_closed=False)
    if not beside:
        return schema
    other: Schema = {"type": "object", "properties": {"type": {"enum": list(beside)}}, "required": ["type"]}
    definitions = {"$defs": schema["$defs"]}
    branches = schema["anyOf"] if "anyOf" in schema else [{n: v for n, v in schema.items() if n != "$defs"}]
    return {"anyOf": [*branches, other], **definitions}
