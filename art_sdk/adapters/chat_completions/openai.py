"""OpenAI, by its chat completions API.

At the provider's limits: a call id over 40 characters is mapped; a system message stands where it
stood; a result's `status` and a tool's output schema have no place and are dropped (declared); a
tool's name that does not match, and whatever else OpenAI answers with 400, is refused before it is sent.
Of an image by URL the type has no place: OpenAI finds it out (platform.openai.com/docs/guides/images-vision).
Source of the request's fields: `openai.types.chat.completion_create_params` of the official client.
"""

from __future__ import annotations

from typing import ClassVar

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter, ChatLimits


class OpenAIAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at OpenAI."""

    provider_name = "openai"
    dialect = "openai-chat"
    default_model = "gpt-4.1-mini"
    default_base_url = "https://api.openai.com/v1"
    capabilities = CAPABILITIES - {"reasoning"}
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))
    # openai.max-completion-tokens: reasoning models refuse max_tokens, and every model takes this one
    limits: ClassVar[ChatLimits] = ChatLimits(max_tokens_field="max_completion_tokens")
