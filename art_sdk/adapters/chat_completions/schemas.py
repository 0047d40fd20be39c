"""What providers of the family refuse in the schema of a tool."""

from __future__ import annotations

from typing import Any, Final

from art_sdk.json_data import is_array, is_object


def find_array_without_items(schema: dict[str, Any]) -> str | None:
    """The path of an array in the schema that does not describe its items (`properties.paths`), or None."""
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


_DATA: Final = frozenset({"default", "const", "enum", "examples", "example"})
"""Keywords whose values are data, not schemas."""
