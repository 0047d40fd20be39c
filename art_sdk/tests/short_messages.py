"""Messages and types that the tests of many adapters share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from art_sdk import PromptTranslationFailed

USER: dict[str, Any] = {"role": "user", "content": "u"}
SYSTEM: dict[str, Any] = {"role": "system", "content": "s"}
ASSISTANT: dict[str, Any] = {"role": "assistant", "content": "x"}

Messages = Callable[..., dict[str, Any]]
"""The fixture `translate`: an adapter, messages and options become the payload."""

Refusal = Callable[..., PromptTranslationFailed]
"""The fixture `refusal`: the error that an adapter raises for messages and options."""
