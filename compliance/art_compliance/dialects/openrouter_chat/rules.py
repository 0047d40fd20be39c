"""OpenRouter's rules. Statements and sources: `fixtures/rules/openrouter-chat.toml`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, rule, rules_of


@rule("openrouter.id-len64")
def id_len64(chat: Chat) -> Iterator[Broken]:
    """The ids of calls; results repeat them."""
    for call in chat.calls:
        if call.id is not None and len(call.id) > 64:
            yield Broken(f"{call.pointer}/id", f"the id has {len(call.id)} characters; 64 are allowed")


RULES: Final = rules_of(sys.modules[__name__])
