"""Schemas of pydantic models: what the SDKs read answers and stream items into, and what some type requests by."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from art_compliance.judging.wire.shaping import Schema, as_any_of, finish, rewrite_whole, without_branches


def answer_schema(module: str, name: str, *, beside: Sequence[str] = ()) -> Schema:
    """The open schema of a model, or of a union of models: providers add fields to their answers without notice.

    `beside` are values of `type` that the service sends and the SDK reads before it comes to its models.
    """
    schema = finish(_as_sent(module, name), is_closed=False)
    if not beside:
        return schema
    other: Schema = {"type": "object", "properties": {"type": {"enum": list(beside)}}, "required": ["type"]}
    definitions = {"$defs": schema["$defs"]}
    branches = schema["anyOf"] if "anyOf" in schema else [{n: v for n, v in schema.items() if n != "$defs"}]
    return {"anyOf": [*branches, other], **definitions}


def request_schema(module: str, name: str) -> Schema:
    """The closed schema of a model that a request is made by.

    Such models know a value for "not set", which is never sent, and fall back on anything where an enum is open:
    neither is a branch of what goes over the wire. The constants that tell messages apart have defaults there, and
    are required here.
    """
    return finish(rewrite_whole(_as_sent(module, name), _with_its_kind), is_closed=True)


def _as_sent(module: str, name: str) -> Schema:
    """The schema of a model, with no branch for what never goes over the wire."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only where schemas are made
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415 - likewise

    class Lenient(GenerateJsonSchema):
        """Writes down as impossible what has no schema: validators, and values that are never sent."""

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            del schema, error_info
            return {"not": {}}

    told: Schema = TypeAdapter[Any](getattr(import_module(module), name)).json_schema(schema_generator=Lenient)
    return rewrite_whole(without_branches(rewrite_whole(told, as_any_of), _is_never_sent), as_any_of)


def _is_never_sent(branch: Schema) -> bool:
    return "not" in branch or str(branch.get("$ref", "")).endswith("/Unset")


def _with_its_kind(node: Schema) -> Schema:
    """An object that has a role, or says by a constant what it is, must say it: it is not null, as a default may be.

    Where nothing else is required, a constant that has a default is the only one that could be meant.
    """
    properties: dict[str, Schema] = node.get("properties", {})
    required: list[str] = node.get("required", [])
    said: dict[str, Schema] = {name: _without_null(properties[name]) for name in ("role", "type") if name in properties}
    kinds = ["role"] if "role" in said else []
    if "const" in said.get("type", {}) and (required or "const" in properties["type"]):
        kinds.append("type")
    if not kinds:
        return node
    own = {name: said[name] for name in kinds}
    return {**node, "properties": {**properties, **own}, "required": list(dict.fromkeys([*required, *kinds]))}


def _without_null(schema: Schema) -> Schema:
    branches = [branch for branch in schema.get("anyOf", ()) if branch != {"type": "null"}]
    return branches[0] if len(branches) == 1 else schema
