"""Adds to the types of a provider's relative that has published none of its own."""

from __future__ import annotations

from collections.abc import Iterable

from art_compliance.dialects.overlay import Overlaid
from art_compliance.judging.wire.shaping import Schema


def lay_over(schema: Schema, pieces: Iterable[Overlaid], *, nullable: bool = False) -> Schema:
    """The schema with the pieces added; `nullable`: every optional field of the root may also be null.

    Raises KeyError for a piece whose definition is missing: the types have changed.
    """
    root, definitions = dict(schema["properties"]), dict(schema["$defs"])
    if nullable:
        needed = schema["required"]
        root = {name: known if name in needed else or_null(known) for name, known in root.items()}
    for piece in pieces:
        definition, _, name = piece.at.rpartition("/")
        if definition:
            old = definitions[definition]
            definitions[definition] = {**old, "properties": {**old["properties"], name: piece.schema}}
        else:
            root[name] = piece.schema
    return {**schema, "properties": root, "$defs": definitions}


def or_null(schema: Schema) -> Schema:
    """The schema, or null."""
    null: Schema = {"type": "null"}
    branches: list[Schema] = schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    return {"anyOf": branches if null in branches else [*branches, null]}
