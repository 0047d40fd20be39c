"""Which fields the objects of an answer have: the recorded ones, and the written ones.

A place is a JSON pointer with `*` for any index; in a stream, the kind of the event is before it. Objects that
differ by their content are told apart in brackets: `/content/*[text]` by the `type`, `/choices/*/message[tool_calls]`
by the field that carries the content.

After a change of the recorded traffic, `python compliance/tests/answer_shapes.py` writes `data/recent_answers.json`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import Struct

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.dialects.endpoints import ENDPOINTS
from art_compliance.dialects.urls import host_of, is_one_of
from recorded_traffic import SECOND_FOLDER, Recorded, listed_refusals, recorded_files

KEPT: Final = Path(__file__).parent / "data" / "recent_answers.json"
"""The shapes of recent answers, for where the recorded traffic is not."""

Found = Iterable[tuple[str, dict[str, Any]]]
"""Objects with their places."""


class Shape(Struct, frozen=True):
    """The objects at a place: how many there are, and the fields that all of them have, each with its JSON types."""

    count: int
    fields: dict[str, set[str]]


Shapes = dict[str, dict[str, Shape]]
"""By kind of answer and place."""


# What is recent.

SINCE: Final = 1_767_225_600
"""1 January 2026, in seconds since 1970."""


def _was_created_in_2026(answer: Mapping[str, Any]) -> bool:
    return int(answer.get("created") or 0) >= SINCE


class Recent(NamedTuple):
    """Which answers are recent, in words and as a function of an answer or of the first event of a stream."""

    words: str
    is_recent: Callable[[Mapping[str, Any]], bool]


_IN_2026: Final = Recent("created in 2026 or later", _was_created_in_2026)
RECENT: Final[Mapping[str, Recent]] = {
    "anthropic-messages": Recent(
        "with stop_details, the newest field of every answer; Anthropic's answers have no date",
        lambda answer: "stop_details" in answer.get("message", answer),
    ),
    "gemini-generate": Recent(
        "by a model of Gemini 3 or later; Gemini's answers have no date",
        lambda answer: str(answer.get("modelVersion")) >= "gemini-3",
    ),
    "openai-chat": _IN_2026,
    "mistral-chat": _IN_2026,
    "deepseek-chat": _IN_2026,
    "groq-chat": _IN_2026,
    "openrouter-chat": _IN_2026,
    "xai": _IN_2026,
    "ollama": _IN_2026,
}
"""By dialect or service, which answers are recent. Errors have neither date nor model: all of them count."""

_SERVICES: Final = {one.service: one for one in ENDPOINTS if one.service in RECENT}
SPOKEN: Final[Mapping[str, Dialect]] = DIALECTS | {name: one.spoken for name, one in _SERVICES.items()}
"""By dialect or service, the format as it is spoken there."""

_HOSTS: Final = (
    {name: SPOKEN[name].service.hosts for name in RECENT}
    | {name: (one.host or "",) for name, one in _SERVICES.items()}
    | {"gemini-generate": ("generativelanguage.googleapis.com",)}  # Vertex has fields of its own
)


# Objects and their places.

_CARRIERS: Final = (
    "functionCall",
    "thought",
    "thoughtSignature",
    "reasoning_content",
    "reasoning",
    "tool_calls",
    "content",
    "text",
)
"""Fields that carry the content of an object without a `type`; the first that is not empty names it."""

_OPEN: Final = frozenset({"input", "args"})
"""The arguments of a call, whose fields are those of its tool."""


def objects_in(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a JSON value, with its place."""
    if isinstance(value, dict):
        yield place, value
        for name, inner in value.items():
            if name not in _OPEN:
                yield from objects_in(inner, f"{place}/{name}{_content_of(inner)}")
    elif isinstance(value, list):
        for inner in value:
            yield from objects_in(inner, f"{place}/*{_content_of(inner)}")


def _content_of(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    kind = value.get("type")
    kind = kind if isinstance(kind, str) else next((name for name in _CARRIERS if value.get(name)), None)
    return f"[{kind}]" if kind else ""


def objects_of_stream(stream: bytes) -> list[tuple[str, dict[str, Any]]]:
    """Every object in the events of a stream."""
    return [found for event in events_of(stream) for found in objects_in(event, _kind_of_event(event))]


def events_of(stream: bytes) -> Iterator[dict[str, Any]]:
    """The events of a stream that hold a JSON object."""
    for line in stream.decode().splitlines():
        if line.startswith("data:") and line.removeprefix("data:").strip() != "[DONE]":
            yield json.loads(line.removeprefix("data:"))


def _kind_of_event(event: dict[str, Any]) -> str:
    """The `type` of an event, or what a chunk is for."""
    choices = event.get("choices", event.get("candidates"))
    if "type" in event or not choices:
        return str(event.get("type", "usage"))
    return "finish" if choices[0].get("finish_reason", choices[0].get("finishReason")) else "chunk"


def kind_of_answer(form: str, found: Found) -> str:
    """The kind of an answer: whole or streamed, text or calls, after reasoning or not."""
    calls = reasoning = False
    for place, one in found:
        calls |= place.endswith("[tool_use]") or bool(one.get("functionCall") or one.get("tool_calls"))
        reasoning |= place.endswith(("[thinking]", "[thinking_delta]")) or any(one.get(name) for name in _REASONING)
    return f"{form}, {'calls' if calls else 'text'}{' after reasoning' if reasoning else ''}"


_REASONING: Final = (
    "reasoning_content",
    "reasoning",
    "thought",
    "reasoning_tokens",
    "thinking_tokens",
    "thoughtsTokenCount",
)


def shapes_of(kinds: Iterable[tuple[str, Found]]) -> Shapes:
    """The fields that all objects at a place have, by kind of answer."""
    by_kind: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for kind, found in kinds:
        for place, one in found:
            by_kind[kind][place].append(one)
    return {
        kind: {place: _shape_of_all(objects) for place, objects in sorted(places.items())}
        for kind, places in sorted(by_kind.items())
    }


def _shape_of_all(objects: list[dict[str, Any]]) -> Shape:
    names = sorted(set[str].intersection(*map(set, objects)))
    return Shape(len(objects), {name: {_TYPES[type(one[name])] for one in objects} for name in names})


_TYPES: Final[Mapping[type, str]] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
}


# Recorded answers.


def recorded_shapes(dialect: str) -> Shapes:
    """The shapes of recent recorded answers of the provider itself, and of its errors."""
    return shapes_of(_recorded_kinds(dialect))


def _recorded_kinds(dialect: str) -> Iterator[tuple[str, Found]]:
    for one in (*recorded_files(), *recorded_files(SECOND_FOLDER)):
        if _is_of(one, dialect):
            yield from _kinds_of(one, RECENT[dialect].is_recent)
    for one in listed_refusals():
        if one.provider == dialect.partition("-")[0] and one.shape == _shape_of(dialect):
            yield f"error {one.status}", list(objects_in(one.data))


def _is_of(one: Recorded, dialect: str) -> bool:
    host = host_of(one.url)
    return one.shape == _shape_of(dialect) and host is not None and is_one_of(host, _HOSTS[dialect])


def _shape_of(dialect: str) -> str:
    return SPOKEN[dialect].service.shape or "chat_completions"


def _kinds_of(one: Recorded, is_recent: Callable[[Mapping[str, Any]], bool]) -> Iterator[tuple[str, Found]]:
    if one.status != 200 and isinstance(one.data, dict):
        yield f"error {one.status}", list(objects_in(one.data))
    elif isinstance(one.data, dict) and is_recent(one.data):
        found = list(objects_in(one.data))
        yield kind_of_answer("whole", found), found
    elif one.data is None and is_recent(next(events_of(one.answer), {})):
        found = objects_of_stream(one.answer)
        yield kind_of_answer("streamed", found), found


def load_kept() -> dict[str, Shapes]:
    """The kept shapes, by dialect."""
    return {
        dialect: {
            kind: {place: _parse_shape(text) for place, text in places.items()}
            for kind, places in entry["answers"].items()
        }
        for dialect, entry in json.loads(KEPT.read_text(encoding="utf-8")).items()
    }


def _parse_shape(text: str) -> Shape:
    count, _, fields = text.partition(": ")
    named = (field.partition(":") for field in fields.split())
    return Shape(int(count), {name: set(types.split("|")) for name, _, types in named})


def kept_form(shapes: Mapping[str, Shapes]) -> str:
    """The shapes as they are kept, each in a line: the number of objects, and their fields with their types."""
    kept = {
        dialect: {
            "recent": RECENT[dialect].words,
            "answers": {
                kind: {place: _kept_shape(shape) for place, shape in places.items()} for kind, places in kinds.items()
            },
        }
        for dialect, kinds in shapes.items()
    }
    return json.dumps(kept, indent=1) + "\n"


def _kept_shape(shape: Shape) -> str:
    fields = (f"{name}:{'|'.join(sorted(types))}" for name, types in shape.fields.items())
    return f"{shape.count}: {' '.join(fields)}"


if __name__ == "__main__":
    KEPT.write_text(kept_form({dialect: recorded_shapes(dialect) for dialect in RECENT}), encoding="utf-8")
