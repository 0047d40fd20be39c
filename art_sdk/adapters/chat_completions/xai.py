"""xAI, by its chat completions API.

Models that reason take no stop sequences (docs.x.ai/docs/guides/reasoning), so only the others declare `stop`.
No rule for names of tools is published: those that OpenAI takes are sent, others are renamed.
"""

from __future__ import annotations

import re

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules


class XAIAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at xAI."""

    provider_name = "xai"
    dialect = "openai-compatible"
    default_model = "grok-4.3"  # docs.agora.io/en/conversational-ai/models/llm/xai; recorded at its other API
    default_base_url = "https://api.x.ai/v1"  # recorded
    capabilities = CAPABILITIES - {"prefill", "stop"}  # whether a last answer is continued is not published
    image_types = frozenset({"image/png", "image/jpeg"})  # docs.x.ai/developers/model-capabilities/images/understanding
    repairs = frozenset({"renames_tools"})  # no limit of its call ids is known
    provider = ChatProvider(
        reasoning=("reasoning_content",),  # recorded, whole and streamed
        kept=("reasoning_content",),  # recorded in requests
        models=((re.compile(r"grok-([23](?!-mini)|.*non-reasoning)"), frozenset({"stop"})),),  # xai.stop
        rules=ChatRules(
            messages_nonempty="compatible.messages-nonempty",
            calls_answered="compatible.calls-answered",
            content_not_null="compatible.content-not-null",
            user_nonempty="xai.content",
        ),
    )
