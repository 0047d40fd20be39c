"""What happens to every schema, whatever its source: it is closed or opened, and made small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from art_sdk.json_data import is_array, is_object

Schema = dict[str, Any]

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

_WORDS: Final = frozenset({"title", "description", "default", "examples", "example", "deprecated", "discriminator"})
_ONE: Final = frozenset({"items", "additionalProperties", "not", "propertyNames", "contains"})
_MANY: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED: Final = frozenset({"properties", "$defs", "patternProperties"})


def rewrite(schema: Any, change: Callable[[Schema], Schema]) -> Any:
    """Applies `change` to every schema inside the schema, the innermost first. Other values stay."""
    if not is_object(schema):
        return schema
    made: Schema = {}
    for name, value in schema.items():
        if name in _ONE:
            made[name] = rewrite(value, change)
        elif name in _MANY:
            made[name] = [rewrite(branch, change) for branch in value]
        elif name in _NAMED:
            made[name] = {key: rewrite(item, change) for key, item in value.items()}
        else:
            made[name] = value
    return change(made)


def rewrite_whole(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """As `rewrite`, for a schema that is an object."""
    return cast("Schema", rewrite(schema, change))


def finish(schema: Schema, *, is_closed: bool, stays_open: frozenset[str] = frozenset()) -> Schema:
    """The final schema: without descriptions, with closed (or open) objects, without unused definitions.

    `stays_open` names definitions that are never closed: their own types allow anything.
    """
    plain = rewrite(schema, _without_words)
    definitions: Schema = plain.pop("$defs", {})
    settle = close if is_closed else open_up
    settled = {
        name: node if name in stays_open and is_closed else rewrite(node, settle) for name, node in definitions.items()
    }
    return prune({**rewrite(plain, settle), "$defs": settled})


def close(node: Schema) -> Schema:
    """Forbids properties that an object does not name."""
    if "properties" in node and not is_object(node.get("additionalProperties")):
        return {**node, "additionalProperties": False}
    return node


def open_up(node: Schema) -> Schema:
    """Allows properties that an object does not name: providers add to their answers without notice."""
    return {name: value for name, value in node.items() if (name, value) != ("additionalProperties", False)}


def prune(schema: Schema) -> Schema:
    """The schema with the definitions that it uses, in the order of their names."""
    definitions: Schema = schema.get("$defs", {})
    body = {name: value for name, value in schema.items() if name != "$defs"}
    used: set[str] = set()
    waiting = list(references(body))
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += references(definitions[name])
    return {**body, "$defs": {name: definitions[name] for name in sorted(used)}} if used else body


def references(schema: Any) -> Iterator[str]:
    """The names of the definitions that a schema refers to."""
    if is_object(schema):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix("#/$defs/")
        for value in schema.values():
            yield from references(value)
    elif is_array(schema):
        for value in schema:
            yield from references(value)


def without_branches(schema: Schema, is_out: Callable[[Schema], bool]) -> Schema:
    """The schema without the branches of unions for which `is_out` is true."""

    def change(node: Schema) -> Schema:
        kept = {name: value for name, value in node.items() if name not in ("anyOf", "oneOf")}
        for name in ("anyOf", "oneOf"):
            if name in node:
                kept[name] = [branch for branch in node[name] if not is_out(branch)]
        return kept

    return rewrite_whole(schema, change)


def merge_roots(schema: Schema, overlay: Mapping[str, Schema]) -> Schema:
    """A union of objects at the root as one object: what all require, what any knows, and the overlay's properties.

    The SDKs have separate types for streaming and plain calls, which would double every finding.
    """
    definitions: Schema = schema.get("$defs", {})
    whole = {name: value for name, value in schema.items() if name != "$defs"}
    roots = [definitions[name] for branch in schema.get("anyOf", [whole]) for name in references(branch)]
    roots = roots or [schema]
    required = [name for name in roots[0].get("required", ()) if all(name in root["required"] for root in roots)]
    properties = {name: value for root in reversed(roots) for name, value in root["properties"].items()}
    merged = {"type": "object", "properties": {**properties, **overlay}, "required": required}
    return {**merged, "$defs": definitions}


def as_any_of(node: Schema) -> Schema:
    """A union of one is its branch, a name among free text is free text, and the rest is `anyOf`.

    Pydantic writes a union with a discriminator as `oneOf`; where defaults leave the discriminator out,
    two branches may hold.
    """
    if "oneOf" not in node and "anyOf" not in node:
        return node
    branches: list[Schema] = [*node.get("oneOf", ()), *node.get("anyOf", ())]
    if {"type": "string"} in branches:
        branches = [branch for branch in branches if not _is_name(branch)]
    rest = {name: value for name, value in node.items() if name not in ("oneOf", "anyOf")}
    return {**rest, **branches[0]} if len(branches) == 1 else {**rest, "anyOf": branches}


def _without_words(node: Schema) -> Schema:
    return {name: value for name, value in node.items() if name not in _WORDS}


def _is_name(branch: Schema) -> bool:
    return ("enum" in branch or "const" in branch) and branch.get("type") == "string"
