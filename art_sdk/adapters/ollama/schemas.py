"""Tool schemas that Ollama cannot read: it decodes them into types of its own, and answers 400 to other values.

Source: `ToolFunctionParameters` and `ToolProperty` in github.com/ollama/ollama, api/types.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from art_sdk.json_data import is_array, is_object


def find_odd_schema(root: dict[str, Any]) -> str | None:
    """What is wrong with a tool's schema, and where (`properties.path.type must be text`), or None."""
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:  # a loop instead of recursion: the schema may be deep
        path, schema = waiting.pop()
        if not is_object(schema):
            return f"{path} must be an object"
        for name, (fits, words) in (_PROPERTY if path else _ROOT).items():
            value = schema.get(name)
            if value is not None and not fits(value):
                return f"{path}.{name} must be {words}".lstrip(".")
        waiting += _inner(path, schema)
    return None


def _inner(path: str, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas inside, with their paths: of properties and, but for the root, of alternatives."""
    properties: dict[str, Any] = schema.get("properties") or {}
    for name, value in properties.items():
        yield f"{path}.properties.{name}".lstrip("."), value
    for at, value in enumerate((schema.get("anyOf") or ()) if path else ()):
        yield f"{path}.anyOf[{at}]", value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return is_array(value) and all(isinstance(one, str) for one in value)


def _is_text_or_texts(value: object) -> bool:
    return _is_text(value) or _is_texts(value)


_Fields = dict[str, tuple[Callable[[Any], bool], str]]

_ROOT: Final[_Fields] = {  # its type is `object`: `parse_options`
    "properties": (is_object, "an object"),
    "required": (_is_texts, "a list of strings"),
}
_PROPERTY: Final[_Fields] = {
    "type": (_is_text_or_texts, "a string or a list of strings"),
    "description": (_is_text, "a string"),
    "enum": (is_array, "a list"),
    "anyOf": (is_array, "a list"),
    "properties": (is_object, "an object"),
}
