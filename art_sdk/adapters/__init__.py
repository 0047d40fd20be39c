"""The reference adapters by name, and third parties' by entry point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BUILT_IN: Final[Mapping[str, str]] = {
    "anthropic": "art_sdk.adapters.anthropic.adapter:AnthropicAdapter",
    "gemini": "art_sdk.adapters.gemini.adapter:GeminiAdapter",
    "openai": "art_sdk.adapters.chat_completions.openai:OpenAIAdapter",
}
"""Name to `module:Class`. A new reference adapter is one file and one line here."""

ENTRY_POINT_GROUP: Final = "art_sdk.adapters"
"""The entry point group in which other distributions name their adapters."""
