"""What is done to a schema whatever it was made from: closed or opened, rid of words, and kept small."""

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
    """The schema with `change` made to every schema in it, the innermost first. What is no schema stays."""
    if not is_object(schema):
        return schema
    told: Schema = {}
    for name, value in schema.items():
        if name in _ONE:
            told[name] = rewrite(value, change)
        elif name in _MANY:
            told[name] = [rewrite(branch, change) for branch in value]
        elif name in _NAMED:
            told[name] = {key: rewrite(item, change) for key, item in value.items()}
        else:
            told[name] = value
    return change(told)


def rewrite_whole(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """As `rewrite`, of what is known to be an object."""
    return cast("Schema", rewrite(schema, change))


def finish(schema: Schema, *, is_closed: bool, stays_open: frozenset[str] = frozenset()) -> Schema:
    """The schema as it is kept: without words, objects closed (or open), no definition unused.

    `stays_open` names definitions that are never closed: their own types say that anything may stand there.
    """
    plain = rewrite(schema, _without_words)
    definitions: Schema = plain.pop("$defs", {})
    settle = close if is_closed else open_up
    settled = {
        name: node if name in stays_open and is_closed else rewrite(node, settle) for name, node in definitions.items()
    }
    return prune({**rewrite(plain, settle), "$defs": settled})


def close(node: Schema) -> Schema:
    """An object that names its properties takes no others."""
    if "properties" in node and not is_object(node.get("additionalProperties")):
        return {**node, "additionalProperties": False}
    return node


def open_up(node: Schema) -> Schema:
    """An object takes properties that it does not name: providers add to their answers without notice."""
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
    """The names of the definitions that a schema points to."""
    if is_object(schema):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix("#/$defs/")
        for value in schema.values():
            yield from references(value)
    elif is_array(schema):
        for value in schema:
            yield from references(value)


def without_branches(schema: Schema, is_out: Callable[[Schema], bool]) -> Schema:
    """The schema without the branches of its unions that `is_out` is true of."""

    def change(node: Schema) -> Schema:
        kept = {name: value for name, value in node.items() if name not in ("anyOf", "oneOf")}
        for name in ("anyOf", "oneOf"):
            if name in node:
                kept[name] = [branch for branch in node[name] if not is_out(branch)]
        return kept

    return rewrite_whole(schema, change)


def merge_roots(schema: Schema, overlay: Mapping[str, Schema]) -> Schema:
    """A union of objects at the root as one object: what all require, what any knows, and the overlay's properties.

    The SDKs tell the streaming call from the plain one by two types, which would double every finding.
    """
    definitions: Schema = schema.get("$defs", {})
    roots = [definitions[name] for branch in schema.get("anyOf", [schema]) for name in references(branch)]
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
