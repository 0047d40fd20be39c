"""Groq, by its chat completions API.

At the provider's limits: a response schema next to tools is refused; so is a tool's schema that requires properties and
describes none (an empty `required` is left out); a message's name is dropped (declared), as Groq's
documentation says that it is refused. Reasoning goes back as it came, which models that do not reason refuse
(groq.reasoning-models): keep to one kind of model in a conversation. Images are for models with vision, as the default
one (groq.image-models).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.rules import CountRule, NameRule, RangeRule


class GroqAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at Groq."""

    provider_name = "groq"
    dialect = "groq-chat"
    default_model = "qwen/qwen3.8-27b"  # `CompletionCreateParams.model` in groq 1.7: with vision, tools and reasoning
    default_base_url = "https://api.groq.com/openai/v1"  # recorded
    capabilities = CAPABILITIES
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))  # inferred
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "groq.tool-name-pattern")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 2.0, "groq.sampling-range"),
        "top_p": RangeRule(0.0, 1.0, "groq.sampling-range"),
    }
    counts: ClassVar[Mapping[str, CountRule]] = {
        "tools": CountRule(128, "groq.tools-max128"),
        "stop": CountRule(4, "groq.stop-max4"),
    }
    losses = ChatCompletionsAdapter.losses | {"message_name"}  # groq.message-name
    repairs = frozenset({"renames_tools"})  # no limit of its call ids is known
    provider = ChatProvider(
        max_tokens_field="max_completion_tokens",  # `max_tokens` is deprecated in groq 1.7
        image_count=CountRule(5, "groq.images-max5"),
        required_rule="groq.schema-required-properties",
        schema_beside_tools_rule="groq.json-mode-without-tools",
        reasoning=("reasoning",),  # recorded, whole and streamed
        kept=("reasoning",),  # `ChatCompletionAssistantMessageParam.reasoning` in groq 1.7
        rules=ChatRules(messages_nonempty="groq.messages-nonempty"),
    )
