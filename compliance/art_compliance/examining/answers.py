"""What is wrong with a server's answers: whole, streamed, and those that refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.cassettes.bodies import stream_items
from art_compliance.dialects import Dialect
from art_compliance.dialects.recorded import Recorded, object_of
from art_compliance.examining.asking import Got
from art_compliance.findings import Problem
from art_compliance.judging.wire import judge_answer
from art_compliance.quoting import shorten, show
from art_sdk.json_data import is_object

_MOST: Final = 5
"""Findings about one answer that are reported."""


def wrong_answer(dialect: Dialect, got: Got) -> Iterator[Problem]:
    """What is wrong with a whole answer: its content type, its fields, and that it says something."""
    if got.kind != "application/json":
        yield Problem(f"the content type is {show(got.content_type)}; it must be application/json")
    body = _object_of(got)
    if body is None:
        yield Problem(f"the body is not a JSON object: {_shown(got)}")
        return
    yield from _mismatches(f"{dialect.name}.answer", body)
    recorded = Recorded()
    dialect.answers.read(recorded, 0, body)
    yield from _says_nothing(recorded)


def wrong_stream(dialect: Dialect, got: Got) -> Iterator[Problem]:
    """What is wrong with a streamed answer: its content type, the order and the fields of its events, and its end."""
    if got.kind != dialect.streams.content_type:
        yield Problem(f"the content type is {show(got.content_type)}; it must be {dialect.streams.content_type}")
        return
    yield from (Problem(words) for words in dialect.streams.order.judge(got.body)[:_MOST])
    recorded, reported = Recorded(), set[tuple[str, str]]()
    for number, event in enumerate(stream_items(got.body), 1):
        dialect.answers.read(recorded, number, object_of(event))
        for problem in _mismatches(f"{dialect.name}.stream", event):
            if (key := (problem.message, problem.pointer or "")) not in reported and len(reported) < _MOST:
                reported.add(key)
                yield problem.after(f"event {number}: ")
    yield from _says_nothing(recorded)


def wrong_error(dialect: Dialect, got: Got) -> Iterator[Problem]:
    """What an error answer lacks of the fields that the provider's own one has, with words of its own in them."""
    body = _object_of(got)
    if body is None:
        yield Problem(f"answered {got.status}, and the body is not a JSON object: {_shown(got)}")
        return
    words = "the words"
    for pointer, value in _fields(json.loads(dialect.answers.write_error(got.status, words))):
        found = _at(body, pointer)
        if not isinstance(found, type(value)) or found == "":
            what = "the error's message" if value == words else f"a {_NAMES[type(value)]}"
            yield Problem(f"answered {got.status}; the error has {show(found)}, expected {what}", pointer=pointer)


_NAMES: Final[dict[type, str]] = {str: "text", int: "number", bool: "boolean"}


def _object_of(got: Got) -> dict[str, Any] | None:
    try:
        body: Any = json.loads(got.body)
    except (ValueError, RecursionError):
        return None
    return body if is_object(body) else None


def _shown(got: Got) -> str:
    return f"{shorten(got.body[:500].decode('utf-8', 'replace'))} ({got.content_type or 'no content type'})"


def _mismatches(schema: str, value: Any) -> Iterator[Problem]:
    yield from (Problem(one.message, pointer=one.pointer) for one in judge_answer(schema, value)[:_MOST])


def _says_nothing(recorded: Recorded) -> Iterator[Problem]:
    if not recorded.texts and not recorded.calls:
        yield Problem("it has neither a text nor a call", finding_class="loss")


def _fields(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of the provider's own error. Those that are null, or lists, are of one cause or another."""
    if is_object(value):
        for name, inner in value.items():
            yield from _fields(inner, f"{pointer}/{name}")
    elif isinstance(value, str | int):
        yield pointer, value


def _at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        value = value.get(step) if is_object(value) else None
    return value
