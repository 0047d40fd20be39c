"""`openrouter-chat`: chat completions, as OpenRouter takes and answers them.

`reasoning` and `reasoning_details` of an assistant message go back as they came, whichever model wrote them.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.access import chat_access
from art_compliance.dialects.openai_chat.failures import BESIDE_CHOICES, IN_CHOICE
from art_compliance.dialects.openai_chat.family import DEFAULTS, ChatForm
from art_compliance.dialects.openai_chat.streams import ChatStyle
from art_compliance.dialects.openrouter_chat.answers import reasoning, write_error, write_response
from art_compliance.dialects.openrouter_chat.rules import RULES
from art_compliance.dialects.openrouter_chat.variations import VARIATIONS

OPENROUTER_CHAT: Final = ChatForm(
    name="openrouter-chat",
    hosts=("openrouter.ai",),
    base_path="/api/v1",
    access=chat_access(  # both recorded
        no_key="Missing Authentication header", wrong_key="No cookie auth credentials found"
    ),
    rules=RULES,
    marks=("cache_control",),
    kept_fields=("reasoning", "reasoning_details"),
    has_thinking=True,
    has_signature=True,
    write=write_response,
    write_error=write_error,
    models=("openai/gpt-4.1", "openai/gpt-4.1-mini"),
    other_models=("anthropic/claude-sonnet-4.5", "openrouter/auto", "openai/o3-mini:nitro"),
    own_headers={"http-referer": "https://app.example", "x-title": "An app"},  # openrouter.ai/docs/app-attribution
    defaults=DEFAULTS,  # openrouter.ai/docs/api/reference/parameters
    own_fields={"seed": 7, "provider": {"sort": "price"}, "models": ["openai/gpt-4.1"], "transforms": []},
    reasoning_fields=(
        {"reasoning": {"effort": "low"}},
        {"reasoning": {"max_tokens": 1024}},
        {"reasoning": {"enabled": False}},
    ),
    reasoning=reasoning,
    variations=VARIATIONS,
    failures=(BESIDE_CHOICES, IN_CHOICE),
    bad_ends=("length", "content_filter", "error"),
    style=ChatStyle(  # recorded in 2026
        texts=("reasoning", "content", "refusal"),
        details="reasoning_details",
        usage_at_finish=True,
        says_finish_twice=True,
        repeats_role=True,
        last={"content": "", "role": "assistant"},
        comments=(b": OPENROUTER PROCESSING\n\n",) * 2,
    ),
).dialect()
