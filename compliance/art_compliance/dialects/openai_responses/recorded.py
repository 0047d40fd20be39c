"""What recorded answers of the Responses API say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.recorded import Recorded, TokenCounts, objects_of
from art_sdk.json_data import is_object

COUNTS: Final = TokenCounts(
    input=("/usage/input_tokens",),
    output=("/usage/output_tokens",),
    roots=("", "/response"),  # an event has the response one level down
)


def read_recorded(answer: Recorded, number: int, item: Mapping[str, Any]) -> None:
    """Reads a response, or an event of a stream."""
    del number
    for at, one in enumerate(objects_of(item.get("output"))):
        _read_item(answer, str(at), one)
    begun: Any = item.get("item")
    place, kind = _place(item, begun), item.get("type")
    if kind == "response.output_item.added" and is_object(begun) and begun.get("type") == "function_call":
        answer.call(place, begun.get("name"), begun.get("arguments"))
    elif kind == "response.function_call_arguments.delta":
        answer.call(place, None, item.get("delta"))
    elif kind in ("response.output_text.delta", "response.refusal.delta"):
        answer.say(f"{place}.{item.get('content_index')}", item.get("delta"))


def _place(event: Mapping[str, Any], item: Any) -> str:
    """Which item the event is about: its index, or its id, which is all that llama-server gives."""
    given = item.get("id") if is_object(item) else event.get("item_id")
    return str(event.get("output_index", given))


def _read_item(answer: Recorded, place: str, item: Mapping[str, Any]) -> None:
    if item.get("type") == "function_call":
        answer.call(place, item.get("name"), item.get("arguments"))
    elif item.get("type") == "message":
        for at, part in enumerate(objects_of(item.get("content"))):
            answer.say(f"{place}.{at}", part.get("text") or part.get("refusal"))
