"""Adapters whose requests say the right thing in fields or types that the provider does not know."""

from __future__ import annotations

import json
from typing import Any

from art_compliance.miniatures.base import change_payload, miniature
from art_sdk.json_data import is_array, is_object


@miniature("wire.request-matches-the-schema")
def sends_an_unknown_field(adapter: Any) -> None:
    """The payload has a field that the provider does not know."""
    change_payload(adapter, lambda payload: {**payload, "agent_label": "planner"})


@miniature("wire.request-matches-the-schema")
def sends_the_temperature_in_words(adapter: Any) -> None:
    """The temperature is a string, but the provider wants a number."""
    change_payload(adapter, lambda payload: _with_temperature(payload, "warm"))


@miniature("wire.request-matches-the-schema")
def sends_tools_as_text(adapter: Any) -> None:
    """The tools are sent as JSON in a string."""
    change_payload(adapter, lambda payload: {**payload, **_tools_as_text(payload)})


def _with_temperature(payload: Any, value: str) -> Any:
    """The payload with any temperature in it replaced."""
    if is_object(payload):
        return {
            name: value if name == "temperature" else _with_temperature(item, value) for name, item in payload.items()
        }
    return [_with_temperature(item, value) for item in payload] if is_array(payload) else payload


def _tools_as_text(payload: dict[str, Any]) -> dict[str, str]:
    return {"tools": json.dumps(payload["tools"])} if "tools" in payload else {}
