"""`mistral-chat`: chat completions as Mistral takes them.

Taken for the same thing: what `openai-chat` takes so; the `type` of a tool and of a call, and none. The thinking
chunks of an assistant message are its extension, each with its place in the content.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.decode import Variant, decoder

decode: Final = decoder(Variant(name="mistral-chat", parts=frozenset({"thinking"})))
