"""`openai-chat`: chat completions, as OpenAI and its many relatives take and answer them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.answers import reasoning, write_error, write_response
from art_compliance.dialects.openai_chat.family import DEFAULTS, ChatForm
from art_compliance.dialects.openai_chat.rules import RULES
from art_compliance.dialects.openai_chat.streams import OPENAI, interleave_calls
from art_compliance.dialects.openai_chat.variations import CITED, FORCED_CALL, NULL_DETAILS, PROBABILITIES

OPENAI_CHAT: Final = ChatForm(
    name="openai-chat",
    shape="chat_completions",
    hosts=("api.openai.com",),
    kin=("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"),
    base_path="/v1",
    rules=RULES,
    write=write_response,
    write_error=write_error,
    models=("gpt-4.1", "gpt-4.1-mini"),
    other_models=("gpt-4o-2024-08-06", "o3-mini", "gpt-5-mini", "ft:gpt-4.1-mini-2025-04-14:own::written"),
    defaults=DEFAULTS,
    own_fields={"seed": 7, "service_tier": "flex", "metadata": {"team": "search"}},
    stream_fields={"stream_options": {"include_obfuscation": False}},  # `ChatCompletionStreamOptionsParam`
    reasoning_fields=({"reasoning_effort": "low"}, {"reasoning_effort": "none"}),
    reasoning=reasoning,
    call_id_prefix="call_",
    has_choices=True,
    variations=(PROBABILITIES, FORCED_CALL, NULL_DETAILS, CITED),
    style=OPENAI,
    interleave_calls=interleave_calls,
).dialect()
