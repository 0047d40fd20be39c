"""Whether a JSON Schema is one, as providers look at the schemas of tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, Literal

import msgspec
from jsonschema_rs import Draft7Validator, Draft202012Validator

from art_compliance.pointers import escape
from art_compliance.quoting import shorten
from art_sdk.sendable import find_unsendable, is_surely_sendable

Draft = Literal["draft-07", "2020-12"]

_METAS: Final[dict[Draft, Draft7Validator | Draft202012Validator]] = {
    "draft-07": Draft7Validator({"$ref": "http://json-schema.org/draft-07/schema#"}, validate_formats=False),
    "2020-12": Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"}, validate_formats=False),
}
"""Without formats: a pattern may be one of another language's."""

_ANNOTATIONS: Final = frozenset(
    {"$id", "$schema", "$comment", "title", "description", "examples", "format", "readOnly", "contentEncoding"}
)
"""Keywords that constrain no value: nothing quotes a refusal of an odd one, and clients send null for them."""

_TABLES: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_MOST: Final = 3


class _Good:
    """The last schemas without faults. Requests offer the same tools again and again.

    The same JSON text alone would not do: msgspec writes NaN as null, and a number that is a key as text.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, dict[str, Any]] = {}

    def has(self, schema: dict[str, Any]) -> bool:
        """Whether the schema is one of them."""
        text = _text_of(schema)
        return text is not None and self._known.get(text) == schema

    def add(self, schema: dict[str, Any]) -> None:
        """Keeps a copy of the schema."""
        text = _text_of(schema)
        if text is None or len(text) > _LONGEST_KEPT:
            return
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[text] = msgspec.json.decode(text)


_MOST_KEPT: Final = 512
_LONGEST_KEPT: Final = 8 * 1024
"""Schemas, and bytes of one: 4 MB at most."""

_GOOD: Final[dict[Draft, _Good]] = {draft: _Good() for draft in _METAS}
_encode: Final = msgspec.json.Encoder().encode


def _text_of(schema: dict[str, Any]) -> bytes | None:
    try:
        return _encode(schema)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return None


def schema_faults(schema: dict[str, Any], draft: Draft = "draft-07") -> Iterator[tuple[str, str]]:
    """What the draft does not allow in a schema: a JSON pointer inside it and a message; the first few.

    A schema that cannot be sent is not judged here.
    """
    if not schema or _GOOD[draft].has(schema):
        return
    meta = _METAS[draft]
    if not is_surely_sendable(schema) and find_unsendable(schema) is not None:
        return
    if meta.is_valid(schema):
        _GOOD[draft].add(schema)
        return
    errors = (error for error in meta.iter_errors(schema) if not _is_annotation(error.instance_path))
    for error in islice(errors, _MOST):
        found = shorten(json.dumps(error.instance, ensure_ascii=False, default=str), 60)
        keyword = next((str(step) for step in reversed(error.instance_path) if isinstance(step, str)), "the schema")
        pointer = "".join(f"/{escape(str(step))}" for step in error.instance_path)
        yield pointer, f"{keyword} is {found}, which a JSON Schema does not allow"


def _is_annotation(path: list[str | int]) -> bool:
    """Whether the path leads to an annotation, and not to a property of that name."""
    return not _ANNOTATIONS.isdisjoint(path[-1:]) and _TABLES.isdisjoint(path[-2:-1])
