"""`openrouter-chat`: chat completions, as OpenRouter takes and answers them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.family import CHAT
from art_compliance.dialects.openrouter_chat.answers import write_error, write_response
from art_compliance.dialects.openrouter_chat.decode import decode
from art_compliance.dialects.openrouter_chat.rules import RULES
from art_compliance.dialects.openrouter_chat.streams import write_stream, write_stream_error

OPENROUTER_CHAT: Final = CHAT(
    name="openrouter-chat",
    hosts=("openrouter.ai",),
    base_path="/api/v1",
    marks=("cache_control",),
    decode=decode,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    write_stream=write_stream,
    write_stream_error=write_stream_error,
    wants_thinking=True,
)
