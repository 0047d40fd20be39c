"""What DeepSeek adds to OpenAI's types; it has published no types of its own."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.overlay import Overlaid

_WORDS: Final[dict[str, Any]] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]
}
_TEXT: Final[dict[str, Any]] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_FINISH: Final[list[Any]] = [
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "function_call",
    "insufficient_system_resource",
]

_CREATE: Final = "https://api-docs.deepseek.com/api/create-chat-completion"
_THINKING: Final = "https://api-docs.deepseek.com/guides/thinking_mode"
_CALLS: Final = "https://api-docs.deepseek.com/guides/tool_calls: its example appends the answer's message as it came"

REQUEST: Final = (
    Overlaid(
        "thinking",
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"type": {"enum": ["enabled", "disabled"]}},
                    "required": ["type"],
                    "additionalProperties": False,
                },
                {"type": "null"},
            ]
        },
        _THINKING,
    ),
    Overlaid("reasoning_effort", _TEXT, f"{_THINKING}: words beyond OpenAI's, among them max and ultra"),
    Overlaid("stop", _WORDS, _CREATE),
    Overlaid("user_id", _TEXT, _CREATE),
    Overlaid(
        "ChatCompletionAssistantMessageParam/reasoning_content", _TEXT, f"{_THINKING}; recorded in requests of 2026"
    ),
    Overlaid(
        "ChatCompletionAssistantMessageParam/prefix",
        {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "https://api-docs.deepseek.com/guides/chat_prefix_completion",
    ),
    Overlaid("ChatCompletionMessageFunctionToolCallParam/index", {"type": "integer"}, _CALLS),
)
"""What DeepSeek adds to OpenAI's request. The documentation's own example sends null for unused fields."""

ANSWER: Final = (
    Overlaid("ChatCompletionMessage/reasoning_content", _TEXT, "recorded in answers of 2026"),
    Overlaid("Choice/finish_reason", {"enum": _FINISH}, _CREATE),
)
STREAM: Final = (
    Overlaid("ChoiceDelta/reasoning_content", _TEXT, "recorded in streams of 2026"),
    Overlaid("Choice/finish_reason", {"enum": [*_FINISH, None]}, _CREATE),
)
