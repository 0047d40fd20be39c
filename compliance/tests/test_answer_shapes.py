"""Written answers have every field that all recent recorded answers of their kind have.

What is recent, `answer_shapes` says. The fields are kept, with the number of recorded objects, in
`data/recent_answers.json`, so that this holds without the recorded traffic too.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from answer_shapes import (
    KEPT,
    RECENT,
    SPOKEN,
    Found,
    Shape,
    Shapes,
    kept_form,
    kind_of_answer,
    load_kept,
    objects_in,
    objects_of_stream,
    recorded_shapes,
    shapes_of,
)
from art_compliance.dialects import CannotWrite
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall
from recorded_traffic import needs_traffic
from row_tables import table

CALLS = (ToolCall("c1", FunctionCall("look", '{"at":1}')),)
SAID = (
    WrittenAnswer(content="said in pieces", input_tokens=70, output_tokens=9),
    WrittenAnswer(content="", finish="length", input_tokens=70, output_tokens=9),
    WrittenAnswer(content="said", tool_calls=CALLS, finish="tool_calls", input_tokens=70, output_tokens=9),
    WrittenAnswer(tool_calls=CALLS, finish="tool_calls", input_tokens=70, output_tokens=9),
)
SHOWN = {"thinking": "Hm. So", "thinking_tokens": 4}
SIGNED = {"signature": "c2ln", "thinking_tokens": 4}
THOUGHTS: dict[str, tuple[dict[str, Any], ...]] = {
    "anthropic-messages": (SHOWN | SIGNED,),
    "gemini-generate": (SHOWN | SIGNED, SIGNED),
    "openai-chat": ({"thinking_tokens": 4},),
    "mistral-chat": (SHOWN,),
    "deepseek-chat": (SHOWN,),
    "groq-chat": (SHOWN,),
    "openrouter-chat": (SHOWN | SIGNED, {"signature": "c2ln"}),
    "xai": (SHOWN,),
    "ollama": (SHOWN,),
}
"""By dialect, how an answer shows that its model reasoned."""

UNWRITTEN = {
    "gemini-generate": {
        r".*/(toolCall|toolResponse|toolUsePromptTokensDetails|groundingMetadata)\b.*": "a tool that Google runs",
        r"finish/candidates/\*\[content\]/content/parts/\*\[functionCall\]/.*": "one stream; six end with a text",
        r"/error/details\b.*": "of an unknown key or a quota; refusals of a body have none",
    },
    "groq-chat": {
        r"/choices/\*/message\[tool_calls\]/content": "calls alone have none, as recorded after reasoning",
        r"/error\[invalid_request_error\]/(code|failed_generation)": "what the model called wrongly",
        r"usage/error\b.*": "the same in a stream",
    },
    "mistral-chat": {r".*/tool_calls/\*/.*": "calls without their type, until February 2026"},
    "openai-chat": {r"/error\[test_error\]/.*": "an error that somebody wrote for a test"},
    "openrouter-chat": {r"/error/metadata\b.*": "what the provider behind OpenRouter said"},
}
"""By dialect, fields that recent answers have and written ones do not, with the reason."""


def written_kinds(dialect: str) -> Iterator[tuple[str, Found]]:
    """Every kind of answer that the dialect writes, with its objects."""
    answers, streams = SPOKEN[dialect].answers, SPOKEN[dialect].streams
    for said in (replace(plain, **thought) for plain in SAID for thought in ({}, *THOUGHTS[dialect])):
        try:
            whole = list(objects_in(json.loads(answers.write(said))))
            stream = objects_of_stream(b"".join(streams.write(said)))
        except CannotWrite:
            continue
        yield kind_of_answer("whole", whole), whole
        yield kind_of_answer("streamed", stream), stream
    for status in (400, 401, 404, 429):
        yield f"error {status}", list(objects_in(json.loads(answers.write_error(status, "no"))))


ROWS = [
    pytest.param(dialect, kind, places, id=f"{dialect}-{kind}")
    for dialect, kinds in load_kept().items()
    for kind, places in kinds.items()
]


@table(("dialect", "kind", "places"), ROWS)
def test_a_written_answer_has_the_fields_of_all_recent_recorded_ones(dialect: str, kind: str, places: dict[str, Shape]):
    ours = shapes_of(written_kinds(dialect)).get(kind, {})
    missing = [
        f"{place}/{field}"
        for place, shape in places.items()
        for field in shape.fields
        if place not in ours or field not in ours[place].fields
    ]
    known = UNWRITTEN.get(dialect, {})
    assert [field for field in missing if not any(re.fullmatch(one, field) for one in known)] == []


def types_in(shapes: Shapes) -> dict[str, set[str]]:
    """The JSON types of each field, whatever kind of content its object has, and whether streamed or not."""
    found: dict[str, set[str]] = defaultdict(set)
    for places in shapes.values():
        for place, shape in places.items():
            path = re.sub(r"\[[^\]]*\]|^(chunk|finish)(?=/)", "", place).replace("/message", "/delta")
            for name, types in shape.fields.items():
                found[f"{path}/{name}"] |= types
    return found


@pytest.mark.parametrize("dialect", RECENT)
def test_the_fields_of_written_answers_have_the_types_of_recorded_ones(dialect: str):
    recorded, ours = types_in(load_kept()[dialect]), types_in(shapes_of(written_kinds(dialect)))
    wrong = {name: ours[name] - types for name, types in recorded.items() if not ours[name] <= types}
    assert wrong == {}


@pytest.mark.parametrize("dialect", UNWRITTEN)
def test_every_exception_is_about_a_recorded_field(dialect: str):
    recorded = [
        f"{place}/{field}"
        for places in load_kept()[dialect].values()
        for place, shape in places.items()
        for field in shape.fields
    ]
    for known in UNWRITTEN[dialect]:
        assert any(re.fullmatch(known, field) for field in recorded), known


@needs_traffic
@pytest.mark.once
def test_the_kept_fields_are_those_of_the_recorded_answers():
    assert kept_form({dialect: recorded_shapes(dialect) for dialect in RECENT}) == KEPT.read_text(encoding="utf-8")
