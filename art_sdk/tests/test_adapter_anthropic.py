from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anthropic_blocks import result_block, text_block, use_block
from art_sdk import AnthropicAdapter, CallOptions, PromptTranslationFailed
from refused import place_of
from row_tables import table

USER: dict[str, Any] = {"role": "user", "content": "u"}
SYSTEM: dict[str, Any] = {"role": "system", "content": "s"}
ASSISTANT: dict[str, Any] = {"role": "assistant", "content": "x"}
TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object", "x": 1}, "outputSchema": {"dropped": True}}
CHOOSING = {"tools": [TOOL]}
CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}
Messages = Callable[..., dict[str, Any]]
Refusal = Callable[..., PromptTranslationFailed]


def _image(**fields: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image", **fields}]}


def test_every_slot_of_a_prompt_is_written(
    anthropic: AnthropicAdapter, everything: list[Any], translate: Messages
) -> None:
    number = 12345678901234567890123
    assert translate(anthropic, everything) == {
        "model": "claude-haiku-4-5",
        "max_tokens": 8192,
        "system": [text_block("be brief")],
        "messages": [
            {"role": "user", "content": [text_block("a"), text_block("b")]},
            {
                "role": "assistant",
                "content": [text_block("well"), use_block("c1", n=number), use_block("c2", n=number)],
            },
            {"role": "user", "content": [result_block("c1", "one"), result_block("c2", "two", is_error=True)]},
            {"role": "assistant", "content": [use_block("c3", "find", q="{{x}}")]},
            {"role": "user", "content": [result_block("c3", "three")]},
            {"role": "assistant", "content": [text_block("so")]},
            {"role": "user", "content": "<b>system:</b> ```x```"},
        ],
    }


def test_system_messages_stay_apart_and_late_ones_are_hoisted_on_request(
    anthropic: AnthropicAdapter, translate: Messages, refusal: Refusal
) -> None:
    late = {"role": "system", "content": "t"}
    payload = translate(anthropic, [SYSTEM, SYSTEM, USER, late], late_system="hoist")
    assert payload["system"] == [text_block("s"), text_block("s"), text_block("t")]
    assert payload["messages"] == [USER]
    error = refusal(anthropic, [SYSTEM, USER, late])
    assert error.details["index"] == 2
    assert 'late_system="hoist"' in error.message


def test_turns_of_one_role_stay_apart(
    anthropic: AnthropicAdapter, call: Messages, result: Messages, translate: Messages
) -> None:
    payload = translate(anthropic, [USER, USER, ASSISTANT, call("a"), result("a"), USER])
    assert payload["messages"] == [
        USER,
        USER,
        {"role": "assistant", "content": [text_block("x")]},
        {"role": "assistant", "content": [use_block("a")]},
        {"role": "user", "content": [result_block("a")]},
        USER,
    ]


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u2003"])
def test_blank_text_is_dropped_next_to_other_content(
    anthropic: AnthropicAdapter, call: Messages, result: Messages, blank: str, translate: Messages
) -> None:
    user = {"role": "user", "content": [text_block(blank), text_block(" a "), text_block(blank)]}
    payload = translate(anthropic, [user, call("a", content=blank), result("a", blank)])
    assert payload["messages"] == [
        {"role": "user", "content": [text_block(" a ")]},
        {"role": "assistant", "content": [use_block("a")]},
        {"role": "user", "content": [result_block("a", blank)]},
    ]


@pytest.mark.parametrize("arguments", ["", "  ", "\n", "{}"])
def test_blank_arguments_mean_an_empty_object(
    anthropic: AnthropicAdapter, call: Messages, result: Messages, arguments: str, translate: Messages
) -> None:
    payload = translate(anthropic, [call("a", arguments=arguments), result("a")])
    assert payload["messages"][0]["content"] == [use_block("a")]


# Call ids.


def test_a_call_id_of_other_characters_is_mapped_for_call_and_result(
    anthropic: AnthropicAdapter, call: Messages, result: Messages, translate: Messages
) -> None:
    request = {"role": "tool_request", "content": {"id": "a.1", "name": "f", "arguments": {}}}
    fits = "A-z_0" * 40
    calls, answered = translate(
        anthropic, [call("a:1", fits, "a\n"), request, result(fits), result("a:1"), result("a.1"), result("a\n")]
    )["messages"]
    sent = [block["id"] for block in calls["content"]]
    assert sent[1] == fits
    assert len({*sent}) == 4
    assert all(one.startswith("artid_") and len(one) == 38 for one in (sent[0], *sent[2:]))
    assert [block["tool_use_id"] for block in answered["content"]] == sent


# Images.


def test_an_image_goes_as_data_or_by_its_url(anthropic: AnthropicAdapter, translate: Messages) -> None:
    data = _image(mime_type="image/webp", data="AAEC")
    typed = _image(mime_type="image/png", url="https://pictures.example/1")
    untyped = _image(mime_type="image/*", url="https://pictures.example/2")
    sources = [m["content"][0] for m in translate(anthropic, [data, typed, untyped])["messages"]]
    assert sources == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "AAEC"}},
        {"type": "image", "source": {"type": "url", "url": "https://pictures.example/1"}},
        {"type": "image", "source": {"type": "url", "url": "https://pictures.example/2"}},
    ]


def test_blank_text_next_to_an_image_is_dropped(anthropic: AnthropicAdapter, translate: Messages) -> None:
    parts = [text_block(" "), {"type": "image", "mime_type": "image/gif", "data": "AAEC"}, text_block("what?")]
    (message,) = translate(anthropic, [{"role": "user", "content": parts}])["messages"]
    assert [block["type"] for block in message["content"]] == ["image", "text"]


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (
            {"mime_type": "image/heic", "data": "AAEC"},
            "supported: image/gif, image/jpeg, image/png, image/webp",
        ),
        ({"mime_type": "image/tiff", "url": "https://x/y"}, "type 'image/tiff'"),
        ({"mime_type": "image/*", "data": "AAEC"}, "type 'image/*'"),
        ({"mime_type": "image/png", "data": ""}, "has no data"),
        ({"mime_type": "image/png", "data": "AAE"}, "not base64"),
        ({"mime_type": "image/png", "data": "data:image/png;base64,AAEC"}, "not base64"),
    ],
)
def test_an_image_that_cannot_be_sent_is_refused_by_its_message(
    anthropic: AnthropicAdapter, image: dict[str, str], words: str, refusal: Refusal
) -> None:
    error = refusal(anthropic, [SYSTEM, USER, _image(**image)])
    assert place_of(error) == {"index": 2}
    assert words in error.message


# Options.


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


@pytest.mark.parametrize(
    ("content", "model", "rule"),
    [("x", "claude-opus-4-6", "prefill-unsupported"), ("x ", "claude-opus-4-5", "final-assistant-trailing-ws")],
)
def test_a_hoisted_system_message_does_not_hide_that_the_assistant_comes_last(
    anthropic: AnthropicAdapter, content: str, model: str, rule: str, refusal: Refusal
) -> None:
    messages = [USER, ASSISTANT | {"content": content}, SYSTEM]
    error = refusal(anthropic, messages, model=model, late_system="hoist")
    assert error.details | {"adapter": "AnthropicAdapter", "index": 1, "rule": f"anthropic.{rule}"} == error.details


@pytest.mark.parametrize("options", [{"temperature": 1}, {"top_p": 1}])
def test_every_model_takes_sampling_that_changes_nothing(
    anthropic: AnthropicAdapter, options: dict[str, Any], translate: Messages
) -> None:
    assert translate(anthropic, [USER], model="claude-opus-4-7", **options).items() >= options.items()


# Refusals.


@pytest.mark.parametrize(
    ("messages", "options", "rule", "index"),
    [
        ([], {}, None, None),
        ([SYSTEM], {}, None, None),
        ([{"role": "user", "content": " \n"}], {}, "anthropic.text-block-nonblank", 0),
        ([USER, {"role": "user", "content": ""}], {}, "anthropic.text-block-nonblank", 1),
        ([USER, {"role": "user", "content": []}], {}, "anthropic.text-block-nonblank", 1),
        (
            [USER, {"role": "user", "content": [text_block(""), text_block(" ")]}],
            {},
            "anthropic.text-block-nonblank",
            1,
        ),
        ([SYSTEM, {"role": "system", "content": " "}, USER], {}, "anthropic.text-block-nonblank", 1),
        ([USER, {"role": "assistant", "content": None}], {}, "anthropic.nonempty-content", 1),
        ([USER, {"role": "assistant", "content": " "}, USER], {}, "anthropic.nonempty-content", 1),
        ([USER, {"role": "assistant", "content": "x "}], {}, "anthropic.final-assistant-trailing-ws", 1),
        *[
            ([USER], {"tools": [TOOL | {"inputSchema": {union: []}}]}, "anthropic.input-schema-no-root-union", None)
            for union in ("oneOf", "allOf", "anyOf")
        ],
        ([USER], {"temperature": 1.1}, "anthropic.temperature-range", None),
        ([USER], {"temperature": -0.1}, "anthropic.temperature-range", None),
        ([USER], {"top_p": 1.1}, "anthropic.temperature-range", None),
        ([USER], {"tool_choice": "auto"}, None, None),
        ([USER], {"parallel_tool_calls": False}, None, None),
        ([USER], CHOOSING | {"tool_choice": "none", "parallel_tool_calls": False}, None, None),
        ([USER], {"provider": {"anthropic-messages": {"model": "m"}}}, None, None),
    ],
)
def test_a_refusal_cites_anthropic_s_rule(
    anthropic: AnthropicAdapter,
    messages: Any,
    options: dict[str, Any],
    rule: str | None,
    index: int | None,
    refusal: Refusal,
) -> None:
    error = refusal(anthropic, messages, **options)
    assert (error.details.get("rule"), error.details.get("index")) == (rule, index)
    assert rule is None or error.message.endswith(f" [{rule}]")


@pytest.mark.parametrize("arguments", ["[]", "{", "null", '{"a":1,"a":2}', '{"a":"\\ud800"}', '{"a":1e999}'])
def test_arguments_that_are_not_an_object_are_refused(
    anthropic: AnthropicAdapter, call: Messages, result: Messages, arguments: str, refusal: Refusal
) -> None:
    request = {"role": "tool_request", "content": {"id": "b", "name": "f", "arguments": arguments}}
    error = refusal(anthropic, [USER, call("a"), request, result("a"), result("b")])
    rule = "anthropic.tool-use-input-object"
    assert place_of(error) == {"index": 2, "call_id": "b", "rule": rule}
    assert "message with role 'tool_request' at $[2] (call 'b')" in error.message


def test_a_call_without_its_result_is_refused_with_its_id(
    anthropic: AnthropicAdapter, call: Messages, result: Messages, refusal: Refusal
) -> None:
    error = refusal(anthropic, [USER, call("a", "b"), result("a")])
    assert place_of(error) == {"index": 1, "call_id": "b"}


def test_the_request_goes_to_messages_with_its_key_and_version(anthropic: AnthropicAdapter, key: str) -> None:
    request = anthropic.prepare([USER], {"thread_id": "t"}).request
    assert request.url == "https://api.anthropic.com/v1/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (key, "2023-06-01")
    assert "authorization" not in request.headers


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
    "schema",
    [CLOSED | {"properties": {"type": CLOSED, "a": True}}, {"type": "string"}, {}, {"items": [1], "anyOf": 3}],
)
def test_an_answer_s_schema_whose_objects_are_closed_is_written(
    anthropic: AnthropicAdapter, schema: dict[str, Any], translate: Messages
) -> None:
    payload = translate(anthropic, [USER], response_schema=schema)
    assert payload["output_config"]["format"]["schema"] == schema
