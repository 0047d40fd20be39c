"""`deepseek-chat`: chat completions, as DeepSeek takes and answers them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.deepseek_chat.answers import write_error, write_response
from art_compliance.dialects.deepseek_chat.decode import decode
from art_compliance.dialects.deepseek_chat.rules import RULES
from art_compliance.dialects.deepseek_chat.streams import write_stream, write_stream_error
from art_compliance.dialects.openai_chat.family import CHAT

DEEPSEEK_CHAT: Final = CHAT(
    name="deepseek-chat",
    hosts=("api.deepseek.com",),
    base_path="",
    marks=("prefix",),
    decode=decode,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    write_stream=write_stream,
    write_stream_error=write_stream_error,
    wants_thinking=True,
    signs_thinking=False,
)
