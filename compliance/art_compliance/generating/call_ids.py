"""The call ids of messages: find them and rename them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from art_compliance.generating.rewriting import Rewriting


def ids_called(message: dict[str, Any]) -> list[str]:
    """The ids of the calls that a message makes."""
    if message["role"] == "tool_request":
        return [message["content"]["id"]] if message["content"] else []
    return [call["id"] for call in message.get("tool_calls", ())]


def rename_call_ids(prompt: list[dict[str, Any]], new_ids: Mapping[str, str]) -> list[dict[str, Any]]:
    """The prompt with these ids replaced, in calls and results."""
    return Rewriting(call_id=lambda call_id: new_ids.get(call_id, call_id)).prompt(prompt)
