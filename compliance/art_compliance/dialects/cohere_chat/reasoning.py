"""Cohere's reasoning: models that reason show its text, unless the request turns it off. Nothing signs it."""

from __future__ import annotations

from typing import Any

from art_compliance.dialects.base import Reasoning
from art_sdk.json_data import is_object


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """`thinking.type` is `enabled` or `disabled` (cohere 7.3, `ThinkingType`). A reasoning model needs no word."""
    asked = payload.get("thinking")
    kind = asked.get("type") if is_object(asked) else None
    if kind is None:
        kind = "enabled" if "reasoning" in model else "disabled"
    return Reasoning(text=True) if kind == "enabled" else None
