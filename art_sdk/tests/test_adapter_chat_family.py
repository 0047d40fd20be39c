"""A provider of the chat completions family is data: its words, its rules, and its reasoning in both directions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import CallInfo, Completion, EndEvent, ErrorEvent, PromptTranslationFailed, ResponseHead, StreamEvent, fold
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.limits import CountRule, NameRule

Make = Callable[..., Any]
USER = {"role": "user", "content": "hello"}
TOOL = {"name": "look", "description": "d", "inputSchema": {"type": "object", "properties": {}}}
HEAD = ResponseHead(200, {"content-type": "text/event-stream"})
INFO = CallInfo(thread_id="t", trace_id="r", model="m", clock=lambda: 2.5)
TEXT_FIELD = ChatProvider(reasoning=("reasoning_content",), kept=("reasoning_content",))
DETAILS = ChatProvider(reasoning=("reasoning",), kept=("reasoning", "reasoning_details"))
CHUNKS = ChatProvider(has_content_chunks=True)


def adapter_of(provider: ChatProvider, **more: Any) -> ChatCompletionsAdapter:
    data = {
        "provider_name": "acme",
        "dialect": "acme-chat",
        "default_model": "m",
        "default_base_url": "http://acme.test",
        "capabilities": CAPABILITIES,
        "provider": provider,
    }
    made: ChatCompletionsAdapter = type("Acme", (ChatCompletionsAdapter,), data | more)(api_key="0-k3y-0")
    return made


def whole(provider: ChatProvider, **message: Any) -> Completion:
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
    return fold(adapter_of(provider).read_response(ResponseHead(200, {}), body, INFO))


def stream(provider: ChatProvider, *deltas: dict[str, Any], end: bytes = b"data: [DONE]\n\n") -> list[StreamEvent]:
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    reader = adapter_of(provider).stream_reader(HEAD, INFO)
    body = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + end
    return [*reader.feed(body), *reader.close()]


def thinking(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}


def detail(text: str | None, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", "index": index} | ({} if text is None else {"text": text}) | more


ENCRYPTED = {"type": "reasoning.encrypted", "data": "xx", "index": 0}
# Provider, the message, the same message in deltas, its reasoning, and its extension.
ANSWERS: dict[str, tuple[ChatProvider, dict[str, Any], list[dict[str, Any]], str, Any]] = {
    "a field of text": (
        TEXT_FIELD,
        {"reasoning_content": "hm so", "content": "hi"},
        [{"reasoning_content": ""}, {"reasoning_content": "hm"}, {"reasoning_content": " so"}, {"content": "hi"}],
        "hm so",
        {"reasoning_content": "hm so"},
    ),
    "an empty field of text": (
        TEXT_FIELD,
        {"reasoning_content": "", "content": "hi"},
        [{"reasoning_content": ""}, {"content": "hi"}],
        "",
        {"reasoning_content": ""},
    ),
    "no reasoning": (
        DETAILS,
        {"reasoning": None, "reasoning_details": [], "content": "hi"},
        [{"reasoning": None, "content": "hi"}],
        "",
        None,
    ),
    "items that are joined by type and index": (
        DETAILS,
        {
            "reasoning": "abc",
            "reasoning_details": [detail("ab", signature="s"), detail("c", 1), ENCRYPTED],
            "content": "hi",
        },
        [
            {"reasoning": "a", "reasoning_details": [detail("a")]},
            {"reasoning": "b", "reasoning_details": [detail("b")]},
            {"reasoning_details": [detail(None, signature="s")]},
            {"reasoning": "c", "reasoning_details": [detail("c", 1), ENCRYPTED]},
            {"content": "hi"},
        ],
        "abc",
        {"reasoning": "abc", "reasoning_details": [detail("ab", signature="s"), detail("c", 1), ENCRYPTED]},
    ),
    "items without text stay apart": (
        DETAILS,
        {"reasoning_details": [ENCRYPTED, ENCRYPTED], "content": "hi"},
        [{"reasoning_details": [ENCRYPTED]}, {"reasoning_details": [ENCRYPTED], "content": "hi"}],
        "",
        {"reasoning_details": [ENCRYPTED, ENCRYPTED]},
    ),
    "chunks of content": (
        CHUNKS,
        {
            "content": [
                thinking("hm so", closed=True),
                {"type": "text", "text": "hi"},
                {"type": "reference", "ids": [1]},
            ]
        },
        [
            {"content": [thinking("hm")]},
            {"content": [thinking(" so", closed=True)]},
            {"content": [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]},
            {"content": [{"type": "reference", "ids": [1]}]},
        ],
        "hm so",
        {
            "blocks": [
                {"at": 0, "block": thinking("hm so", closed=True)},
                {"at": 2, "block": {"type": "reference", "ids": [1]}},
            ]
        },
    ),
    "text, where chunks may come": (CHUNKS, {"content": "hi"}, [{"content": "h"}, {"content": "i"}], "", None),
}


@pytest.mark.parametrize(("provider", "message", "deltas", "reasoning", "extension"), ANSWERS.values(), ids=ANSWERS)
def test_reasoning_is_read_alike_whole_and_streamed(
    provider: ChatProvider, message: dict[str, Any], deltas: list[dict[str, Any]], reasoning: str, extension: Any
) -> None:
    for answer in (whole(provider, **message), fold(stream(provider, *deltas))):
        assert (answer.message.content, answer.thinking) == ("hi", reasoning)
        assert answer.message.extensions == (extension and {"acme-chat": extension})


@pytest.mark.parametrize(("provider", "message", "deltas", "reasoning", "extension"), ANSWERS.values(), ids=ANSWERS)
def test_what_is_kept_of_an_answer_goes_back_with_the_next_turn(
    provider: ChatProvider,
    message: dict[str, Any],
    deltas: list[dict[str, Any]],
    reasoning: str,
    extension: Any,
    translate: Make,
) -> None:
    turn = {"role": "assistant", "content": "hi", "extensions": {"acme-chat": extension} if extension else None}
    written = translate(adapter_of(provider), [USER, turn, USER])["messages"][1]
    empty = {name for name, value in message.items() if value is None or value == []}
    assert written == {"role": "assistant"} | {name: message[name] for name in message.keys() - empty}


def test_nothing_is_kept_of_reasoning_that_was_cut_off() -> None:
    reader = adapter_of(TEXT_FIELD).stream_reader(HEAD, INFO)
    reader.feed(b'data: {"choices": [{"delta": {"reasoning_content": "hm"}}]}\n\n')
    error, end = reader.close()
    assert isinstance(error, ErrorEvent)
    assert isinstance(end, EndEvent)
    assert end.message is None


@pytest.mark.parametrize(
    ("provider", "delta"),
    [
        (DETAILS, {"reasoning_details": 5}),
        (TEXT_FIELD, {"reasoning_content": ["hm"]}),
        (ChatProvider(), {"content": [{"type": "text", "text": "hi"}]}),
        (CHUNKS, {"content": [{"type": "text"}]}),
        (CHUNKS, {"content": [{"type": "thinking", "thinking": "hm"}]}),
    ],
)
def test_a_field_of_another_form_is_an_error(provider: ChatProvider, delta: dict[str, Any]) -> None:
    [error, _] = stream(provider, delta)
    assert isinstance(error, ErrorEvent)
    assert "cannot be read" in error.error.message


def test_a_field_that_changes_from_text_to_a_list_is_an_error() -> None:
    events = stream(DETAILS, {"reasoning_details": "hm"}, {"reasoning_details": [ENCRYPTED]})
    assert isinstance(events[0], ErrorEvent)
    assert "a piece of reasoning_details must be text or a list" in events[0].error.message


def test_a_provider_without_an_end_mark_ends_its_stream_with_the_finish() -> None:
    endless = ChatProvider(end_mark=None)
    assert fold(stream(endless, {"content": "hi"}, end=b"")).message.content == "hi"
    assert isinstance(stream(ChatProvider(), {"content": "hi"}, end=b"")[1], ErrorEvent)
    other = ChatProvider(end_mark="over")
    assert fold(stream(other, {"content": "hi"}, end=b"data: over\n\n")).message.content == "hi"


def test_an_error_without_the_field_error_is_read_in_a_stream() -> None:
    reader = adapter_of(ChatProvider()).stream_reader(HEAD, INFO)
    error, _ = reader.feed(b'data: {"object": "error", "message": "no", "code": "1000"}\n\n')
    assert isinstance(error, ErrorEvent)
    assert error.error.message == "acme answered 200, then sent an error in the stream: no"


@pytest.mark.parametrize(
    ("provider", "extension", "reason"),
    [
        (TEXT_FIELD, {"signature": "x"}, "it has no place for signature"),
        (CHUNKS, {"blocks": [{"at": 3, "block": {"type": "thinking"}}]}, "a block has the invalid place 3"),
        (CHUNKS, {"blocks": [{"at": 0, "block": {"type": "text"}}]}, "a block of type 'text' does not belong there"),
        (CHUNKS, {"blocks": 5}, "Expected `array`"),
    ],
)
def test_an_extension_that_no_answer_had_is_refused(
    provider: ChatProvider, extension: dict[str, Any], reason: str, refusal: Make
) -> None:
    message = {"role": "assistant", "content": "hi", "extensions": {"acme-chat": extension}}
    error: PromptTranslationFailed = refusal(adapter_of(provider), [USER, message, USER])
    assert reason in error.message
    assert "do not change the message of an answer" in error.message


# Requests.


def test_a_provider_s_words_go_into_the_request(translate: Make) -> None:
    own = ChatProvider(max_tokens_field="max_new", required_choice="any", asks_for_usage=False)
    payload = translate(adapter_of(own), [USER], max_tokens=5, tools=[TOOL], tool_choice="required", stream=True)
    assert (payload["max_new"], payload["tool_choice"], payload["stream"]) == (5, "any", True)
    assert "stream_options" not in payload
    plain = translate(
        adapter_of(ChatProvider()), [USER], max_tokens=5, tools=[TOOL], tool_choice="required", stream=True
    )
    assert (plain["max_tokens"], plain["tool_choice"]) == (5, "required")
    assert plain["stream_options"] == {"include_usage": True}


def test_a_provider_without_names_of_messages_is_sent_none(translate: Make) -> None:
    ann = USER | {"name": "ann lee"}
    named, nameless = (adapter_of(ChatProvider(), losses=frozenset(lost)) for lost in ([], ["message_name"]))
    assert translate(named, [ann])["messages"] == [ann]
    assert translate(nameless, [ann])["messages"] == [USER]


LATE = {"role": "system", "content": "late"}
ASSISTANT = {"role": "assistant", "content": "hi"}
ARRAY = TOOL | {"inputSchema": {"type": "object", "properties": {"a": {"type": "array"}}}}
RULES = ChatRules(messages_nonempty="acme.nonempty", content_not_null="acme.content", system_order="acme.order")
STRICT = ChatProvider(
    message_names=NameRule(re.compile("[a-z]+"), "acme.name"),
    description_length=CountRule(3, "acme.description"),
    array_items_rule="acme.items",
    system_after=frozenset({"user"}),
    rules=RULES,
)
REFUSED: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "no message": ([], {}, "acme.nonempty"),
    "no content": ([USER, {"role": "assistant", "content": None}, USER], {}, "acme.content"),
    "a name": ([USER | {"name": "Ann"}], {}, "acme.name"),
    "a description": ([USER], {"tools": [TOOL | {"description": "long"}]}, "acme.description"),
    "an array without items": ([USER], {"tools": [ARRAY]}, "acme.items"),
    "a system message after the assistant's": ([USER, ASSISTANT, LATE, USER], {}, "acme.order"),
}


@pytest.mark.parametrize(("prompt", "options", "rule"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_cites_the_provider_s_own_rule_or_none(
    prompt: list[dict[str, Any]], options: dict[str, Any], rule: str, refusal: Make
) -> None:
    assert refusal(adapter_of(STRICT), prompt, **options).details["rule"] == rule
    lax = ChatProvider(
        message_names=NameRule(re.compile("[a-z]+")), description_length=CountRule(3), system_after=frozenset({"user"})
    )
    if rule != "acme.items":  # whose rule is the limit itself
        assert "rule" not in refusal(adapter_of(lax), prompt, **options).details


def test_no_limit_is_stated_by_default(translate: Make) -> None:
    tools = [ARRAY | {"name": f"t{number}", "description": "x" * 2000} for number in range(200)]
    prompt = [USER | {"name": "ann lee"}, ASSISTANT, LATE, USER]
    payload = translate(adapter_of(ChatProvider()), prompt, tools=tools, stop=list("abcdefg"))
    assert (len(payload["tools"]), len(payload["stop"]), len(payload["messages"])) == (200, 7, 4)
