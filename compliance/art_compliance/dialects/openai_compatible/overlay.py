"""What servers of the family add to OpenAI's types: their reasoning."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.overlay import Overlaid

_TEXT: Final[dict[str, Any]] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_DETAILS: Final[dict[str, Any]] = {"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "null"}]}
_SOURCE: Final = "recorded in requests and answers at api.x.ai, api.deepseek.com and api.z.ai"
_OTHER: Final = (
    "recorded in requests and answers at ollama.com and api.cerebras.ai; docs.vllm.ai, features/reasoning_outputs"
)
_ITEMS: Final = "recorded in requests and answers at openrouter.ai, ai-gateway.vercel.sh and snowflakecomputing.com"
_FINISH: Final = "recorded in answers at api.together.xyz (eos)"


def _reasoning(definition: str) -> tuple[Overlaid, ...]:
    return (
        Overlaid(f"{definition}/reasoning_content", _TEXT, _SOURCE),
        Overlaid(f"{definition}/reasoning", _TEXT, _OTHER),
        Overlaid(f"{definition}/reasoning_details", _DETAILS, _ITEMS),
    )


REQUEST: Final = _reasoning("ChatCompletionAssistantMessageParam")
ANSWER: Final = (*_reasoning("ChatCompletionMessage"), Overlaid("Choice/finish_reason", _TEXT, _FINISH))
STREAM: Final = (*_reasoning("ChoiceDelta"), Overlaid("Choice/finish_reason", _TEXT, _FINISH))
