"""The reference adapters by name, and third parties' by entry point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BUILT_IN: Final[Mapping[str, str]] = {
    "anthropic": "art_sdk.adapters.anthropic.adapter:AnthropicAdapter",
    "azure": "art_sdk.adapters.chat_completions.azure:AzureOpenAIAdapter",
    "bedrock": "art_sdk.adapters.bedrock.adapter:BedrockConverseAdapter",
    "cohere": "art_sdk.adapters.cohere.adapter:CohereChatAdapter",
    "deepseek": "art_sdk.adapters.chat_completions.deepseek:DeepSeekAdapter",
    "gemini": "art_sdk.adapters.gemini.adapter:GeminiAdapter",
    "groq": "art_sdk.adapters.chat_completions.groq:GroqAdapter",
    "mistral": "art_sdk.adapters.chat_completions.mistral:MistralAdapter",
    "ollama": "art_sdk.adapters.chat_completions.ollama:OllamaAdapter",
    "ollama-chat": "art_sdk.adapters.ollama.adapter:OllamaChatAdapter",
    "openai": "art_sdk.adapters.chat_completions.openai:OpenAIAdapter",
    "openai-compatible": "art_sdk.adapters.chat_completions.compatible:OpenAICompatibleAdapter",
    "openai-responses": "art_sdk.adapters.openai_responses.adapter:OpenAIResponsesAdapter",
    "openrouter": "art_sdk.adapters.chat_completions.openrouter:OpenRouterAdapter",
    "xai": "art_sdk.adapters.chat_completions.xai:XAIAdapter",
}
"""Name to `module:Class`. A new reference adapter is one file and one line here."""

ENTRY_POINT_GROUP: Final = "art_sdk.adapters"
"""The entry point group in which other distributions name their adapters."""
