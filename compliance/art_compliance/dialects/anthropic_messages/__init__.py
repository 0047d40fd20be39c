"""`anthropic-messages`: the messages API of Anthropic, and of those who serve it."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.anthropic_messages.answers import ESSENTIAL, write_error, write_response
from art_compliance.dialects.anthropic_messages.decode import NAME, decode
from art_compliance.dialects.anthropic_messages.rules import RULES, Messages
from art_compliance.dialects.base import Dialect

ANTHROPIC_MESSAGES: Final = Dialect(
    name=NAME,
    hosts=("api.anthropic.com",),
    path=r"/messages$",
    base_path="/v1",
    history="/messages",
    decode=decode,
    read_request=Messages,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    essential=ESSENTIAL,
    wants_thinking=True,
)
