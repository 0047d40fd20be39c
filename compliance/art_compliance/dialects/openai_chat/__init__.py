"""`openai-chat`: chat completions, as OpenAI and its many relatives take and answer them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.answers import write_error, write_response
from art_compliance.dialects.openai_chat.decode import decode
from art_compliance.dialects.openai_chat.family import CHAT
from art_compliance.dialects.openai_chat.rules import RULES
from art_compliance.dialects.openai_chat.streams import mix_calls, write_stream, write_stream_error

OPENAI_CHAT: Final = CHAT(
    name="openai-chat",
    hosts=("api.openai.com",),
    base_path="/v1",
    decode=decode,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    write_stream=write_stream,
    write_stream_error=write_stream_error,
    mix_calls=mix_calls,
    signs_thinking=False,
    kin=("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"),
)
