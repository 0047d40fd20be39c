from __future__ import annotations

from typing import Any

import pytest

from anthropic_blocks import result_block, text_block, use_block
from art_sdk import AnthropicAdapter
from refused import place_of
from short_messages import ASSISTANT, SYSTEM, USER, Messages, Refusal

TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object"}}


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
    ("content", "model", "rule"),
    [("x", "claude-opus-4-6", "prefill-unsupported"), ("x ", "claude-opus-4-5", "final-assistant-trailing-ws")],
)
def test_a_hoisted_system_message_does_not_hide_that_the_assistant_comes_last(
    anthropic: AnthropicAdapter, content: str, model: str, rule: str, refusal: Refusal
) -> None:
    messages = [USER, ASSISTANT | {"content": content}, SYSTEM]
    error = refusal(anthropic, messages, model=model, late_system="hoist")
    assert error.details | {"adapter": "AnthropicAdapter", "index": 1, "rule": f"anthropic.{rule}"} == error.details


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
        ([USER], {"tools": [TOOL], "tool_choice": "none", "parallel_tool_calls": False}, None, None),
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
