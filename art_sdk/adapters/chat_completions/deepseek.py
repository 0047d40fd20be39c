"""DeepSeek, by its chat completions API.

At the provider's limits: a forced tool choice switches thinking off, unless the caller's own fields say `thinking`,
as DeepSeek rejects the two together (deepseek.thinking-tool-choice); a prompt that ends with the assistant is refused,
as it needs DeepSeek's beta address and a mark (api-docs.deepseek.com/guides/chat_prefix_completion).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.rules import CountRule, NameRule, RangeRule, RootRule


class DeepSeekAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at DeepSeek."""

    provider_name = "deepseek"
    dialect = "deepseek-chat"
    default_model = "deepseek-flash"  # api-docs.deepseek.com/quick_start/pricing, since 2026-09-10
    default_base_url = "https://api.deepseek.com"  # without a version: api-docs.deepseek.com
    capabilities = CAPABILITIES - {"prefill", "response_schema"}  # deepseek.response-format
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))  # its guides/vision.md
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "deepseek.tool-name-pattern")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 2.0, "deepseek.sampling-range"),
        "top_p": RangeRule(math.ulp(0.0), 1.0, "deepseek.sampling-range"),
        "max_tokens": RangeRule(1, 384 * 1024, "deepseek.max-tokens-max"),
    }
    counts: ClassVar[Mapping[str, CountRule]] = {
        "tools": CountRule(128, "deepseek.tools-max128"),
        "stop": CountRule(16, "deepseek.stop-max16"),
    }
    schema_roots = RootRule((), "deepseek.schema-root-object", needs_type=True)
    repairs = frozenset({"renames_tools"})  # no limit of its call ids is known
    # github.com/deepseek-ai/DeepSeek-V3/issues/1376: so a forced choice is answered
    forced_choice_fields: ClassVar[Mapping[str, Any]] = {"thinking": {"type": "disabled"}}
    provider = ChatProvider(
        reasoning=("reasoning_content",),  # recorded, whole and streamed
        kept=("reasoning_content",),  # deepseek.reasoning-back
        rules=ChatRules(
            messages_nonempty="deepseek.messages-nonempty",
            calls_answered="deepseek.calls-answered",
        ),
    )
