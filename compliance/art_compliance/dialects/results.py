"""Results of tools that are sent as objects: the text that such an object stands for."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.framing import to_json

WRAPPERS: Final = frozenset({"output", "result", "return_value", "content", "error"})
"""Names under which adapters wrap a result's text."""


def unwrap(response: dict[str, Any]) -> tuple[str, str | None]:
    """A result's text, and the key of its wrapper, if it has one."""
    if len(response) == 1:
        key, value = next(iter(response.items()))
        if isinstance(value, str) and key in WRAPPERS:
            return value, key
    return to_json(response), None


def meant(response: dict[str, Any]) -> tuple[Any, ...]:
    """The JSON values that a response may stand for: a result that is JSON may be sent parsed, wrapped or not."""
    wrapped = tuple(response.values()) if len(response) == 1 and response.keys() <= WRAPPERS else ()
    return (response, *wrapped)
