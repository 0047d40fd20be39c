"""How Mistral streams: each call whole, and the usage in the chunk that ends the answer, asked for or not.

Source: recorded streams of 2025 and 2026. That thinking comes in chunks is inferred of `ThinkChunk` in mistralai 3.7.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.mistral_chat.answers import write_error, write_response
from art_compliance.dialects.openai_chat.streams import ChatStyle, chat_stream, error_event

write_stream: Final = chat_stream(write_response, ChatStyle(whole_calls=True, usage_at_finish=True))
write_stream_error: Final = error_event(write_error)
