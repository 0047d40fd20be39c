"""`anthropic-messages`: the messages API of Anthropic, and of those who serve it."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.anthropic_messages.answers import ESSENTIAL, write_error, write_response
from art_compliance.dialects.anthropic_messages.decode import NAME, decode
from art_compliance.dialects.anthropic_messages.order import ORDER
from art_compliance.dialects.anthropic_messages.rules import RULES, Messages
from art_compliance.dialects.anthropic_messages.streams import UNKNOWN_EVENT, write_stream, write_stream_error
from art_compliance.dialects.base import Dialect
from art_compliance.dialects.framing import body_wants_stream

ANTHROPIC_MESSAGES: Final = Dialect(
    name=NAME,
    hosts=("api.anthropic.com",),
    path=r"/messages$",
    base_path="/v1",
    history="/messages",
    marks=("cache_control",),
    decode=decode,
    read_request=Messages,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    write_stream=write_stream,
    write_stream_error=write_stream_error,
    wants_stream=body_wants_stream,
    unknown_event=UNKNOWN_EVENT,
    stream_order=ORDER,
    essential=ESSENTIAL,
    finish="/stop_reason",
    wants_thinking=True,
)
