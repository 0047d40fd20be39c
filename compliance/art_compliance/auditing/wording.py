"""What a finding is counted as, and where it is, without the request's own text.

A pointer may lead through names that the sender chose, such as those of a tool's parameters, and a message quotes what
it found. So a name is in the report if the format's schema or JSON Schema knows it, or if it looks like a field and
is the unknown field itself, or the request's own field that a rule names. `--show-text` shows everything, without what
looks like a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.findings import Finding
from art_compliance.judging.rulebook import CHECK as RULES
from art_compliance.judging.wire import load_schema
from art_compliance.judging.wire.schemas import CHECK as SCHEMA
from art_compliance.quoting import shorten
from art_sdk.json_data import is_array, is_object

HIDDEN: Final = "…"
"""Stands for a name in a pointer that the sender chose."""

_LONGEST_NAME: Final = 100
_JSON_SCHEMA: Final = frozenset(
    {
        "$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "default", "definitions", "description",
        "else", "enum", "format", "if", "items", "maximum", "maxItems", "maxLength", "minimum", "minItems", "minLength",
        "not", "oneOf", "pattern", "patternProperties", "prefixItems", "properties", "required", "then", "title",
        "type",
    }
)  # fmt: skip


def rule_of(finding: Finding, dialect: str) -> str | None:
    """What a finding is counted as: a rule's id, or what does not match the schema, and where.

    None for a note that there are more findings of the same.
    """
    if finding.check == RULES:
        return finding.message.partition(": ")[0]
    if finding.check != SCHEMA:
        return finding.check
    if finding.pointer is None:
        if finding.message.startswith("the schema: only the first"):
            return None
        return "cannot be sent as JSON" if finding.path is not None else "may be no request of this format"
    place = _without_indices(pointer_of(finding, dialect, show_text=False)) or "the body"
    return f"{_kind(finding.message)} {place}"


def _kind(message: str) -> str:
    for pattern, kind in _KINDS:
        if pattern.match(message):
            return kind
    return "wrong value:"


_KINDS: Final = (
    (re.compile("unknown field"), "unknown field:"),
    (re.compile("the field '[^']*' is missing"), "a field is missing in"),
    (re.compile("expected at most one of"), "fields that exclude each other in"),
)


def _without_indices(pointer: str) -> str:
    return re.sub(r"/\d+(?=/|$)", "/*", pointer)


def pointer_of(finding: Finding, dialect: str, *, show_text: bool) -> str:
    """The JSON pointer of a finding."""
    pointer = finding.pointer if finding.pointer is not None else finding.path or ""
    if show_text:
        return name_of(pointer)
    names = pointer.split("/")
    known, fields = _known_names(dialect), list(_fields_in(finding, names))
    shown = (one in known or one in fields or one.isdecimal() or not one for one in names)
    return "/".join(name_of(one) if is_shown else HIDDEN for one, is_shown in zip(names, shown, strict=True))


def _fields_in(finding: Finding, names: list[str]) -> Iterator[str]:
    """The names that are fields whatever the schema knows: the unknown one, and the request's own that a rule names."""
    fields = [names[-1]] if finding.message.startswith("unknown field") else []
    fields += names[1:2] if finding.check == RULES else []
    yield from (one for one in fields if _FIELD.fullmatch(one))


_FIELD: Final = re.compile(r"[A-Za-z_$][\w.$-]{0,39}", re.ASCII)


@cache
def _known_names(dialect: str) -> frozenset[str]:
    return _JSON_SCHEMA | frozenset(_properties(load_schema(dialect).schema))


def _properties(schema: Any) -> Iterator[str]:
    if is_array(schema):
        for item in schema:
            yield from _properties(item)
    elif is_object(schema):
        properties: Any = schema.get("properties")
        yield from properties if is_object(properties) else ()
        for item in schema.values():
            yield from _properties(item)


@lru_cache(maxsize=4096)
def name_of(text: str) -> str:
    """A name or a message as the report shows it: short, and without what looks like a secret."""
    return shorten(_scrubber().text(text[: 4 * _LONGEST_NAME]), _LONGEST_NAME)


@cache
def _scrubber() -> Scrubber:
    return Scrubber()


def text_of(finding: Finding) -> str:
    """What a finding says, with the request's own text in it."""
    return _scrubber().text(finding.message)
