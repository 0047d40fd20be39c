"""The order of a stream's events: `ConverseStreamOutput` of botocore 1.44, and recorded streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.order import PASSED, Event, StreamOrder, is_json_object
from art_compliance.quoting import quote, show
from art_sdk.json_data import is_object

_KNOWN: Final = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)
_FAILED: Final = "Exception"


def _kind(event: Event) -> str:
    name = event.name or PASSED
    if name.endswith(_FAILED):
        return _FAILED
    return name if name in _KNOWN else PASSED


def _look(events: tuple[Event, ...]) -> Iterator[str]:
    """Blocks are numbered in order, one after the other, and each is filled by its own kind of deltas."""
    blocks: list[tuple[str, str]] = []
    is_open, stop = False, None
    for number, event in enumerate(events, 1):
        stop = event.body.get("stopReason", stop)
        if event.name is None or not event.name.startswith("contentBlock"):
            continue
        index = event.body.get("contentBlockIndex")
        if not is_open:
            blocks.append(("", ""))
        if index != len(blocks) - 1:
            yield f"event {number}: the block's index is {show(index)}; expected {len(blocks) - 1}"
        is_open = event.name != "contentBlockStop"
        yield from (f"event {number}: {fault}" for fault in _fill(blocks, event.body))
    for index, (kind, filled) in enumerate(blocks):
        if kind == "toolUse" and filled and stop != "max_tokens" and not is_json_object(filled):
            yield f"the input of block {index} is not a JSON object: {quote(filled)}"


def _fill(blocks: list[tuple[str, str]], body: dict[str, Any]) -> Iterator[str]:
    said: Any = body.get("start") or body.get("delta")
    if not is_object(said):
        return
    kind, (known, filled) = next(iter(said), ""), blocks[-1]
    if known and kind not in (known, "citation"):
        yield f"a delta of {kind} is not allowed in a block of {known}"
    piece = said[kind].get("input", "") if is_object(said.get(kind)) else ""
    blocks[-1] = (known or kind, filled + str(piece))


_IN_MESSAGE: Final = {
    "contentBlockStart": "in a block",
    "contentBlockDelta": "in a block",
    "messageStop": "stopped",
    _FAILED: "failed",
}

ORDER: Final = StreamOrder(
    kind=_kind,
    start="not begun",
    table={
        "not begun": {"messageStart": "between blocks", _FAILED: "failed"},
        "between blocks": _IN_MESSAGE,
        "in a block": {"contentBlockDelta": "in a block", "contentBlockStop": "between blocks", _FAILED: "failed"},
        "stopped": {"metadata": "ended", _FAILED: "failed"},
    },
    ends=frozenset({"ended", "failed"}),
    look=_look,
)
