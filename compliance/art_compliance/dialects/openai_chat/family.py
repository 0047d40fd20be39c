"""What every dialect of chat completions has in common: OpenAI's own and its relatives' are made of it."""

from __future__ import annotations

from functools import partial
from typing import Final

from art_compliance.dialects.base import Dialect
from art_compliance.dialects.framing import body_wants_stream
from art_compliance.dialects.openai_chat.answers import ESSENTIAL, FINISH
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.openai_chat.order import ORDER
from art_compliance.dialects.openai_chat.streams import UNKNOWN_EVENT

CHAT: Final = partial(
    Dialect,
    path=r"/chat/completions$",
    history="/messages",
    read_request=Chat,
    wants_stream=body_wants_stream,
    unknown_event=UNKNOWN_EVENT,
    stream_order=ORDER,
    essential=ESSENTIAL,
    finish=FINISH,
)
"""A dialect of chat completions, for the rest of its fields."""
