"""`deepseek-chat`: chat completions, as DeepSeek takes and answers them.

`reasoning_content` of an assistant message goes back as it came while calls are answered, even where it is empty.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.deepseek_chat.answers import reasoning, write_error, write_response
from art_compliance.dialects.deepseek_chat.rules import RULES
from art_compliance.dialects.deepseek_chat.variations import UNTHOUGHT_CALLS
from art_compliance.dialects.openai_chat.access import chat_access
from art_compliance.dialects.openai_chat.family import ChatForm
from art_compliance.dialects.openai_chat.streams import ChatStyle
from art_compliance.dialects.openai_chat.variations import PROBABILITIES

DEEPSEEK_CHAT: Final = ChatForm(
    name="deepseek-chat",
    hosts=("api.deepseek.com",),
    base_path="",
    access=chat_access(wrong_key="Authentication Fails, Your api key is invalid"),  # recorded
    rules=RULES,
    marks=("prefix",),
    kept_fields=("reasoning_content",),
    has_thinking=True,
    write=write_response,
    write_error=write_error,
    models=("deepseek-chat", "deepseek-reasoner"),
    other_models=("deepseek-v4-flash",),
    defaults={"temperature": (1,), "top_p": (1,)},  # api-docs.deepseek.com/api/create-chat-completion
    own_fields={"logprobs": False},
    reasoning_fields=({"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
    reasoning=reasoning,
    bad_ends=("length", "content_filter", "insufficient_system_resource"),
    variations=(PROBABILITIES, UNTHOUGHT_CALLS),
    style=ChatStyle(  # recorded in 2026
        texts=("reasoning_content", "content"),
        usage_at_finish=True,
        has_usage_always=True,
        last={"content": ""},
    ),
).dialect()
