"""Other forms of Cohere's answers: a plan before calls, citations, two texts, and streams without an end mark.

Plans and citations are recorded; a stream without an end mark is inferred from docs.cohere.com/docs/streaming, where
`message-end` is the last event.
"""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.cohere_chat.streams import END_MARK
from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.variations import Events, Variation, in_halves, read_data

_PLAN: Final = "I will look at the place that was asked for."
_SOURCE: Final = "look_x9cnzmemn5h2:0"


def _change_message(body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**body, "message": {**body["message"], **fields}}


def _with_plan(body: dict[str, Any]) -> dict[str, Any]:
    return _change_message(body, tool_plan=_PLAN)


def _with_citation(body: dict[str, Any]) -> dict[str, Any]:
    cited = [one["text"] for one in body["message"].get("content", ()) if one["type"] == "text" and one["text"]]
    if not cited:
        return _change_message(body, citations=[_citation("")])
    return _change_message(body, citations=[_citation(cited[0][:4])])


def _citation(text: str) -> dict[str, Any]:
    sources = [{"type": "tool", "id": _SOURCE, "tool_output": {"roll": "1"}}]
    return {"start": 0, "end": len(text), "text": text, "sources": sources, "type": "TEXT_CONTENT"}


def _two_texts(body: dict[str, Any]) -> dict[str, Any]:
    contents: list[dict[str, Any]] = []
    for one in body["message"].get("content", ()):
        halves = in_halves(one["text"]) if one["type"] == "text" else ()
        contents += [{**one, "text": half} for half in halves] if halves and all(halves) else [one]
    return _change_message(body, content=contents) if contents else body


def _all_fields(body: dict[str, Any]) -> dict[str, Any]:
    """As older answers have them: fields without anything are null or empty."""
    empty: dict[str, Any] = {"content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    return {**body, "message": {**empty, **body["message"]}}


def _without_end_mark(events: Events) -> Events:
    return tuple(event for event in events if event != END_MARK)


def _empty_first(events: Events) -> Events:
    """An empty piece before each, as the events that begin a content or a call have."""
    return tuple(one for event in events for one in _with_empty(event))


def _with_empty(event: bytes) -> Events:
    data = read_data(event) or {}
    nothing = _NOTHING.get(data.get("type", ""))
    return (event,) if nothing is None else (data_frame({**data, "delta": nothing}, event=data["type"]), event)


def _begun_with_arguments(events: Events) -> Events:
    """A call begins with the first piece of its arguments: https://github.com/BerriAI/litellm/issues/25533."""
    changed: list[dict[str, Any]] = []
    for event in events:
        data = read_data(event)
        if data is None:
            continue
        begun = changed[-1] if data["type"] == "tool-call-delta" else None
        if begun is not None and begun["type"] == "tool-call-start" and not _arguments_in(begun):
            changed[-1] = _with_arguments(begun, _arguments_in(data))
        else:
            changed.append(data)
    return (*(data_frame(data, event=data["type"]) for data in changed), END_MARK)


def _arguments_in(data: dict[str, Any]) -> str:
    """The arguments, or the piece of them, in an event of a call."""
    return str(data["delta"]["message"]["tool_calls"]["function"]["arguments"])


def _with_arguments(data: dict[str, Any], arguments: str) -> dict[str, Any]:
    call = data["delta"]["message"]["tool_calls"]
    changed = {**call, "function": {**call["function"], "arguments": arguments}}
    return {**data, "delta": {**data["delta"], "message": {**data["delta"]["message"], "tool_calls": changed}}}


_NOTHING: Final[dict[str, Any]] = {
    "content-delta": {"message": {"content": {"text": ""}}},
    "tool-call-delta": {"message": {"tool_calls": {"function": {"arguments": ""}}}},
}

VARIATIONS: Final = (
    Variation(words="a plan before it", whole=_with_plan, goes_back=(_PLAN,)),
    Variation(words="a citation", whole=_with_citation, may_go_back=(_SOURCE,)),
    Variation(words="its text in two blocks", whole=_two_texts),
    Variation(words="every field of its message", whole=_all_fields),
    Variation(words="no end mark", events=_without_end_mark),
    Variation(words="an empty piece before each", events=_empty_first),
    Variation(
        words="the first piece of a call's arguments where it begins", events=_begun_with_arguments, may_fail=True
    ),
)
