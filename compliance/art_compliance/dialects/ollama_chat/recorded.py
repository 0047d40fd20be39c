"""What Ollama's recorded answers say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.recorded import Recorded, TokenCounts, objects_of
from art_sdk.json_data import is_object

COUNTS: Final = TokenCounts(input=("/prompt_eval_count",), output=("/eval_count",))


def read_recorded(answer: Recorded, number: int, item: Mapping[str, Any]) -> None:
    """Reads an answer, or a line of a streamed one, which has the same form."""
    message: Any = item.get("message")
    if not is_object(message):
        return
    answer.say("message", message.get("content"))
    for at, call in enumerate(objects_of(message.get("tool_calls"))):
        called: Any = call.get("function")
        if is_object(called):
            answer.call(f"{number}/{at}", called.get("name"), called.get("arguments"))
