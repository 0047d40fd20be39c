"""OpenRouter, by its chat completions API, which has the models of many providers.

Limits that only some providers behind it have are those of OpenAI's models, the strictest. Whatever else the provider
behind refuses comes back as an error of OpenRouter's (openrouter.downstream-rules).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.rules import CallIdRule, CountRule, NameRule, RangeRule, RootRule


class OpenRouterAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at OpenRouter. A model is named `provider/model`."""

    provider_name = "openrouter"
    dialect = "openrouter-chat"
    default_model = "openai/gpt-4.1-mini"
    default_base_url = "https://openrouter.ai/api/v1"  # recorded
    capabilities = CAPABILITIES
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))  # openrouter.image-format
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "openrouter.tool-name-pattern")
    call_ids = CallIdRule(re.compile(r"(?s).{0,64}"), "openrouter.id-len64")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 2.0, "openrouter.sampling-range"),
        "top_p": RangeRule(0.0, 1.0, "openrouter.sampling-range"),
    }
    counts: ClassVar[Mapping[str, CountRule]] = {"stop": CountRule(4, "openrouter.stop-max4")}
    schema_roots = RootRule(("oneOf", "anyOf", "allOf", "enum", "not"), "openrouter.schema-root-object")
    provider = ChatProvider(
        reasoning=("reasoning",),  # recorded, whole and streamed
        kept=("reasoning", "reasoning_details"),  # openrouter.reasoning-details
        always_finishes=False,  # recorded: Novita behind it ends with the mark alone
        rules=ChatRules(messages_nonempty="openrouter.messages-nonempty", calls_answered="openrouter.calls-answered"),
    )
