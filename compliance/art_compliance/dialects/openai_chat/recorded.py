"""What recorded chat completions say, OpenAI's and its relatives'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.framing import to_json
from art_compliance.dialects.recorded import Recorded, TokenCounts, object_of, objects_of
from art_sdk.json_data import is_object

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
        said = object_of(choice.get("message") or choice.get("delta"))
        content = said.get("content")
        answer.say("content", to_json(content) if is_object(content) else content)  # an object: Cloudflare's
        answer.say("refusal", said.get("refusal"))
        for part in objects_of(content):  # Mistral's
            answer.say("content", part.get("text"))
        older = object_of(said.get("function_call"))  # OpenAI's, before it had tools
        if older.get("name") or "function_call" in answer.calls:
            answer.call("function_call", older.get("name"), older.get("arguments"))
        for at, call in enumerate(objects_of(said.get("tool_calls"))):
            if "custom" in call:
                continue  # a custom tool's call has no place in a standard message
            function = object_of(call.get("function"))
            answer.call(str(call.get("index", at)), function.get("name"), function.get("arguments"))
