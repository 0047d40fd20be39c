"""`mistral-chat`: chat completions, as Mistral takes and answers them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.mistral_chat.answers import write_error, write_response
from art_compliance.dialects.mistral_chat.decode import decode
from art_compliance.dialects.mistral_chat.rules import RULES
from art_compliance.dialects.mistral_chat.streams import write_stream, write_stream_error
from art_compliance.dialects.openai_chat.family import CHAT

MISTRAL_CHAT: Final = CHAT(
    name="mistral-chat",
    hosts=("api.mistral.ai",),
    base_path="/v1",
    marks=("prefix",),
    decode=decode,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    write_stream=write_stream,
    write_stream_error=write_stream_error,
    signs_thinking=False,
)
