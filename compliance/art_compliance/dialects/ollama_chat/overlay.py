"""What Ollama's server reads beyond the types of its Python client, and what those types leave open."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.overlay import Overlaid

_SERVER: Final = "github.com/ollama/ollama, api/types.go: "
_TEXT: Final[dict[str, Any]] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_NUMBER: Final[dict[str, Any]] = {"anyOf": [{"type": "number"}, {"type": "null"}]}
_TRUTH: Final[dict[str, Any]] = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
_ANYTHING: Final[dict[str, Any]] = {}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _of(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _list_of(schema: dict[str, Any]) -> dict[str, Any]:
    return _or_null({"type": "array", "items": schema})


_CLIENT: Final = "ollama 0.6: its types take any object beside their own"

REQUEST: Final = (
    Overlaid("messages", _list_of(_of("Message")), f"{_CLIENT}: the server reads Message"),
    Overlaid("options", _or_null(_of("Options")), f"{_CLIENT}: the server reads Options"),
    Overlaid("truncate", _TRUTH, f"{_SERVER}ChatRequest.Truncate"),
    Overlaid("shift", _TRUTH, f"{_SERVER}ChatRequest.Shift"),
    Overlaid("_debug_render_only", _TRUTH, f"{_SERVER}ChatRequest.DebugRenderOnly"),
    Overlaid("Message/images", _list_of({"type": "string"}), "ollama 0.6: Image.serialize_model sends base64"),
    Overlaid("Message/tool_call_id", _TEXT, f"{_SERVER}Message.ToolCallID"),
    Overlaid("ToolCall/id", _TEXT, f"{_SERVER}ToolCall.ID"),
    Overlaid(
        "ToolCall/type", _ANYTHING, f"{_SERVER}ToolCall drops it; docs.ollama.com/capabilities/tool-calling sends it"
    ),
    Overlaid("ollama___types__Message__ToolCall__Function/index", _NUMBER, f"{_SERVER}ToolCallFunction.Index"),
    Overlaid("Tool/items", _ANYTHING, f"{_SERVER}Tool.Items"),
    Overlaid("Parameters/type", _TEXT, f"{_SERVER}ToolFunctionParameters.Type is any text"),
    Overlaid("Property/anyOf", _list_of(_of("Property")), f"{_SERVER}ToolProperty.AnyOf"),
    Overlaid(
        "Property/properties",
        _or_null({"type": "object", "additionalProperties": _of("Property")}),
        f"{_SERVER}ToolProperty.Properties",
    ),
    Overlaid("Options/min_p", _NUMBER, f"{_SERVER}Options.MinP"),
)
