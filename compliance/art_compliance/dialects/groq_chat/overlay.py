"""What Groq takes beyond the published types of its client."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.overlay import Overlaid

_USAGE: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "object", "properties": {"include_usage": {"type": "boolean"}}, "additionalProperties": False},
        {"type": "null"},
    ]
}


def _tool(kind: dict[str, Any], **fields: Any) -> dict[str, Any]:
    properties = {"type": kind, **fields}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_FUNCTION: Final = _tool({"const": "function"}, function={"$ref": "#/$defs/FunctionDefinition"})
_BUILT_IN: Final = _tool({"enum": ["browser_search", "code_interpreter"]})
_TOOLS: Final[dict[str, Any]] = {
    "anyOf": [{"type": "array", "items": {"anyOf": [_FUNCTION, _BUILT_IN]}}, {"type": "null"}]
}

REQUEST: Final = (
    Overlaid("stream_options", _USAGE, "recorded in requests of 2026; ChatCompletionChunk.usage speaks of it"),
    Overlaid(
        "tools", _TOOLS, "ChatCompletionToolParam: of the types that it documents, only `function` has a function"
    ),
)
