"""What an adapter may do to a JSON Schema that its provider does not take as it is: close it, or leave keywords out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from art_compliance.comparison.normal_form import same_json
from art_sdk.adapters.capabilities import Loss, Repair
from art_sdk.json_data import is_array, is_object


class SchemaChange(NamedTuple):
    """How a sent schema differs from the given one: whether it was closed, and which keywords are left out."""

    is_closed: bool = False
    dropped: frozenset[str] = frozenset()

    @property
    def repairs(self) -> frozenset[Repair]:
        """The repair that this is."""
        return frozenset({"closes_schemas"} if self.is_closed else ())

    @property
    def loss(self) -> Loss | None:
        """The loss that this is."""
        return "schema_keywords" if self.dropped else None


DROPPABLE: Final = frozenset(
    {
        *("$comment", "$id", "$schema", "default", "deprecated", "discriminator", "examples", "title"),
        *("readOnly", "writeOnly", "format", "pattern", "contentEncoding", "contentMediaType"),
        *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
        *("minProperties", "maxProperties", "patternProperties", "propertyNames"),
        *("additionalProperties", "unevaluatedProperties"),
    }
)
"""Keywords that may be left out: the schema then takes more values, and describes the same."""


def _is_droppable(keyword: str) -> bool:
    """Extensions only describe: to JSON Schema itself (core, section 6.5) an unknown keyword is an annotation."""
    return keyword in DROPPABLE or keyword.startswith("x-")


def explain_schema(own: Any, sent: Any) -> SchemaChange | None:
    """How the given schema became the sent one, or None if neither closing it nor leaving keywords out explains it."""
    walk = _Walk()
    return SchemaChange(walk.is_closed, frozenset(walk.dropped)) if walk.explains(own, sent) else None


class _Walk:
    """Walks through both schemas, and notes what was done."""

    def __init__(self) -> None:
        self.is_closed = False
        self.dropped: set[str] = set()

    def explains(self, own: Any, sent: Any) -> bool:
        if is_array(own) and is_array(sent):
            return self._explains_each(own, sent)
        if not (is_object(own) and is_object(sent)):
            return same_json(own, sent)
        own, sent = _with_enum(own), _with_enum(sent)
        own, sent = self._described(self._without_one_of(own, sent), sent)
        own, sent = self._closed(own, sent)
        missing = own.keys() - sent.keys()
        if sent.keys() - own.keys() or not all(map(_is_droppable, missing)):
            return False
        self.dropped |= missing
        return all(self._explains_keyword(name, own[name], value) for name, value in sent.items())

    def _explains_each(self, own: Sequence[Any], sent: Sequence[Any]) -> bool:
        """Subschemas in any order: that of their normal form depends on what is in them."""
        left = list(sent)
        for one in own:
            before = self.is_closed, set(self.dropped)
            for other in left:
                if self.explains(one, other):
                    left.remove(other)
                    break
                self.is_closed, self.dropped = before[0], set(before[1])
            else:
                return False
        return not left

    def _explains_keyword(self, name: str, own: Any, sent: Any) -> bool:
        if name in ("properties", "$defs", "definitions", "patternProperties"):
            same_names = is_object(own) and is_object(sent) and own.keys() == sent.keys()
            return same_names and all(self.explains(own[key], sent[key]) for key in own)
        if name == "prefixItems" and is_array(own) and is_array(sent):
            return len(own) == len(sent) and all(map(self.explains, own, sent))
        if name in ("items", "anyOf", "oneOf", "allOf", "not", "additionalProperties", "contains"):
            return self.explains(own, sent)
        return same_json(own, sent)

    def _closed(self, own: dict[str, Any], sent: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both, as if the given one had been closed: no other properties; perhaps each required, or null instead."""
        properties = own.get("properties", {})
        is_whole = is_object(properties) and _takes_nothing(sent.get("additionalProperties"))
        rest = own.get("additionalProperties")
        is_map = is_object(rest) and not _takes_nothing(rest)  # closed, it could hold nothing
        required: list[str] = own.get("required", [])
        asked = set(sent.get("required", ()))
        if is_map or not is_whole or asked not in (set(properties), set(required)):
            return own, sent
        was_open = not _takes_nothing(rest) or asked != set(required)
        self.is_closed = self.is_closed or was_open
        optional = asked - set(required)
        plain = {**sent.get("properties", {})}
        for name in optional:
            takes_null = _without_null(properties[name]) is not properties[name]
            if name in plain and not takes_null:
                plain[name] = _without_null(plain[name])
        closed = {name: sent.get(name, []) for name in ("additionalProperties", "required")} | {
            "properties": properties
        }
        return {**own, **closed}, {**sent, **closed, "properties": plain}

    def _without_one_of(self, own: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
        """The given schema with `anyOf` for `oneOf` where the sent one has it so: closed schemas know no `oneOf`."""
        if "oneOf" not in own or "oneOf" in sent or "anyOf" in own:
            return own
        self.is_closed = True
        return {"anyOf" if name == "oneOf" else name: value for name, value in own.items()}

    def _described(self, own: dict[str, Any], sent: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both without descriptions, if the sent one is the given one and says what keywords that are left out said."""
        before, after = own.get("description", ""), sent.get("description", "")
        if before == after or not (isinstance(before, str) and isinstance(after, str) and after.startswith(before)):
            return own, sent
        added = after[len(before) :]
        missing = [str(own[name]) for name in own.keys() - sent.keys() if _is_droppable(name)]
        if not any(value in added for value in missing):
            return own, sent
        return {**own, "description": after}, sent


def _takes_nothing(schema: Any) -> bool:
    """Whether it is the schema `false`, or its normal form."""
    return schema is False or schema == {"not": {}}


def _with_enum(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with an enum of one value in place of `const`, which means the same."""
    if "const" not in schema or "enum" in schema:
        return schema
    rest = {name: value for name, value in schema.items() if name != "const"}
    return {**rest, "enum": [schema["const"]]}


def _without_null(schema: Any) -> Any:
    """A property's schema without the null that stands for leaving the property out."""
    if not is_object(schema):
        return schema
    kinds, choices = schema.get("type"), schema.get("anyOf")
    if is_array(kinds) and "null" in kinds:
        left = [kind for kind in kinds if kind != "null"]
        plain = {**schema, "type": left[0] if len(left) == 1 else left}
        if is_array(schema.get("enum")):
            plain["enum"] = [value for value in schema["enum"] if value is not None]
        return plain
    if is_array(choices) and {"type": "null"} in choices:
        left = [choice for choice in choices if choice != {"type": "null"}]
        return left[0] if len(left) == 1 and len(schema) == 1 else {**schema, "anyOf": left}
    return schema
