"""How OpenRouter streams: comments ahead, reasoning with its details, and the end said again beside the usage.

Source: recorded streams of 2025 and 2026.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.streams import ChatStyle, chat_stream, error_event
from art_compliance.dialects.openrouter_chat.answers import write_error, write_response

write_stream: Final = chat_stream(
    write_response,
    ChatStyle(
        texts=("reasoning", "content", "refusal"),
        details="reasoning_details",
        usage_at_finish=True,
        says_finish_twice=True,
        comments=(b": OPENROUTER PROCESSING\n\n",) * 2,
    ),
)
write_stream_error: Final = error_event(write_error)
