"""`groq-chat`: chat completions, as Groq takes and answers them.

`reasoning` of an assistant message goes back as it came, to models that reason.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.groq_chat.answers import (
    CALLS_FAILED,
    dress_chunks,
    reasoning,
    write_error,
    write_response,
    write_stream_error,
)
from art_compliance.dialects.groq_chat.rules import RULES
from art_compliance.dialects.openai_chat.access import chat_access
from art_compliance.dialects.openai_chat.failures import STOPPED_EARLY
from art_compliance.dialects.openai_chat.family import DEFAULTS, ChatForm
from art_compliance.dialects.openai_chat.streams import ChatStyle
from art_compliance.dialects.openai_chat.variations import NULL_DETAILS

GROQ_CHAT: Final = ChatForm(
    name="groq-chat",
    hosts=("api.groq.com",),
    base_path="/openai/v1",
    # https://github.com/ag5826000/resume-commentor/issues/4; that a missing key is answered alike is inferred
    access=chat_access(no_key="Invalid API Key", wrong_key="Invalid API Key"),
    rules=RULES,
    kept_fields=("reasoning",),
    has_thinking=True,
    write=write_response,
    write_error=write_error,
    error_forms=CALLS_FAILED,
    write_stream_error=write_stream_error,
    failures=(STOPPED_EARLY,),
    variations=(NULL_DETAILS,),
    models=("openai/gpt-oss-120b", "qwen/qwen3.8-27b"),
    other_models=("llama-3.3-70b-versatile", "moonshotai/kimi-k2-instruct-0905", "groq/compound"),
    lacks=frozenset({"message_name", "tool_output_schema"}),
    defaults=DEFAULTS,  # console.groq.com/docs/api-reference
    own_fields={"seed": 7, "service_tier": "flex", "include_reasoning": False},
    reasoning_fields=({"include_reasoning": True}, {"include_reasoning": False}, {"reasoning_effort": "none"}),
    reasoning=reasoning,
    style=ChatStyle(  # recorded in 2026
        texts=("reasoning", "content"),
        whole_calls=True,
        splits_calls=True,
        dress=dress_chunks,
    ),
).dialect()
