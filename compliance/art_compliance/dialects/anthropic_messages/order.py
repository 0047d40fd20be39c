"""The order of a message's events, according to Anthropic's documentation of streaming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.order import PASSED, Event, StreamOrder, is_json_object
from art_compliance.dialects.recorded import object_of
from art_compliance.quoting import quote, show
from art_sdk.json_data import is_object

_DELTAS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"text_delta", "citations_delta"}),
    "thinking": frozenset({"thinking_delta", "signature_delta"}),
    "tool_use": frozenset({"input_json_delta"}),
    "server_tool_use": frozenset({"input_json_delta"}),
}
"""The deltas that each kind of block allows; other kinds of blocks allow any."""

_MESSAGE: Final = ("message_start", "message_delta", "message_stop", "error")
_BLOCK: Final = ("content_block_start", "content_block_delta", "content_block_stop")


def _kind(event: Event) -> str:
    kind = event.body.get("type")
    return kind if kind in (*_MESSAGE, *_BLOCK) else PASSED


def _look(events: tuple[Event, ...]) -> Iterator[str]:
    """Names and types agree, blocks are numbered in order, and each is filled by its own kind of deltas."""
    blocks: list[tuple[str, str]] = []
    stop: Any = None
    for number, event in enumerate(events, 1):
        if event.name != event.body.get("type"):
            yield f"event {number}: its name is {show(event.name)} and its type {show(event.body.get('type'))}"
        if _kind(event) in _BLOCK:
            yield from (f"event {number}: {fault}" for fault in _take(blocks, event.body))
        if event.body.get("type") == "message_delta":
            stop = object_of(event.body.get("delta")).get("stop_reason")
    for index, (kind, filled) in enumerate(blocks):
        if kind == "tool_use" and filled and stop != "max_tokens" and not is_json_object(filled):
            yield f"the input of block {index} is not a JSON object: {quote(filled)}"


def _take(blocks: list[tuple[str, str]], body: dict[str, Any]) -> Iterator[str]:
    block, delta = body.get("content_block"), body.get("delta")
    if is_object(block):
        blocks.append((str(block.get("type")), ""))
    if not blocks or body.get("index") != len(blocks) - 1:
        yield f"the block's index is {show(body.get('index'))}; blocks begun so far: {len(blocks)}"
        return
    if is_object(delta):
        (kind, filled), given = blocks[-1], str(delta.get("type"))
        if given not in _DELTAS.get(kind, (given,)):
            yield f"{given} is not allowed in a block of {kind}"
        blocks[-1] = (kind, filled + str(delta.get("partial_json", "")))


ORDER: Final = StreamOrder(
    kind=_kind,
    start="not begun",
    table={
        "not begun": {"message_start": "between blocks", "error": "failed"},
        "between blocks": {"content_block_start": "in a block", "message_delta": "closing", "error": "failed"},
        "in a block": {"content_block_delta": "in a block", "content_block_stop": "between blocks", "error": "failed"},
        "closing": {"message_delta": "closing", "message_stop": "ended", "error": "failed"},
    },
    ends=frozenset({"ended", "failed"}),
    look=_look,
)
