"""How DeepSeek streams: reasoning before content, and the usage in the chunk that ends the answer, asked for or not.

Source: recorded streams of 2026.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.deepseek_chat.answers import write_error, write_response
from art_compliance.dialects.openai_chat.streams import ChatStyle, chat_stream, error_event

write_stream: Final = chat_stream(
    write_response, ChatStyle(texts=("reasoning_content", "content"), usage_at_finish=True)
)
write_stream_error: Final = error_event(write_error)
