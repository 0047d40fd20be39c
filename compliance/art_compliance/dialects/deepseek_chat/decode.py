"""`deepseek-chat`: chat completions as DeepSeek takes them.

Taken for the same thing: what `openai-chat` takes so. The `reasoning_content` of an assistant message is its
extension, an empty one as well: while calls are answered it goes back as it came.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.decode import Variant, decoder

decode: Final = decoder(Variant(name="deepseek-chat", fields=("reasoning_content",)))
