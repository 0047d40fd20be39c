"""`mistral-chat`: chat completions, as Mistral takes and answers them.

The `type` of a tool and of a call may be left out. Thinking chunks of an assistant message go back as they came.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.mistral_chat.answers import write_error, write_response
from art_compliance.dialects.mistral_chat.rules import RULES
from art_compliance.dialects.openai_chat.access import chat_access
from art_compliance.dialects.openai_chat.family import ChatForm
from art_compliance.dialects.openai_chat.streams import ChatStyle

MISTRAL_CHAT: Final = ChatForm(
    name="mistral-chat",
    hosts=("api.mistral.ai",),
    base_path="/v1",
    access=chat_access(no_key="Invalid API Key", wrong_key="Invalid API Key"),  # recorded
    rules=RULES,
    marks=("prefix",),
    kept_parts=frozenset({"thinking"}),
    write=write_response,
    write_error=write_error,
    # recorded in 2025 and 2026; that thinking is streamed in chunks is inferred from `ThinkChunk` in mistralai 3.7
    style=ChatStyle(whole_calls=True, usage_at_finish=True),
).dialect()
