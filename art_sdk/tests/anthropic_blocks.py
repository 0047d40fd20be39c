"""Content blocks of Anthropic's wire format, shared by tests."""

from __future__ import annotations

from typing import Any


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def use_block(call_id: str, name: str = "look", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result_block(call_id: str, text: str = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **more}
