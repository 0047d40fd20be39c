"""`mistral-chat`: chat completions, as Mistral takes and answers them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.base import Dialect
from art_compliance.dialects.framing import body_wants_stream
from art_compliance.dialects.mistral_chat.answers import write_error, write_response
from art_compliance.dialects.mistral_chat.decode import decode
from art_compliance.dialects.mistral_chat.rules import RULES
from art_compliance.dialects.mistral_chat.streams import write_stream, write_stream_error
from art_compliance.dialects.openai_chat.answers import ESSENTIAL
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.openai_chat.order import ORDER
from art_compliance.dialects.openai_chat.streams import UNKNOWN_EVENT

MISTRAL_CHAT: Final = Dialect(
    name="mistral-chat",
    hosts=("api.mistral.ai",),
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
    unknown_event=UNKNOWN_EVENT,
    stream_order=ORDER,
    essential=ESSENTIAL,
    signs_thinking=False,
)
