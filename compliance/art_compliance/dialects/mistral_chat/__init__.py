"""`mistral-chat`: chat completions, as Mistral takes and answers them.

The `type` of a tool and of a call may be left out. Thinking chunks of an assistant message go back as they came.
"""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.mistral_chat.answers import describe_model, write_error, write_response
from art_compliance.dialects.mistral_chat.rules import RULES
from art_compliance.dialects.openai_chat.access import chat_access
from art_compliance.dialects.openai_chat.family import ChatForm
from art_compliance.dialects.openai_chat.shared_forms import IN_PARTS, WITHOUT_INDEXES
from art_compliance.dialects.openai_chat.streams import ChatStyle

MISTRAL_CHAT: Final = ChatForm(
    name="mistral-chat",
    hosts=("api.mistral.ai",),
    base_path="/v1",
    access=chat_access(no_key="Invalid API Key", wrong_key="Invalid API Key"),  # recorded
    rules=RULES,
    marks=("prefix",),
    kept_parts=frozenset({"thinking"}),
    has_thinking=True,  # the changelog of @ai-sdk/mistral 3.0.52 preserves it in later turns
    write=write_response,
    write_error=write_error,
    models=("mistral-large-latest",),
    other_models=("codestral-2508", "magistral-medium-2509", "ministral-3b-2410"),
    lacks=frozenset({"message_name", "tool_output_schema"}),
    defaults={"top_p": (1,), "parallel_tool_calls": (True,)},  # docs.mistral.ai/api
    own_fields={"random_seed": 7, "safe_prompt": True},
    reasoning_fields=({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    describe_model=describe_model,
    bad_ends=("length", "model_length", "error"),
    has_choices=True,
    variations=(WITHOUT_INDEXES, IN_PARTS),
    style=ChatStyle(whole_calls=True, usage_at_finish=True, padding="p", ends_with_content=True),  # recorded in 2026
).dialect()
