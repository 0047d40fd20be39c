"""Schemas of pydantic models, which SDKs use for answers and stream events, and some for requests."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from art_compliance.judging.wire.shaping import Schema, as_any_of, finish, rewrite_whole, without_branches


def answer_schema(module: str, name: str, *, beside: Sequence[str] = ()) -> Schema:
    """The open schema of a model, or of a union of models: providers add fields to their answers without notice.

    `beside` are values of `type` that the service sends and the SDK handles before it uses its models.
    """
    schema = finish(_as_sent(module, name), is_closed=False)
    if not beside:
        return schema
    other: Schema = {"type": "object", "properties": {"type": {"enum": list(beside)}}, "required": ["type"]}
    definitions = {"$defs": schema["$defs"]}
    branches = schema["anyOf"] if "anyOf" in schema else [{n: v for n, v in schema.items() if n != "$defs"}]
    return {"anyOf": [*branches, other], **definitions}


def request_schema(module: str, name: str) -> Schema:
    """The closed schema of a request's model.

    Such models have a value for "not set", which is never sent, and allow anything where an enum is open: neither is a
    branch of what goes over the wire. The constants that distinguish messages have defaults there, and
    are required here.
    """
    return request_schema_of(getattr(import_module(module), name))


def request_schema_of(model: Any) -> Schema:
    """As `request_schema`, for the type itself."""
    return finish(rewrite_whole(_schema_of(model), _with_its_kind), is_closed=True)


def _as_sent(module: str, name: str) -> Schema:
    return _schema_of(getattr(import_module(module), name))


def _schema_of(model: Any) -> Schema:
    """The schema of a model, without branches for what never goes over the wire."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only where schemas are made
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415 - likewise

    class Lenient(GenerateJsonSchema):
        """Marks as impossible what has no schema: validators, and values that are never sent."""

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            del schema, error_info
            return {"not": {}}

    schema: Schema = TypeAdapter[Any](model).json_schema(schema_generator=Lenient)
    return rewrite_whole(without_branches(rewrite_whole(schema, as_any_of), _is_never_sent), as_any_of)


def _is_never_sent(branch: Schema) -> bool:
    return "not" in branch or str(branch.get("$ref", "")).endswith("/Unset")


def _with_its_kind(node: Schema) -> Schema:
    """Makes `role` and a constant `type` required and non-null, although they have defaults.

    Where nothing else is required, the constant with a default is the only possible meaning.
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
