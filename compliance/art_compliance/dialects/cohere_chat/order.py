"""The order of a message's events, by docs.cohere.com/docs/streaming and recorded streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.order import PASSED, Event, StreamOrder, is_json_object
from art_compliance.dialects.recorded import object_of
from art_compliance.pointers import look_up
from art_compliance.quoting import quote, show

_BETWEEN: Final[Mapping[str, str]] = {
    "tool-plan-delta": "between parts",
    "content-start": "in a content",
    "tool-call-start": "in a call",
    "citation-start": "in a citation",
    "message-end": "closing",
}
_CONTENT: Final[Mapping[str, str]] = {
    "content-delta": "in a content",
    "citation-start": "in a citation of a content",
    "content-end": "between parts",
    "message-end": "closing",  # where the answer is cut short
}
_CALL: Final[Mapping[str, str]] = {
    "tool-call-delta": "in a call",
    "tool-call-end": "between parts",
    "message-end": "closing",
}


def _kind(event: Event) -> str:
    if event.data == "[DONE]":
        return "[DONE]"
    kind = event.body.get("type")
    if kind == "message-end" and object_of(event.body.get("delta")).get("error"):
        return "an error"
    return kind if isinstance(kind, str) and kind in _KINDS else PASSED


def _look(events: tuple[Event, ...]) -> Iterator[str]:
    """Names and types agree, parts of a kind are numbered in order, and a message that ends well has whole parts."""
    begun = {"content": -1, "tool-call": -1}
    arguments: list[str] = []
    is_open, reason = False, None
    for number, event in enumerate(events, 1):
        body, kind = event.body, str(event.body.get("type"))
        if event.body and event.name != body.get("type"):
            yield f"event {number}: its name is {show(event.name)} and its type {show(body.get('type'))}"
        part, _, step = kind.rpartition("-")
        if part in begun:
            begun[part] += step == "start"
            is_open = step != "end"
            if body.get("index") != begun[part]:
                yield f"event {number}: the index is {show(body.get('index'))}; expected {begun[part]}"
        if part == "tool-call":
            _add(arguments, step, body)
        if kind == "message-end":
            reason = object_of(body.get("delta")).get("finish_reason")
    if is_open and reason not in _CUT:
        yield f"the message ends with {show(reason)} before its last part ends"
    for at, text in enumerate(arguments):
        if reason not in _CUT and text and not is_json_object(text):
            yield f"the arguments of call {at} are not a JSON object: {quote(text)}"


_CUT: Final = ("MAX_TOKENS", "ERROR", "TIMEOUT")


def _add(arguments: list[str], step: str, body: dict[str, Any]) -> None:
    piece = look_up(body, "/delta/message/tool_calls/function/arguments")
    if step == "start":
        arguments.append("")
    if arguments and isinstance(piece, str):
        arguments[-1] += piece


_TABLE: Final[Mapping[str, Mapping[str, str]]] = {
    "not begun": {"message-start": "between parts"},
    "between parts": _BETWEEN,
    "in a content": _CONTENT,
    "in a call": _CALL,
    "in a citation": {"citation-end": "between parts"},
    "in a citation of a content": {"citation-end": "in a content"},
    "closing": {"[DONE]": "ended"},
}
_KINDS: Final = frozenset(kind for row in _TABLE.values() for kind in row)
_OR_AN_ERROR: Final = {state: {**row, "an error": "failed"} for state, row in _TABLE.items()}

ORDER: Final = StreamOrder(
    kind=_kind,
    start="not begun",
    table=_OR_AN_ERROR,
    ends=frozenset({"ended", "failed"}),
    look=_look,
)
