"""Other forms of Ollama's answers: fields that it leaves out, and lines that it joins or splits."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.framing import json_line
from art_compliance.dialects.variations import Events, Variation, read_data


def _change_message(body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    message = {name: value for name, value in {**body["message"], **fields}.items() if value is not None}
    return {**body, "message": message}


def _without_content(body: dict[str, Any]) -> dict[str, Any]:
    return body if body["message"]["content"] else _change_message(body, content=None)


def _without_indexes(body: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {**call, "function": {name: value for name, value in call["function"].items() if name != "index"}}
        for call in body["message"].get("tool_calls", ())
    ]
    return _change_message(body, tool_calls=calls or None)


def _in_one(events: Events) -> Events:
    """All pieces in the last line: thinking, text and calls in one message."""
    lines = [line for event in events if (line := read_data(event)) is not None]
    messages = [line["message"] for line in lines]
    whole = {
        "content": "".join(message.get("content", "") for message in messages),
        "thinking": "".join(message.get("thinking", "") for message in messages) or None,
        "tool_calls": [call for message in messages for call in message.get("tool_calls", ())] or None,
    }
    return (json_line(_change_message(lines[-1], **whole)),)


def _letters(events: Events) -> Events:
    """Each letter in a line of its own, and a line without anything before it, as those of calls have."""
    return tuple(json_line(one) for event in events for one in _spelled(read_data(event) or {}))


def _spelled(line: dict[str, Any]) -> list[dict[str, Any]]:
    message = line["message"]
    if line["done"] or message.keys() != {"role", "content"}:
        return [line]
    return [_change_message(line, content=text) for letter in message["content"] for text in ("", letter)]


VARIATIONS: Final = (
    Variation(words="its message without an empty content", whole=_without_content),
    Variation(words="calls without an index, as servers before 2025 wrote them", whole=_without_indexes),
    Variation(words="all of its pieces in the line that ends it", events=_in_one),
    Variation(words="one letter per line, and lines without anything", events=_letters),
)
