"""Makes a value for a JSON Schema: small, always the same, and valid for all but involved schemas."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from jsonschema_rs import FancyRegexOptions, validator_for

from art_compliance.pointers import follow
from art_sdk.json_data import is_array, is_object

_DEEPEST: Final = 12
_SHALLOW: Final = 4
"""From this depth on only required properties are made, so that recursive schemas end."""

_FORMATS: Final[Mapping[str, str]] = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "someone@example.com",
    "ipv4": "192.0.2.1",
    "time": "12:00:00Z",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_TEXTS: Final = (
    "written",
    "Written",
    "a",
    "A",
    "a1",
    "A1",
    "1",
    "12",
    "123",
    "1234",
    "12345",
    "ABC",
    "a-b",
    "a_b",
    "1.0",
)


_MOST_STEPS: Final = 10_000
_LONGEST: Final = 2**20
"""The longest text that is made, in characters."""


class _TooDeep(Exception):
    """The schema is recursive, and this branch does not end."""


class _TooLarge(Exception):
    """The value would be too large, or takes too long to find."""


class _Root:
    """The whole schema, and how many steps may still be taken for a value of it."""

    def __init__(self, schema: object) -> None:
        self.schema = schema
        self._left = _MOST_STEPS

    def step(self) -> None:
        """Counts one. Raises _TooLarge."""
        self._left -= 1
        if self._left < 0:
            raise _TooLarge


def make_value(schema: object) -> Any:
    """A value that fits the schema, or None where no small one is found. It may miss a `pattern` or a `not`."""
    try:
        return _make(schema, _Root(schema), 0)
    except (_TooDeep, _TooLarge, AttributeError, OverflowError, TypeError, ValueError):  # or it is not a schema
        return None


def _make(schema: object, root: _Root, depth: int) -> Any:
    if depth > _DEEPEST:
        raise _TooDeep
    root.step()
    if not is_object(schema):
        return "written"
    whole = _merged(schema, root, depth)
    if "const" in whole:
        return whole["const"]
    if is_array(whole.get("enum")) and whole["enum"]:
        return whole["enum"][0]
    for branches in ("anyOf", "oneOf"):
        if is_array(whole.get(branches)) and whole[branches]:
            return _first([_joined(whole, branches, branch) for branch in whole[branches]], root, depth)
    kinds = [kind.lower() for kind in _kinds(whole)]
    return _first_kind(kinds, whole, root, depth)


def _joined(schema: dict[str, Any], branches: str, branch: object) -> dict[str, Any]:
    """The schema with one of its branches instead of all of them."""
    rest = {name: value for name, value in schema.items() if name != branches}
    return {"allOf": [rest, branch]} if is_object(branch) else rest


def _merged(schema: dict[str, Any], root: _Root, depth: int) -> dict[str, Any]:
    """The schema with what `$ref` and `allOf` add to it."""
    others: list[Any] = list(schema["allOf"]) if is_array(schema.get("allOf")) else []
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        others.append(follow(root.schema, reference))
    whole = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
    for other in others:
        if not is_object(other):
            continue
        if depth > _DEEPEST:
            raise _TooDeep
        root.step()
        added = _merged(other, root, depth + 1)
        properties = {**added.get("properties", {}), **whole.get("properties", {})}
        required = [*added.get("required", ()), *whole.get("required", ())]
        whole = {**added, **whole}
        whole |= ({"properties": properties} if properties else {}) | ({"required": required} if required else {})
    return whole


def _kinds(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind]
    if is_array(kind):
        return [str(one) for one in kind]
    shapes = {"properties": "object", "required": "object", "items": "array", "minimum": "number"}
    return [kind for name, kind in shapes.items() if name in schema] or ["string"]


def _first(schemas: list[dict[str, Any]], root: _Root, depth: int) -> Any:
    """A value of the first schema that ends; null comes last at shallow depths, and first deep down."""
    ordered = sorted(schemas, key=lambda one: (one.get("type") == "null") is (depth < _SHALLOW))
    for one in ordered:
        try:
            return _make(one, root, depth + 1)
        except _TooDeep:
            continue
    raise _TooDeep


def _first_kind(kinds: list[str], schema: dict[str, Any], root: _Root, depth: int) -> Any:
    known = [kind for kind in kinds if kind in _MAKERS] or ["string"]
    ordered = sorted(known, key=lambda kind: (kind == "null") is (depth < _SHALLOW))
    return _MAKERS[ordered[0]](schema, root, depth)


def _object(schema: dict[str, Any], root: _Root, depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    known: dict[str, Any] = properties if is_object(properties) else {}
    required = schema.get("required")
    names = [str(name) for name in required] if is_array(required) else []
    least = schema.get("minProperties", 0)
    names += [name for name in known if name not in names][: max(0, least - len(names))]
    return {name: _make(known.get(name, True), root, depth + 1) for name in dict.fromkeys(names)}


def _array(schema: dict[str, Any], root: _Root, depth: int) -> list[Any]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", 1)
    first = schema.get("prefixItems")
    made = [_make(one, root, depth + 1) for one in first] if is_array(first) else []
    wanted = max(least, 1 if depth < _SHALLOW and most > 0 else 0)
    items = schema.get("items", True)
    if items is not False:
        made += [_make(items, root, depth + 1) for _ in range(wanted - len(made))]
    if schema.get("uniqueItems") and is_object(items) and is_array(items.get("enum")):
        return list(items["enum"][:wanted])
    return made


def _string(schema: dict[str, Any], _: _Root, __: int) -> str:
    pattern, least, most = schema.get("pattern"), schema.get("minLength", 0), schema.get("maxLength")
    text: str = _FORMATS.get(str(schema.get("format")), _TEXTS[0])
    if isinstance(pattern, str):
        text = _matching(pattern)
    if least > _LONGEST:
        raise _TooLarge
    text += "n" * (least - len(text))
    return text if most is None else text[: int(most)]


def _matching(pattern: str) -> str:
    bounded = FancyRegexOptions(backtrack_limit=_MOST_STEPS)  # `re` has no bound
    try:
        matching = validator_for({"pattern": pattern}, pattern_options=bounded)
        return next((text for text in _TEXTS if matching.is_valid(text)), _TEXTS[0])
    except ValueError:  # it is not a pattern
        return _TEXTS[0]


def _integer(schema: dict[str, Any], _: _Root, __: int) -> int:
    step = schema.get("multipleOf", 1)
    step = int(step) if step == int(step) and step >= 1 else 1
    most: float = schema.get("maximum", schema.get("exclusiveMaximum", math.inf) - 1)
    least: float = schema.get("minimum", schema.get("exclusiveMinimum", -math.inf) + 1)
    preferred = max(least, min(1, most))
    return math.ceil(preferred / step) * step if preferred >= 1 else math.floor(preferred / step) * step


def _number(schema: dict[str, Any], root: _Root, depth: int) -> float:
    least: float | None = schema.get("minimum", schema.get("exclusiveMinimum"))
    most: float | None = schema.get("maximum", schema.get("exclusiveMaximum"))
    if "multipleOf" in schema:
        return _integer(schema, root, depth)
    if least is not None:
        return least + 1 if most is None else (least + most) / 2
    return 1 if most is None else most - 1


def _true(_: dict[str, Any], __: _Root, ___: int) -> bool:
    return True


def _null(_: dict[str, Any], __: _Root, ___: int) -> None:
    return None


_MAKERS: Final[Mapping[str, Callable[[dict[str, Any], _Root, int], Any]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _true,
    "null": _null,
}
