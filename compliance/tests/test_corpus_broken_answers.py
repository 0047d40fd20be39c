"""Recorded answers that are broken in every place become errors, never empty successes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from art_sdk import (
    EndEvent,
)
from recorded_readings import ending, parent_of, places, read_answer, whole_answers, without
from recorded_traffic import (
    READERS,
    Recorded,
    needs_traffic,
    params,
    reader_of,
)
from row_tables import table

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

each = pytest.mark.parametrize("one", params(whole_answers()))


def retyped(value: Any) -> Any:
    """A value of another type, as empty as can be where that is what a careless reader takes for nothing."""
    match value:
        case str():
            return 7
        case dict():
            return []
        case list():
            return {}
        case _:
            return "x"


def mutants(data: Any) -> Iterator[tuple[str, bytes]]:
    """The answer with one place removed, nulled or of another type, for each place."""
    for path in places(data):
        where = f"/{'/'.join(map(str, path))}"
        value = parent_of(data, path)[path[-1]]
        yield f"{where} removed", json.dumps(without(data, path)).encode()
        for how, other in (("null", None), ("retyped", retyped(value))):
            whole = copy.deepcopy(data)
            parent_of(whole, path)[path[-1]] = other
            yield f"{where} {how}", json.dumps(whole).encode()


def is_empty_success(end: EndEvent) -> bool:
    message = end.message
    says_nothing = message is None or not (message.content or message.tool_calls)
    return end.finish in {"stop", "tool_calls"} and says_nothing


EMPTY_BY_RIGHT = {
    "chat_completions": r"/choices/0/message/content (removed|null)",  # recorded at OpenRouter: null, with stop
    # protobuf's JSON leaves out what is empty, and a part may have nothing but a thoughtSignature: recorded
    "gemini_generate": r"/candidates/0/content(/parts(/0(/text|/functionCall)?)?)? (removed|null)",
    "ollama_chat": r"/message/content (removed|null)",  # left out where it is empty: Go's `omitempty`, inferred
    "responses": r"/output/\d+(/content/\d+)? removed",
    "bedrock_converse": r"/output/message/content/\d+ removed",  # blocks are not counted
    "cohere_v2_chat": r"/message/content(/\d+)? (removed|null)",  # a message has only the parts that it has
    "anthropic_messages": r"/content/\d+ removed",  # recorded: an empty content, with end_turn
}
"""What is left then is an empty answer, as the provider itself writes one."""


@each
def test_an_answer_with_one_place_broken_is_never_an_empty_success(one: Recorded):
    if is_empty_success(ending(read_answer(reader_of(one), one.answer))):
        return
    silent = [where for where, body in mutants(one.data) if is_empty_success(ending(read_answer(reader_of(one), body)))]
    assert [where for where in silent if not re.fullmatch(EMPTY_BY_RIGHT.get(one.shape, "-"), where)] == []


@each
def test_an_answer_cut_short_is_an_error(one: Recorded):
    body = one.answer
    for tenth in range(10):
        assert ending(read_answer(reader_of(one), body[: len(body) * tenth // 10])).finish == "error"


@each
def test_bytes_that_are_not_utf8_never_become_text(one: Recorded):
    body = one.answer
    for tenth in range(11):
        at = len(body) * tenth // 10
        end = ending(read_answer(reader_of(one), body[:at] + b"\xff" + body[at:]))
        assert end.message is None or "\ufffd" not in (end.message.content or "")


PADDING = 10_000_000


@needs_traffic
@pytest.mark.parametrize("shape", EMPTY_BY_RIGHT)
def test_ten_megabytes_around_and_inside_an_answer_change_nothing(shape: str):
    one = whole_answers([shape])[0]
    wanted = ending(read_answer(READERS[shape], one.answer))
    blank = b" " * PADDING
    more = json.dumps({**one.data, "padding": "x" * PADDING}).encode()
    for body in (blank + one.answer, one.answer + blank, more):
        assert ending(read_answer(READERS[shape], body)) == wanted


NO_ANSWER = {
    "nothing": b"",
    "HTML": b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>",
    "blanks": b" " * PADDING,
    "null": b"null",
    "an empty object": b"{}",
    "an empty list": b"[]",
}


@pytest.mark.parametrize("body", NO_ANSWER.values(), ids=NO_ANSWER)
@table("shape", READERS)
def test_a_body_that_is_not_an_answer_is_an_error(shape: str, body: bytes):
    assert ending(read_answer(READERS[shape], body)).finish == "error"
