"""Ollama's reasoning: its text comes where the request asks for it, and nothing signs it."""

from __future__ import annotations

from typing import Any

from art_compliance.dialects.base import Reasoning


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """`think` is true, or a level such as "high": docs.ollama.com/capabilities/thinking."""
    del model
    return Reasoning(text=True) if payload.get("think") else None
