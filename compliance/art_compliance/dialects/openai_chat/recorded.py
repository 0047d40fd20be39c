"""What recorded chat completions say, OpenAI's and its relatives'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.recorded import Recorded, TokenCounts, objects_of

COUNTS: Final = TokenCounts(
    input=("/usage/prompt_tokens",),
    output=("/usage/completion_tokens",),
    roots=("", "/x_groq"),  # Groq's chunks have them one level down
)


def read_recorded(answer: Recorded, number: int, item: Mapping[str, Any]) -> None:
    """Reads a completion, or a chunk of a stream."""
    del number
    for choice in objects_of(item.get("choices")):
        if choice.get("index", 0) != 0:
            continue
        said: Any = choice.get("message") or choice.get("delta") or {}
        content = said.get("content")
        answer.say("content", content)
        answer.say("refusal", said.get("refusal"))
        for part in objects_of(content):  # Mistral's
            answer.say("content", part.get("text"))
        for at, call in enumerate(objects_of(said.get("tool_calls"))):
            function: Any = call.get("function") or {}
            answer.call(str(call.get("index", at)), function.get("name"), function.get("arguments"))
