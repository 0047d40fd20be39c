"""What Anthropic's recorded answers say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.recorded import Recorded, TokenCounts, object_of, objects_of
from art_sdk.json_data import is_object

COUNTS: Final = TokenCounts(
    input=("/usage/input_tokens", "/usage/cache_creation_input_tokens", "/usage/cache_read_input_tokens"),
    output=("/usage/output_tokens",),
    roots=("", "/message"),  # the first event has the message one level down
)


def read_recorded(answer: Recorded, number: int, item: Mapping[str, Any]) -> None:
    """Reads a message, or an event of a stream."""
    del number
    for at, block in enumerate(objects_of(item.get("content"))):
        _read_block(answer, str(at), block)
    place = str(item.get("index"))
    if is_object(item.get("content_block")):
        _read_block(answer, place, item["content_block"])
    delta = object_of(item.get("delta"))
    answer.say(place, delta.get("text"))
    if "partial_json" in delta and place in answer.calls:
        answer.call(place, None, delta["partial_json"])


def _read_block(answer: Recorded, place: str, block: Mapping[str, Any]) -> None:
    answer.say(place, block.get("text"))
    if block.get("type") == "tool_use":
        answer.call(place, block.get("name"), block.get("input"))
