"""What tests look at in a refusal."""

from __future__ import annotations

from typing import Any

from art_sdk import PromptTranslationFailed


def place_of(error: PromptTranslationFailed) -> dict[str, Any]:
    """The message, the call and the rule that a refusal names. Everything else is tested in test_adapter_base.py."""
    return {name: fact for name, fact in error.details.items() if name in ("index", "call_id", "rule")}
