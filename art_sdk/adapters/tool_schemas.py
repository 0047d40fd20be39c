"""What providers refuse in a tool's input schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from art_sdk.json_data import is_array, is_object


def find_root_keyword(schema: dict[str, Any], keywords: Iterable[str]) -> str | None:
    """The first of the keywords that stands at the root, or None."""
    return next((keyword for keyword in keywords if keyword in schema), None)


def find_array_without_items(schema: dict[str, Any]) -> str | None:
    """Where an array is described and its items are not, as a path (`properties.paths`), or None."""
    waiting: list[tuple[Any, str]] = [(schema, "")]
    while waiting:
        value, path = waiting.pop()
        if is_object(value):
            if value.get("type") == "array" and not ("items" in value or "prefixItems" in value):
                return path or "the root"
            waiting += [(item, f"{path}.{name}".lstrip(".")) for name, item in value.items() if name not in _DATA]
        elif is_array(value):
            waiting += [(item, f"{path}[{at}]") for at, item in enumerate(value)]
    return None


_DATA = frozenset({"default", "const", "enum", "examples", "example"})
"""Keywords whose values are data, and no schemas."""
