"""`openai-chat`: chat completions, as OpenAI and its many relatives take and answer them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.base import Dialect
from art_compliance.dialects.framing import body_wants_stream
from art_compliance.dialects.openai_chat.answers import ESSENTIAL, FINISH, write_error, write_response
from art_compliance.dialects.openai_chat.decode import decode
from art_compliance.dialects.openai_chat.order import ORDER
from art_compliance.dialects.openai_chat.rules import RULES, Chat
from art_compliance.dialects.openai_chat.streams import UNKNOWN_EVENT, mix_calls, write_stream, write_stream_error

OPENAI_CHAT: Final = Dialect(
    name="openai-chat",
    hosts=("api.openai.com",),
    path=r"/chat/completions$",
    base_path="/v1",
    history="/messages",
    decode=decode,
    read_request=Chat,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    write_stream=write_stream,
    write_stream_error=write_stream_error,
    wants_stream=body_wants_stream,
    mix_calls=mix_calls,
    unknown_event=UNKNOWN_EVENT,
    stream_order=ORDER,
    essential=ESSENTIAL,
    finish=FINISH,
    kin=("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"),
)
