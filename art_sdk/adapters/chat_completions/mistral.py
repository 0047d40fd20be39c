"""Mistral, by its chat completions API.

At the provider's limits: a call id that is not nine letters and digits is mapped; a late system message is refused
unless the call says `late_system="hoist"`; a message's name has no place and is dropped (declared).
Thinking is a chunk of the content, and goes back as one: `ThinkChunk` in mistralai 3.7.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import ClassVar

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.rules import CallIdRule, NameRule, RangeRule


class MistralAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at Mistral."""

    provider_name = "mistral"
    dialect = "mistral-chat"
    default_model = "mistral-small-latest"  # recorded
    default_base_url = "https://api.mistral.ai/v1"  # recorded
    capabilities = CAPABILITIES - {"late_system"}  # mistral.order: none after an answer or a result
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))  # docs.mistral.ai
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "mistral.function-name")
    call_ids = CallIdRule(re.compile(r"[a-zA-Z0-9]{9}"), "mistral.tool-id-9", lead="", digits=9)
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 1.5, "mistral.temperature"),
        "top_p": RangeRule(math.ulp(0.0), 1.0, "mistral.temperature"),
    }
    losses = ChatCompletionsAdapter.losses | {"message_name"}  # mistral.extra-forbidden
    repairs = ChatCompletionsAdapter.repairs | {"hoists_late_system"}
    provider = ChatProvider(
        required_choice="any",  # `mistralai.models.ToolChoiceEnum`, which has `required`, too, in newer versions
        asks_for_usage=False,  # mistral.extra-forbidden; recorded: usage comes with the finish
        prefill_mark="prefix",  # mistral.last-role; `AssistantMessage.prefix` in Mistral's openapi.yaml
        reasoning=(),
        rules=ChatRules(
            messages_nonempty="mistral.start",
            no_lone_assistant="mistral.start",
            assistant_nonempty="mistral.assistant-nonempty",
            calls_answered="mistral.calls-answered",
        ),
    )
