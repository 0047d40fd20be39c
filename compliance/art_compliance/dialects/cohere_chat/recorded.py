"""What Cohere's recorded answers say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.recorded import Recorded, TokenCounts, objects_of
from art_sdk.json_data import is_object

COUNTS: Final = TokenCounts(
    input=("/usage/tokens/input_tokens",), output=("/usage/tokens/output_tokens",), roots=("", "/delta")
)


def read_recorded(answer: Recorded, number: int, item: Mapping[str, Any]) -> None:
    """Reads an answer, or an event of a stream, whose `delta` has a piece of the message."""
    del number
    delta: Any = item.get("delta")
    message: Any = (delta if is_object(delta) else item).get("message")
    if not is_object(message):
        return
    place = str(item.get("index", 0))
    contents: Any = message.get("content")
    for at, content in enumerate(objects_of(contents)):
        answer.say(f"content {at}", content.get("text"))
    if is_object(contents):
        answer.say(f"content {place}", contents.get("text"))
    calls: Any = message.get("tool_calls")
    for at, call in enumerate(objects_of(calls)):
        _read_call(answer, f"call {at}", call)
    if is_object(calls):
        _read_call(answer, f"call {place}", calls)


def _read_call(answer: Recorded, place: str, call: Mapping[str, Any]) -> None:
    function: Any = call.get("function")
    if is_object(function):
        answer.call(place, function.get("name"), function.get("arguments"))
