"""The order of a response's events, as `ResponseStreamState` in openai 3.54 demands and recordings have it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.order import PASSED, Event, StreamOrder, is_json_object
from art_compliance.dialects.recorded import object_of
from art_compliance.quoting import quote, show
from art_sdk.json_data import is_object

_LIFECYCLE: Final = ("created", "queued", "in_progress", "completed", "incomplete", "failed")
_CONTENT: Final = (
    "output_item",
    "content_part",
    "output_text",
    "refusal",
    "function_call_arguments",
    "reasoning_summary_part",
    "reasoning_summary_text",
    "reasoning_text",
    "reasoning",
)
_WHOLE: Final = {
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
    "response.reasoning_text.done": "text",
    "response.reasoning_summary_text.done": "text",
    "response.reasoning.done": "text",
    "response.function_call_arguments.done": "arguments",
}


def _kind(event: Event) -> str:
    kind = str(event.body.get("type"))
    if kind == "error" or is_object(event.body.get("error")):
        return "error"
    head, _, rest = kind.partition(".")
    name = rest.partition(".")[0]
    if head != "response" or name not in (*_LIFECYCLE, *_CONTENT):
        return PASSED
    return "output" if name in _CONTENT else name


class _Look:
    """Items begin in order, hold their pieces, and end with what the pieces said."""

    def __init__(self) -> None:
        self.number = -1
        self.open: dict[int, dict[str, Any]] = {}
        self.count = 0
        self.said: dict[tuple[str, ...], str] = {}

    def take(self, event: Event) -> Iterator[str]:
        body = event.body
        kind = str(body.get("type"))
        if event.name not in (None, kind):  # OpenRouter's events have no name: recorded
            yield f"its name is {show(event.name)} and its type {show(kind)}"
        yield from self._count_on(body)
        if _kind(event) != "output":
            return
        index = body.get("output_index")
        if kind == "response.output_item.added":
            if index != self.count:
                yield f"the item's index is {show(index)} after {self.count} items"
            self.open[self.count] = object_of(body.get("item"))
            self.count += 1
        elif not isinstance(index, int) or index not in self.open:
            yield f"the item {show(index)} is not open"
        elif kind == "response.output_item.done":
            yield from self._end(self.open.pop(index), object_of(body.get("item")))
        else:
            yield from self._piece(kind, body)

    def _count_on(self, body: dict[str, Any]) -> Iterator[str]:
        number = body.get("sequence_number")
        if isinstance(number, int):
            if number != self.number + 1:
                yield f"its sequence_number is {number} after {self.number}"
            self.number = number

    def _piece(self, kind: str, body: dict[str, Any]) -> Iterator[str]:
        name = kind.rpartition(".")[0]
        place = (name, *(str(body.get(index)) for index in ("output_index", "content_index", "summary_index")))
        if kind.endswith(".delta"):
            self.said[place] = self.said.get(place, "") + str(body.get("delta"))
        elif kind in _WHOLE and body.get(_WHOLE[kind]) != self.said.get(place, ""):
            yield f"{kind} has {quote(str(body.get(_WHOLE[kind])))}, its pieces {quote(self.said.get(place, ''))}"

    def _end(self, begun: dict[str, Any], item: dict[str, Any]) -> Iterator[str]:
        if begun.get("type") != item.get("type") or begun.get("call_id") != item.get("call_id"):
            yield "the item ends as another one"
        arguments = item.get("arguments")
        if isinstance(arguments, str) and item.get("status") != "incomplete" and not is_json_object(arguments):
            yield f"the arguments of the call {show(item.get('call_id'))} are not a JSON object: {quote(arguments)}"


def _look(events: tuple[Event, ...]) -> Iterator[str]:
    look = _Look()
    for number, event in enumerate(events, 1):
        yield from (f"event {number}: {fault}" for fault in look.take(event))
    if look.open and any(_kind(event) == "completed" for event in events):
        yield f"{len(look.open)} items are not done"


_OPEN: Final = {
    "queued": "open",
    "in_progress": "open",
    "output": "open",
    "completed": "ended",
    "incomplete": "ended",
    "failed": "ended",
    "error": "failed",
}

ORDER: Final = StreamOrder(
    kind=_kind,
    start="not begun",
    table={"not begun": {"created": "open", "error": "failed"}, "open": _OPEN},
    ends=frozenset({"ended", "failed"}),
    look=_look,
)
