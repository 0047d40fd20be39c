"""What Bedrock's recorded answers say. An event of a stream is an object whose only name is its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.bedrock_converse.decode import is_servers
from art_compliance.dialects.recorded import Recorded, TokenCounts, object_of, objects_of
from art_sdk.json_data import is_object

COUNTS: Final = TokenCounts(
    input=("/usage/inputTokens", "/usage/cacheReadInputTokens", "/usage/cacheWriteInputTokens"),
    output=("/usage/outputTokens",),
    roots=("", "/metadata"),
)


def read_recorded(answer: Recorded, number: int, item: Mapping[str, Any]) -> None:
    """Reads an answer, or an event of a stream."""
    del number
    message = object_of(object_of(item.get("output")).get("message"))
    for at, block in enumerate(objects_of(message.get("content"))):
        _read_block(answer, str(at), block)
    for name in ("contentBlockStart", "contentBlockDelta"):
        event = object_of(item.get(name))
        said = object_of(event.get("start") or event.get("delta"))
        _read_block(answer, str(event.get("contentBlockIndex")), said)


def _read_block(answer: Recorded, place: str, block: Mapping[str, Any]) -> None:
    """A block, the start of one, or a delta. Calls that Bedrock carries out itself are none of the answer's."""
    answer.say(place, block.get("text"))
    for part in objects_of(object_of(block.get("citationsContent")).get("content")):
        answer.say(place, part.get("text"))
    use = block.get("toolUse")
    if is_object(use) and not is_servers(use) and ("name" in use or place in answer.calls):
        answer.call(place, use.get("name"), use.get("input"))
