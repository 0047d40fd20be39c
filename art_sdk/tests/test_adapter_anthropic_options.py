"""What AnthropicAdapter writes of a call's options, and which of them it refuses."""

from __future__ import annotations

from typing import Any, Final

import pytest

from art_sdk import AnthropicAdapter, CallOptions, PromptTranslationFailed
from row_tables import table
from short_messages import ASSISTANT, USER, Messages, Refusal

TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object", "x": 1}, "outputSchema": {"dropped": True}}
CHOOSING = {"tools": [TOOL]}
CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({}, {}),
        ({"model": "m"}, {"model": "m"}),
        ({"max_tokens": 9}, {"max_tokens": 9}),
        ({"temperature": 0}, {"temperature": 0.0}),
        ({"top_p": 1}, {"top_p": 1.0}),
        ({"stop": ["a", "b"]}, {"stop_sequences": ["a", "b"]}),
        (
            {"response_schema": CLOSED},
            {"output_config": {"format": {"type": "json_schema", "schema": CLOSED}}},
        ),
        ({"provider": {"anthropic-messages": {"top_k": 1}, "openai-chat": {"seed": 1}}}, {"top_k": 1}),
        (
            {
                "response_schema": CLOSED,
                "provider": {"anthropic-messages": {"output_config": {"effort": "low"}}},
            },
            {"output_config": {"format": {"type": "json_schema", "schema": CLOSED}, "effort": "low"}},
        ),
        (
            {"model": "claude-3-7-sonnet-latest", "max_tokens": 1, "temperature": 1, "top_p": 0.5, "stop": ["a"]},
            {
                "model": "claude-3-7-sonnet-latest",
                "max_tokens": 1,
                "temperature": 1.0,
                "top_p": 0.5,
                "stop_sequences": ["a"],
            },
        ),
        ({"user_id": "u", "session_id": "s", "trace_id": "r", "call_context": "c"}, {}),
    ],
)
def test_every_option_is_written(
    anthropic: AnthropicAdapter, options: Any, written: dict[str, Any], translate: Messages
) -> None:
    plain = {"model": "claude-haiku-4-5", "max_tokens": 8192, "messages": [USER]}
    assert translate(anthropic, [USER], **options) == plain | written


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({}, None),
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"tool_choice": "required"}, {"type": "any"}),
        ({"tool_choice": "f"}, {"type": "tool", "name": "f"}),
        ({"parallel_tool_calls": True}, {"type": "auto", "disable_parallel_tool_use": False}),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            {"tool_choice": "required", "parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        (
            {"tool_choice": "f", "parallel_tool_calls": True},
            {"type": "tool", "name": "f", "disable_parallel_tool_use": False},
        ),
    ],
)
def test_tools_and_their_choice_are_written(
    anthropic: AnthropicAdapter, options: dict[str, Any], choice: Any, translate: Messages
) -> None:
    rootless = TOOL | {"name": "g", "inputSchema": {"properties": {"a": {"anyOf": []}}}}
    payload = translate(anthropic, [USER], tools=[TOOL, rootless], **options)
    assert payload["tools"] == [
        {"name": "f", "description": "d", "input_schema": {"type": "object", "x": 1}},
        {"name": "g", "description": "d", "input_schema": {"type": "object", "properties": {"a": {"anyOf": []}}}},
    ]
    assert payload.get("tool_choice") == choice
    assert rootless["inputSchema"] == {"properties": {"a": {"anyOf": []}}}


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        ("claude-3-haiku-20240307", {"both", "sampling", "prefill"}),
        ("claude-3-5-sonnet-latest", {"both", "sampling", "prefill"}),
        ("claude-opus-4-0", {"both", "sampling", "prefill"}),
        ("claude-sonnet-4-20250514", {"both", "sampling", "prefill"}),
        ("claude-opus-4-1", {"sampling", "prefill"}),
        ("claude-opus-4-1-20250805", {"sampling", "prefill"}),
        ("claude-sonnet-4-5-20250929", {"sampling", "prefill"}),
        ("claude-haiku-4-5", {"sampling", "prefill"}),
        ("claude-opus-4-6", {"sampling"}),
        ("claude-sonnet-4-6-20260101", {"sampling"}),
        ("claude-opus-4-7", set()),
        ("claude-sonnet-5", set()),
        ("claude-opus-5-20270101", set()),
        ("anthropic.claude-opus-4-7-v1:0", set()),
    ],
)
@table(
    ("use", "options", "last", "rule", "index"),
    [
        ("both", {"temperature": 0.5, "top_p": 0.5}, USER, "anthropic.temperature-topp-exclusive", None),
        ("sampling", {"temperature": 0.5}, USER, "anthropic.temperature-deprecated", None),
        ("sampling", {"top_p": 0.5}, USER, "anthropic.temperature-deprecated", None),
        ("prefill", {}, ASSISTANT, "anthropic.prefill-unsupported", 1),
    ],
)
def test_a_model_s_own_limits_are_checked(
    model: str,
    takes: set[str],
    use: str,
    options: dict[str, Any],
    last: dict[str, Any],
    rule: str,
    index: int | None,
    translate: Messages,
    refusal: Refusal,
) -> None:
    adapter = AnthropicAdapter(api_key="k", model=model)
    if use in takes:
        assert translate(adapter, [USER, last], **options)["model"] == model
        return
    error = refusal(adapter, [USER, last], **options)
    assert (error.details["rule"], error.details.get("index")) == (rule, index)
    assert model in error.message
    assert refusal(AnthropicAdapter(api_key="k"), [USER, last], model=model, **options).details == error.details


@pytest.mark.parametrize("options", [{"temperature": 1}, {"top_p": 1}])
def test_every_model_takes_sampling_that_changes_nothing(
    anthropic: AnthropicAdapter, options: dict[str, Any], translate: Messages
) -> None:
    assert translate(anthropic, [USER], model="claude-opus-4-7", **options).items() >= options.items()


def test_options_that_are_refused_once_are_refused_whenever_they_come(anthropic: AnthropicAdapter) -> None:
    anthropic.prepare([USER], CallOptions(thread_id="good", temperature=0.5))
    for number in range(50):  # the options of one call are freed at the next, and their memory is used again
        with pytest.raises(PromptTranslationFailed):
            anthropic.prepare([USER], CallOptions(thread_id=f"t{number}", temperature=0.5, top_p=0.5))


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "object"}, "its root"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "its root"),
        (CLOSED | {"properties": {"a": {"type": "object"}}}, "/properties/a"),
        (CLOSED | {"$defs": {"a": {"type": "object", "additionalProperties": True}}}, "/$defs/a"),
        ({"anyOf": [CLOSED, {"type": "array", "items": {"type": "object"}}]}, "/anyOf/1/items"),
    ],
)
def test_an_answer_s_schema_with_an_open_object_is_refused_with_its_place(
    anthropic: AnthropicAdapter, schema: dict[str, Any], place: str, refusal: Refusal
) -> None:
    error = refusal(anthropic, [USER], response_schema=schema)
    assert f"an open object at {place};" in error.message
    assert "anthropic.output-schema-closed" in error.message


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "integer", "minimum": 0}, "/minimum"),
        (
            CLOSED | {"properties": {"a": {"type": "array", "items": {"type": "number", "multipleOf": 0.5}}}},
            "multipleOf",
        ),
        (CLOSED | {"properties": {"a": {"type": "array", "minItems": 2}}}, "/properties/a/minItems"),
        ({"oneOf": [CLOSED]}, "/oneOf"),
    ],
)
def test_an_answer_s_schema_with_a_keyword_that_anthropic_does_not_support_is_refused_with_its_place(
    anthropic: AnthropicAdapter, schema: dict[str, Any], place: str, refusal: Refusal
) -> None:
    error = refusal(anthropic, [USER], response_schema=schema)
    assert f"{place}, which Anthropic does not support" in error.message
    assert "anthropic.output-schema-keywords" in error.message


ANSWERS: Final = CLOSED | {"properties": {"answers": {"type": "array", "items": {"$ref": "#/$defs/A"}}}}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        (CLOSED | {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": ANSWERS}}, "/$defs/A/properties/answers"),
        (CLOSED | {"$defs": {"A": ANSWERS, "B": {"$ref": "#/$defs/A"}}}, "/$defs/A/properties/answers"),
        (CLOSED | {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"items": {"$ref": "#/$defs/A"}}}}, "/$defs/"),
        (CLOSED | {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}, "/properties/a/anyOf/0"),
        (CLOSED | {"$defs": {"a/b": {"items": {"$ref": "#/$defs/a~1b"}}}}, "/$defs/a/b/items"),
    ],
)
def test_an_answer_s_schema_that_refers_to_itself_is_refused_with_its_place(
    anthropic: AnthropicAdapter, schema: dict[str, Any], place: str, refusal: Refusal
) -> None:
    error = refusal(anthropic, [USER], response_schema=schema)
    assert f"refers to itself at {place}" in error.message
    assert "anthropic.output-schema-recursive" in error.message


@pytest.mark.parametrize(
    "schema",
    [
        CLOSED | {"properties": {name: {"$ref": "#/$defs/A"} for name in "ab"}, "$defs": {"A": {"type": "string"}}},
        CLOSED | {"$defs": {"A": {"$ref": "#/$defs/AB"}, "AB": {"type": "string"}}},
        CLOSED | {"properties": {"a": {"$ref": "#/$defs/gone"}, "b": {"$ref": 7}}},
    ],
)
def test_an_answer_s_schema_with_references_that_end_is_sent(
    anthropic: AnthropicAdapter, schema: dict[str, Any], translate: Messages
) -> None:
    assert translate(anthropic, [USER], response_schema=schema)["output_config"]["format"]["schema"] == schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 1},
        {"type": "string", "minLength": 3, "maxLength": 9},
        CLOSED | {"properties": {"minimum": {"type": "integer"}}},
    ],
)
def test_an_answer_s_schema_with_other_keywords_is_sent(
    anthropic: AnthropicAdapter, schema: dict[str, Any], translate: Messages
) -> None:
    assert translate(anthropic, [USER], response_schema=schema)["output_config"]["format"]["schema"] == schema


@pytest.mark.parametrize(
    "schema",
    [CLOSED | {"properties": {"type": CLOSED, "a": True}}, {"type": "string"}, {}, {"items": [1], "anyOf": 3}],
)
def test_an_answer_s_schema_whose_objects_are_closed_is_written(
    anthropic: AnthropicAdapter, schema: dict[str, Any], translate: Messages
) -> None:
    payload = translate(anthropic, [USER], response_schema=schema)
    assert payload["output_config"]["format"]["schema"] == schema
