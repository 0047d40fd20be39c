"""Writes streams of the Responses API: what `write_response` says, as events.

Source: streams recorded in 2026; the order of events is that of `ResponseStreamState` in openai 3.54.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from art_compliance.dialects.framing import change_data, data_frame, pieces
from art_compliance.dialects.openai_responses.answers import write_error, write_response
from art_compliance.dialects.variations import read_data
from art_compliance.scenarios import WrittenAnswer

UNKNOWN_EVENT: Final = data_frame({"type": "response.weather_report", "index": 7}, event="response.weather_report")
"""New types of events come with new tools: the official client passes on those that it does not know."""

_PENDING: Final[dict[str, Any]] = {
    "status": "in_progress",
    "completed_at": None,
    "incomplete_details": None,
    "output": [],
}

_PARTS: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "output_text": ("text", "response.output_text", {"logprobs": []}),
    "refusal": ("refusal", "response.refusal", {}),
    "reasoning_text": ("text", "response.reasoning_text", {}),
}
"""Per type of a content's part: where its text is, how its events begin, and what else they have."""


def write_stream(answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
    """A streamed answer. Raises CannotWrite as `write_response` does."""
    del payload
    return write_body(json.loads(write_response(answer)))


def write_body(body: dict[str, Any]) -> tuple[bytes, ...]:
    """The stream that says what this body says."""
    return _framed(_events(body))


def write_stream_error(status: int, message: str) -> bytes:
    """An error after the status 200: `ResponseErrorEvent`."""
    error = json.loads(write_error(status, message))["error"]
    said = {"code": error["code"] or error["type"], "message": message, "param": None}
    return data_frame({"type": "error", **said, "sequence_number": 0}, event="error")


def interleave_calls(events: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The events of the calls take turns: each has its item's index."""
    queues: dict[int, list[dict[str, Any]]] = {}
    before: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    calls: set[int] = set()
    for event in events:
        data = read_data(event) or {}
        if data.get("type") == "response.output_item.added" and data["item"]["type"] == "function_call":
            calls.add(data["output_index"])
        if data.get("output_index") in calls:
            queues.setdefault(data["output_index"], []).append(data)
        else:
            (after if queues else before).append(data)
    longest = max(map(len, queues.values()), default=0)
    mixed = [queue[at] for at in range(longest) for queue in queues.values() if at < len(queue)]
    return _framed([*before, *mixed, *after])


def number_again(events: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The events with their numbers in order."""
    return tuple(change_data(event, partial(_numbered, at)) for at, event in enumerate(events))


def _numbered(at: int, data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "sequence_number": at}


def _framed(events: Iterable[dict[str, Any]]) -> tuple[bytes, ...]:
    return tuple(
        data_frame({**event, "sequence_number": number}, event=event["type"]) for number, event in enumerate(events)
    )


def _events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**body, **_PENDING}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(body["output"]):
        yield {"type": "response.output_item.added", "item": _begun(item), "output_index": index}
        place = {"item_id": item["id"], "output_index": index} if "id" in item else {"output_index": index}
        yield from _content(item, place)
        yield {"type": "response.output_item.done", "item": item, "output_index": index}
    yield {"type": f"response.{body['status']}", "response": body}


_EMPTY: Final[dict[str, dict[str, Any]]] = {"message": {"content": []}, "function_call": {"arguments": ""}}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it begins: recorded reasoning has no status, and what is encrypted comes when it is done.

    Source of that: https://github.com/langchain-ai/langchain/pull/39635.
    """
    empty: dict[str, Any] = _EMPTY.get(item["type"], {})
    if item["type"] == "reasoning":
        empty = {name: [] for name in ("summary", "content") if name in item}
        empty |= {"encrypted_content": ""} if "encrypted_content" in item else {}
    status = {"status": "in_progress"} if "status" in item else {}
    return {**item, **status, **empty}


def _content(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match item["type"]:
        case "function_call":
            name, whole = "response.function_call_arguments", item["arguments"]
            for piece in pieces(whole):
                yield {"type": f"{name}.delta", "delta": piece, **place}
            yield {"type": f"{name}.done", "arguments": whole, "name": item["name"], **place}
        case "message" | "reasoning":
            for at, part in enumerate(item.get("summary", ())):
                yield from _summary(part, {**place, "summary_index": at})
            for at, part in enumerate(item.get("content") or ()):
                yield from _part(part, {**place, "content_index": at})
        case "web_search_call":
            for step in ("in_progress", "searching", "completed"):
                yield {"type": f"response.web_search_call.{step}", **place}
        case _:
            return


def _summary(part: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name = "response.reasoning_summary"
    yield {"type": f"{name}_part.added", "part": {**part, "text": ""}, **place}
    for piece in pieces(part["text"]):
        yield {"type": f"{name}_text.delta", "delta": piece, **place}
    yield {"type": f"{name}_text.done", "text": part["text"], **place}
    yield {"type": f"{name}_part.done", "part": part, **place}


def _part(part: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    field, name, more = _PARTS[part["type"]]
    yield {"type": "response.content_part.added", "part": {**part, field: ""}, **place}
    for piece in pieces(part[field]):
        yield {"type": f"{name}.delta", "delta": piece, **more, **place}
    yield {"type": f"{name}.done", field: part[field], **more, **place}
    yield {"type": "response.content_part.done", "part": part, **place}
