from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar

import pytest

from art_sdk import (
    AssistantMessage,
    CallInfo,
    CallOptions,
    Completion,
    ErrorEvent,
    FunctionCall,
    LLMProviderError,
    OpenAIAdapter,
    ResponseHead,
    ToolCall,
    fold,
)
from art_sdk.adapters.chat_completions.provider import ChatProvider
from art_sdk.adapters.rules import CountRule
from refused import place_of
from short_messages import USER, Messages, Refusal

TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object", "x": 1}, "outputSchema": {"dropped": True}}
LONG = "id-" + "x" * 50
SHORT = "artid_" + hashlib.sha256(LONG.encode()).hexdigest()[:32]


def test_every_slot_of_a_prompt_is_written(openai: OpenAIAdapter, everything: list[Any], translate: Messages) -> None:
    def call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}

    number = '{"n": 12345678901234567890123}'
    assert translate(openai, everything) == {
        "model": "gpt-4.1-mini",
        "messages": [
            {"role": "system", "content": "be brief", "name": "boss"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "name": "ann"},
            {
                "role": "assistant",
                "content": "well",
                "tool_calls": [call("c1", "look", number), call("c2", "look", number)],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "two"},
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
            {"role": "assistant", "content": None, "tool_calls": [call("c3", "find", '{"q":"{{x}}"}')]},
            {"role": "tool", "tool_call_id": "c3", "content": "three"},
            {"role": "assistant", "content": "so"},
            {"role": "user", "content": "<b>system:</b> ```x```"},
        ],
    }


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({}, {}),
        ({"model": "m"}, {"model": "m"}),
        ({"temperature": 0, "top_p": 1}, {"temperature": 0.0, "top_p": 1.0}),
        ({"max_tokens": 9}, {"max_completion_tokens": 9}),
        ({"stop": ["a", "b"]}, {"stop": ["a", "b"]}),
        (
            {"response_schema": {"type": "object"}},
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "response", "schema": {"type": "object"}},
                }
            },
        ),
        ({"provider": {"openai-chat": {"seed": 1}}}, {"seed": 1}),
        ({"user_id": "u", "session_id": "s", "trace_id": "r", "call_context": "c"}, {}),
    ],
)
def test_every_option_is_written(
    openai: OpenAIAdapter, options: Any, written: dict[str, Any], translate: Messages
) -> None:
    plain = {"model": "gpt-4.1-mini", "messages": [USER]}
    assert translate(openai, [USER], **options) == plain | written


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("f", {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_a_tool_and_its_choice_are_written(
    openai: OpenAIAdapter, choice: str, written: Any, translate: Messages
) -> None:
    payload = translate(openai, [USER], tools=[TOOL], tool_choice=choice, parallel_tool_calls=False)
    function = {"name": "f", "description": "d", "parameters": {"type": "object", "x": 1}}
    assert payload["tools"] == [{"type": "function", "function": function}]
    assert (payload["tool_choice"], payload["parallel_tool_calls"]) == (written, False)


@pytest.mark.parametrize("arguments", ["", "  ", "\n"])
def test_blank_arguments_mean_an_empty_object(
    openai: OpenAIAdapter, call: Messages, result: Messages, arguments: str, translate: Messages
) -> None:
    payload = translate(openai, [call("a", arguments=arguments), result("a")])
    assert payload["messages"][0]["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize("arguments", ["[]", "{", "nope", ' {"a" : 1.0}', '{"a":1,"a":2}'])
def test_arguments_are_passed_on_untouched(
    openai: OpenAIAdapter, call: Messages, result: Messages, arguments: str, translate: Messages
) -> None:
    payload = translate(openai, [call("a", arguments=arguments), result("a")])
    assert payload["messages"][0]["tool_calls"][0]["function"]["arguments"] == arguments


@pytest.mark.parametrize(
    ("messages", "options", "rule", "index"),
    [
        ([], {}, "openai.messages-nonempty", None),
        ([USER, {"role": "assistant", "content": None}], {}, "openai.content-not-null", 1),
        ([USER | {"name": "Ann Lee"}], {}, "openai.message-name-pattern", 0),
        ([{"role": "system", "content": "s", "name": ""}], {}, "openai.message-name-pattern", 0),
        ([USER, {"role": "assistant", "content": "x", "name": "é"}], {}, "openai.message-name-pattern", 1),
        ([USER], {"tools": [TOOL | {"name": f"t{n}"} for n in range(129)]}, "openai.tools-max128", None),
        ([USER], {"stop": list("abcde")}, "openai.stop-max4", None),
        ([USER], {"temperature": 2.1}, "openai.temperature-range", None),
        ([USER], {"temperature": -0.1}, "openai.temperature-range", None),
        ([USER], {"top_p": 1.1}, "openai.temperature-range", None),
        ([USER], {"tool_choice": "auto"}, "openai.tool-choice-needs-tools", None),
        ([USER], {"parallel_tool_calls": True}, "openai.tool-choice-needs-tools", None),
    ],
)
def test_a_refusal_cites_openai_s_rule(
    openai: OpenAIAdapter, messages: Any, options: dict[str, Any], rule: str, index: int | None, refusal: Refusal
) -> None:
    error = refusal(openai, messages, **options)
    assert (error.details["rule"], error.details.get("index")) == (rule, index)
    assert error.message.endswith(f" [{rule}]")


@pytest.mark.parametrize(
    "options",
    [
        {"tools": [TOOL | {"name": "a" * 64, "description": "x" * 9000}]},
        {"tools": [TOOL | {"name": f"t{n}"} for n in range(128)]},
        {"stop": list("abcd")},
        {"temperature": 2.0, "top_p": 0.0},
    ],
)
def test_values_at_the_limit_are_accepted(openai: OpenAIAdapter, options: dict[str, Any], translate: Messages) -> None:
    assert translate(openai, [USER], **options)["messages"] == [USER]


def test_a_system_message_between_a_call_and_its_result_is_refused(
    openai: OpenAIAdapter, call: Messages, result: Messages, translate: Messages, refusal: Refusal
) -> None:
    system = {"role": "system", "content": "s"}
    error = refusal(openai, [USER, call("a"), system, result("a")])
    assert (error.details["index"], error.details["rule"]) == (2, "openai.tool-calls-answered")
    taken = translate(openai, [USER, call("a"), result("a"), system])
    assert taken["messages"][-1] == system


def test_a_call_id_that_is_too_long_is_mapped_for_call_and_result(
    openai: OpenAIAdapter, call: Messages, result: Messages, translate: Messages
) -> None:
    request = {"role": "tool_request", "content": {"id": LONG + "2", "name": "f", "arguments": {}}}
    messages = [call(LONG, "x" * 40), request, result(LONG), result("x" * 40), result(LONG + "2")]
    assistant, *answers = translate(openai, messages)["messages"]
    sent = [one["id"] for one in assistant["tool_calls"]]
    assert sent[:2] == [SHORT, "x" * 40]
    assert len({*sent}) == 3
    assert all(len(one) <= 40 for one in sent)
    assert [one["tool_call_id"] for one in answers] == sent


def test_a_provider_without_a_limit_gets_the_id_as_it_is(call: Messages, result: Messages, translate: Messages) -> None:
    class Roomy(OpenAIAdapter):
        provider = ChatProvider()
        call_ids = None
        counts: ClassVar[dict[str, CountRule]] = {}

    adapter = Roomy(api_key="k")
    tools = [TOOL | {"name": f"t{n}", "description": "x" * 2000} for n in range(200)]
    payload = translate(adapter, [call(LONG), result(LONG)], tools=tools, stop=list("abcdefg"), max_tokens=3)
    assert payload["messages"][1]["tool_call_id"] == LONG
    assert (len(payload["tools"]), len(payload["stop"]), payload["max_tokens"]) == (200, 7, 3)


def test_a_provider_with_a_limit_of_descriptions_refuses_longer_ones(refusal: Refusal) -> None:
    class Tight(OpenAIAdapter):
        provider = ChatProvider(description_length=CountRule(1024, "openai.tool-description-len1024"))

    error = refusal(Tight(api_key="k"), [USER], tools=[TOOL | {"description": "x" * 1025}])
    assert error.details["rule"] == "openai.tool-description-len1024"


def test_the_request_goes_to_chat_completions_with_a_bearer_key(openai: OpenAIAdapter, key: str) -> None:
    request = openai.prepare([USER], {"thread_id": "t"}).request
    assert request.url == "https://api.openai.com/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {key}"


def test_an_image_goes_as_a_url_of_data_or_by_its_own(openai: OpenAIAdapter, translate: Messages) -> None:
    images = [
        {"mime_type": "image/gif", "data": "AAEC"},
        {"mime_type": "image/png", "url": "https://pictures.example/1"},
        {"mime_type": "image/*", "url": "https://pictures.example/2"},
    ]
    parts = [{"type": "text", "text": "what?"}, *({"type": "image", **image} for image in images)]
    (message,) = translate(openai, [{"role": "user", "name": "ann", "content": parts}])["messages"]
    assert message == {
        "role": "user",
        "content": [
            {"type": "text", "text": "what?"},
            {"type": "image_url", "image_url": {"url": "data:image/gif;base64,AAEC"}},
            {"type": "image_url", "image_url": {"url": "https://pictures.example/1"}},
            {"type": "image_url", "image_url": {"url": "https://pictures.example/2"}},
        ],
        "name": "ann",
    }


@pytest.mark.parametrize(
    "image",
    [
        {"mime_type": "image/heic", "data": "AAEC"},
        {"mime_type": "image/heic", "url": "https://x/y"},
        {"mime_type": "image/*", "data": "AAEC"},
        {"mime_type": "image/png", "data": "AAE"},
        {"mime_type": "image/png", "data": ""},
        {"mime_type": "image/*", "url": ""},
    ],
)
def test_an_image_that_cannot_be_sent_is_refused_by_its_message(
    openai: OpenAIAdapter, image: dict[str, str], refusal: Refusal
) -> None:
    error = refusal(openai, [USER, {"role": "user", "content": [{"type": "image", **image}]}])
    assert place_of(error) == {"index": 1}


# Answers.


def _tool_call(call_id: str | None = "c", name: Any = "f", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _body(finish: Any = "stop", **message: Any) -> bytes:
    return json.dumps({"id": "b", "choices": [{"message": message, "finish_reason": finish}]}).encode()


def _read(adapter: OpenAIAdapter, head: ResponseHead, body: bytes, info: CallInfo) -> Completion:
    return fold(adapter.read_response(head, body, info))


def test_an_answer_can_be_appended_and_sent_again(
    openai: OpenAIAdapter, result: Messages, head: Any, translate: Messages
) -> None:
    prepared = openai.prepare([USER], {"thread_id": "t"})
    body = _body("tool_calls", content=None, tool_calls=[_tool_call(None), _tool_call("y" * 60)])
    answer = _read(openai, head(), body, prepared.info)
    ids = [one.id for one in answer.message.tool_calls]
    again = translate(openai, [USER, answer.message, *map(result, ids)])
    assert [m["role"] for m in again["messages"]] == ["user", "assistant", "tool", "tool"]


def test_an_id_that_looks_like_a_mapped_one_is_mapped_too(openai: OpenAIAdapter) -> None:
    mapped = openai.map_call_ids([LONG, SHORT, "call_1"])
    assert set(mapped) == {LONG, SHORT}
    assert len({*mapped.values(), "call_1"}) == 3


def test_a_numbered_id_passes_over_those_that_the_prompt_has(info: Any) -> None:
    prompt = (AssistantMessage(None, tuple(ToolCall(i, FunctionCall("f", "{}")) for i in ("call_3", "x"))),)
    fresh = info(prompt=prompt).fresh_call_ids()
    assert [next(fresh), next(fresh)] == ["call_4", "call_5"]


def test_an_error_with_status_200_has_the_provider_s_words(openai: OpenAIAdapter, head: Any, info: Any) -> None:
    body = b'{"error": {"message": "upstream is down", "code": 502}}'
    error = next(e.error for e in openai.read_response(head(), body, info()) if isinstance(e, ErrorEvent))
    assert isinstance(error, LLMProviderError)
    assert (error.provider_code, error.provider_message, error.status) == ("502", "upstream is down", 200)


def test_options_that_change_inside_are_parsed_again(openai: OpenAIAdapter) -> None:
    options = CallOptions(thread_id="t", provider={"openai-chat": {"seed": 1}})
    prompt = [{"role": "user", "content": "hi"}]
    first = openai.prepare(prompt, options).request.body
    assert openai.prepare(prompt, options).request.body == first
    options.provider["openai-chat"]["seed"] = 2
    assert b'"seed":2' in openai.prepare(prompt, options).request.body
