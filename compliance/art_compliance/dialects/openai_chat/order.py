"""The order of a chat completion's chunks, OpenAI's and those recorded of its relatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.order import PASSED, Event, StreamOrder, is_json_object
from art_compliance.dialects.ruling import Place, child, objects
from art_compliance.quoting import quote, show
from art_sdk.json_data import is_object

_DONE: Final = "[DONE]"


def _kind(event: Event) -> str:
    if event.data == _DONE:
        return "the end mark"
    if is_object(event.body.get("error")) or event.body.get("object") == "error":  # the second is Mistral's
        return "an error"
    if event.body.get("object") != "chat.completion.chunk":
        return PASSED
    choices = tuple(objects(Place(event.body), "choices"))
    if not choices:
        return "usage" if event.body.get("usage") else PASSED
    return "finish" if choices[0].value.get("finish_reason") else "a delta"


def _look(events: tuple[Event, ...]) -> Iterator[str]:
    """Each call begins with its id and name, keeps them, and follows the call before it."""
    calls: list[dict[str, str]] = []
    was_cut = False
    for number, event in enumerate(events, 1):
        for choice in objects(Place(event.body), "choices"):
            was_cut = was_cut or choice.value.get("finish_reason") == "length"
            for piece in objects(child(choice, "delta"), "tool_calls"):
                yield from (f"event {number}: {fault}" for fault in _take(calls, piece.value))
    for index, call in enumerate(calls):
        if not was_cut and call["arguments"] and not is_json_object(call["arguments"]):
            yield f"the arguments of call {index} are not a JSON object: {quote(call['arguments'])}"


def _take(calls: list[dict[str, str]], piece: dict[str, Any]) -> Iterator[str]:
    index, function = piece.get("index"), piece.get("function")
    fields: dict[str, Any] = function if is_object(function) else {}
    known, name = piece.get("id"), fields.get("name")
    if not isinstance(index, int) or index > len(calls) or index < 0:
        yield f"a call has the index {show(index)} after {len(calls)} calls"
        return
    if index == len(calls):
        if not known or not name:
            yield f"call {index} begins without its id and name"
        calls.append({"id": str(known), "name": str(name), "arguments": ""})
    elif known and known != calls[index]["id"]:
        yield f"call {index} changes its id"
    elif index < len(calls) - 1:
        yield f"call {index} continues after call {len(calls) - 1} has begun"
    calls[index]["arguments"] += str(fields.get("arguments") or "")


ORDER: Final = StreamOrder(
    kind=_kind,
    start="open",
    table={
        "open": {"a delta": "open", "usage": "open", "finish": "finished", "an error": "failed"},
        "finished": {"finish": "finished", "usage": "finished", "the end mark": "ended", "an error": "failed"},
        "failed": {"the end mark": "ended"},
    },
    ends=frozenset({"ended", "failed"}),
    look=_look,
)
