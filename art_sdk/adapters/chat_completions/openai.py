"""OpenAI, by its chat completions API.

At the provider's limits: a call id over 40 characters is mapped; a system message stays at its place; a
result's `status` and a tool's output schema have no place and are dropped (declared); a tool name that
does not match, and whatever else OpenAI answers with 400, is refused before it is sent.
Another host (`base_url`) may leave out `[DONE]` or `finish_reason` at the end of a stream, OpenAI's own may not.
The type of an image by URL is not sent: OpenAI detects it (platform.openai.com/docs/guides/images-vision).
Source of the request's fields: `openai.types.chat.completion_create_params` of the official client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.rules import CallIdRule, CountRule, NameRule, RangeRule, RootRule


class OpenAIAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at OpenAI."""

    provider_name = "openai"
    dialect = "openai-chat"
    default_model = "gpt-4.1-mini"
    default_base_url = "https://api.openai.com/v1"
    capabilities = CAPABILITIES - {"reasoning"}
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "openai.tool-name-pattern")
    call_ids = CallIdRule(re.compile(r"(?s).{0,40}"), "openai.tool-call-id-len40")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 2.0, "openai.temperature-range"),
        "top_p": RangeRule(0.0, 1.0, "openai.temperature-range"),
    }
    counts: ClassVar[Mapping[str, CountRule]] = {
        "tools": CountRule(128, "openai.tools-max128"),
        "stop": CountRule(4, "openai.stop-max4"),
    }
    # the error's text: nspady/google-calendar-mcp#39, langchain-ai/langchainjs#9804
    schema_roots = RootRule(("oneOf", "anyOf", "allOf", "enum", "not"), "openai.schema-root-object")
    choice_rule = "openai.tool-choice-needs-tools"
    provider = ChatProvider(
        # openai.max-completion-tokens: reasoning models refuse max_tokens, and every model takes this one
        max_tokens_field="max_completion_tokens",
        message_names=NameRule(re.compile(r"[a-zA-Z0-9_-]+"), "openai.message-name-pattern"),
        array_items_rule="openai.schema-array-items",
        rules=ChatRules(
            messages_nonempty="openai.messages-nonempty",
            calls_answered="openai.tool-calls-answered",
            content_not_null="openai.content-not-null",
        ),
    )
