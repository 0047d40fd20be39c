"""`openrouter-chat`: chat completions as OpenRouter takes them.

Taken for the same thing: what `openai-chat` takes so. The `reasoning` and the `reasoning_details` of an assistant
message are its extension: they go back as they came, whoever thought them.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.decode import Variant, decoder

decode: Final = decoder(Variant(name="openrouter-chat", fields=("reasoning", "reasoning_details")))
