"""What Gemini's recorded answers say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.recorded import Recorded, TokenCounts, object_of, objects_of
from art_sdk.json_data import is_object

COUNTS: Final = TokenCounts(
    input=("/usageMetadata/promptTokenCount", "/usageMetadata/toolUsePromptTokenCount"),
    output=("/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount"),
)


def read_recorded(answer: Recorded, number: int, item: Mapping[str, Any]) -> None:
    """Reads a response; a stream is made of whole ones."""
    candidates = [*objects_of(item.get("candidates"))]
    content = object_of(candidates[0].get("content")) if candidates else {}
    for at, part in enumerate(objects_of(content.get("parts"))):
        if not part.get("thought"):
            answer.say("parts", part.get("text"))
        if is_object(part.get("functionCall")):
            called: Any = part["functionCall"]
            answer.call(f"{number}/{at}", called.get("name"), called.get("args"))
