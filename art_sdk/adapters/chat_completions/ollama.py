"""Ollama, by its chat completions API below `/v1`, on this machine unless `base_url` says otherwise.

It ignores the choice of a tool, so none is declared; images are data; arguments are JSON objects. Models may have
limits of their own, which their templates set.
Source: `ChatCompletionRequest` and `FromChatRequest` in github.com/ollama/ollama, openai/openai.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.rules import RangeRule


class OllamaAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at Ollama. A local one takes any key; ollama.com wants yours."""

    provider_name = "ollama"
    dialect = "openai-compatible"
    default_model = "gpt-oss:20b"  # docs.ollama.com/api/openai-compatibility
    default_base_url = "http://localhost:11434/v1"  # docs.ollama.com/api/openai-compatibility
    capabilities = CAPABILITIES - {"tool_choice", "prefill"}  # ollama.ignored; a template may not continue an answer
    image_types = frozenset({"image/png", "image/jpeg", "image/webp"})  # ollama.image-type
    tool_names = None
    ranges: ClassVar[Mapping[str, RangeRule]] = {}
    losses = ChatCompletionsAdapter.losses | {"message_name", "sampling_option:parallel_tool_calls"}  # ollama.ignored
    repairs = frozenset()
    provider = ChatProvider(
        reasoning=("reasoning",),  # recorded, whole and streamed
        kept=("reasoning",),  # recorded in requests
        rules=ChatRules(
            messages_nonempty="compatible.messages-nonempty",
            calls_answered="compatible.calls-answered",
            content_not_null="compatible.content-not-null",
            arguments="ollama.arguments",
            image_data="ollama.image-data",
        ),
    )
