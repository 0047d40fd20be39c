"""The strategies make what they promise: valid prompts, prompts broken as named, fitting arguments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from art_compliance.generating.requests import FAMILIES
from art_compliance.generating.searching import make_requests
from art_compliance.generating.shrinking import shrink
from art_compliance.generating.strategies.schemas import FORMATS
from art_compliance.strategies import (
    BREAKS,
    FLAVORS,
    arguments_for,
    blank_texts,
    broken_prompts,
    chunkings,
    fault_schedules,
    options,
    prompts,
    requests,
    texts,
    tool_schemas,
    tools,
)
from art_sdk import parse_options, parse_prompt
from art_sdk.conversation import argument_faults, read_conversation

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

QUIET = list(HealthCheck)
WITHOUT_EXPLAINING = (Phase.generate, Phase.shrink)
healthy = settings(max_examples=30, derandomize=True, deadline=None, database=None, phases=WITHOUT_EXPLAINING)
few = settings(healthy, suppress_health_check=QUIET)


def faults_of(prompt: list[dict[str, Any]]) -> set[str]:
    conversation = read_conversation(parse_prompt(prompt))
    return {fault.kind for fault in (*conversation.faults, *argument_faults(conversation))}


@healthy
@given(requests())
def test_a_request_is_valid_and_its_options_parse(request):
    assert faults_of(request.prompt) == set()
    parse_options(request.options)


@pytest.mark.parametrize("flavor", FLAVORS)
def test_a_prompt_of_every_flavor_keeps_the_rules(flavor: str):
    @settings(few, max_examples=12)
    @given(prompts(flavor=flavor))
    def keeps(prompt):
        assert faults_of(prompt) == set()

    keeps()


FAULTS = {
    "unanswered call": "unanswered-call",
    "pending call": "pending-call",
    "orphan result": "orphan-result",
    "doubled result": "double-result",
    "result before its call": "orphan-result",
    "user between call and result": "unanswered-call",
    "assistant between call and result": "unanswered-call",
    "id twice in one turn": "duplicate-id",
    "id reused in a later round": "duplicate-id",
    "result of another tool": "contradicting-name",
    "bad arguments": "bad-arguments",
    "empty request": "empty-request",
}


def test_every_way_to_break_a_prompt_is_tested():
    assert list(BREAKS) == list(FAULTS)


@pytest.mark.parametrize("kind", BREAKS)
def test_a_prompt_is_broken_in_the_way_that_is_named(kind: str):
    @settings(few, max_examples=15)
    @given(broken_prompts(kind))
    def is_broken(prompt):
        assert FAULTS[kind] in faults_of(prompt)

    is_broken()


def test_an_unknown_way_to_break_a_prompt_is_an_error():
    with pytest.raises(ValueError, match="unknown kind 'magic'; known kinds: unanswered call, pending"):
        broken_prompts("magic")


@few
@given(st.data())
def test_arguments_fit_their_schema(data):
    schema = data.draw(tool_schemas(odd=True))
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.FormatChecker()
    jsonschema.Draft202012Validator(schema, format_checker=checker).validate(data.draw(arguments_for(schema)))


@pytest.mark.parametrize("name", FORMATS)
def test_the_values_of_a_format_are_valid(name: str):
    validator = jsonschema.Draft202012Validator({"format": name}, format_checker=jsonschema.FormatChecker())
    assert all(validator.is_valid(value) for value in FORMATS[name])


def test_a_schema_with_an_unknown_keyword_is_an_error():
    with pytest.raises(ValueError, match="cannot make arguments for a schema with not"):
        arguments_for({"type": "object", "properties": {"a": {"not": {}}}})


def has(schema: Any, keyword: str) -> bool:
    if isinstance(schema, dict):
        return keyword in schema or any(has(value, keyword) for value in schema.values())
    return isinstance(schema, list) and any(has(value, keyword) for value in schema)


@pytest.mark.parametrize("keyword", ["$ref", "anyOf", "enum", "format", "items", "additionalProperties", "required"])
def test_schemas_use_every_keyword(keyword: str):
    found = find(tool_schemas(), lambda schema: has(schema, keyword), settings=settings(few, max_examples=500))
    assert has(found, keyword)


@pytest.mark.parametrize("option", ["temperature", "tool_choice", "parallel_tool_calls", "stream", "response_schema"])
def test_every_option_is_used(option: str):
    given_tools = [{"name": "t", "description": "d", "inputSchema": {"type": "object"}}]
    found = find(options(given=given_tools), lambda drawn: option in drawn, settings=settings(few, max_examples=500))
    assert option in found


@few
@given(texts(), blank_texts(), tools())
def test_texts_are_visible_sendable_and_bounded(text, blank, tool):
    assert text.strip()
    assert not blank.strip()
    assert len(text.encode()) <= 100_000
    assert len(tool["description"]) <= 1_000


def planes(text: str) -> set[int]:
    return {ord(character) >> 16 for character in text}


@pytest.mark.parametrize("plane", [0, 1, 2, 14, 16])
def test_texts_cover_every_unicode_plane(plane: int):
    assert plane in planes(find(texts(), lambda text: plane in planes(text), settings=settings(few, max_examples=500)))


@few
@given(st.data())
def test_chunks_join_to_the_whole(data):
    body = data.draw(st.binary(max_size=60) | st.just("data: é𝄞\r\n\r\n".encode()))
    assert b"".join(data.draw(chunkings(body))) == body


@pytest.mark.parametrize(("body", "cut"), [("é".encode(), (b"\xc3", b"\xa9")), (b"\r\n", (b"\r", b"\n"))])
def test_cuts_split_characters_and_line_ends(body: bytes, cut: tuple[bytes, ...]):
    assert find(chunkings(body), lambda pieces: len(pieces) == 2 and all(pieces), settings=few) == cut


@few
@given(fault_schedules(("429", "reset"), calls=3))
def test_a_schedule_of_faults_has_at_least_one(schedule):
    assert 1 <= len(schedule) <= 3
    assert set(schedule) <= {None, "429", "reset"}
    assert any(schedule)


def test_a_schedule_without_faults_is_an_error():
    with pytest.raises(ValueError, match="no faults to choose from"):
        find(fault_schedules(()), lambda _: True, settings=few)


def test_a_seed_gives_the_same_prompts_under_pytest_and_in_a_command(tmp_path: Path):
    script = (
        "import json, sys; from art_compliance.generating.searching import make_requests; "
        "json.dump([make_requests(family, 5, 25) for family in sys.argv[1:]], sys.stdout)"
    )
    command = [sys.executable, "-c", script, *FAMILIES]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed == json.dumps([make_requests(family, 5, 25) for family in FAMILIES])


def roles(prompt: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in prompt]


SMALLEST = {
    "a user text": (lambda prompt: "user" in roles(prompt), 1),
    "an explicit request": (lambda prompt: "tool_request" in roles(prompt), 2),
    "two calls": (lambda prompt: any(len(message.get("tool_calls", ())) > 1 for message in prompt), 3),
    "a failed result": (lambda prompt: any(message.get("status") == "error" for message in prompt), 2),
    "braces": (
        lambda prompt: any("{{" in str(message["content"]) for message in prompt if message["role"] == "user"),
        1,
    ),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("what", SMALLEST)
def test_a_prompt_shrinks_to_the_fewest_messages_that_fail(what: str, seed: int):
    condition, length = SMALLEST[what]
    family, count = "generated-conversations", 60
    made = make_requests(family, seed, count)
    first = next(number for number, request in enumerate(made) if condition(request.prompt))
    least = shrink(made[first], lambda request: condition(request.prompt), seconds=10, alone=False)
    assert condition(least.prompt)
    assert len(least.prompt) == length
    assert faults_of(least.prompt) == set()
