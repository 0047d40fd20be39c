"""A provider of the chat completions family is data: its words, its rules, and its reasoning in both directions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import (
    AssistantMessage,
    CallInfo,
    Completion,
    EndEvent,
    ErrorEvent,
    PromptTranslationFailed,
    ResponseHead,
    StreamEvent,
    fold,
)
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
from art_sdk.adapters.rules import CountRule, NameRule, RootRule

Make = Callable[..., Any]
USER = {"role": "user", "content": "hello"}
TOOL = {"name": "look", "description": "d", "inputSchema": {"type": "object", "properties": {}}}
HEAD = ResponseHead(200, {"content-type": "text/event-stream"})
INFO = CallInfo(thread_id="t", trace_id="r", model="m", clock=lambda: 2.5)
TEXT_FIELD = ChatProvider(reasoning=("reasoning_content",), kept=("reasoning_content",))
DETAILS = ChatProvider(reasoning=("reasoning",), kept=("reasoning", "reasoning_details"))
CHUNKS = ChatProvider()


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


def read_bytes(provider: ChatProvider, body: bytes) -> AssistantMessage:
    reader = adapter_of(provider).stream_reader(HEAD, INFO)
    return fold([*reader.feed(body), *reader.close()]).message


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
        (ChatProvider(), {"content": [{"text": "hi"}]}),
        (ChatProvider(), {"content": 7}),
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
    assert "the pieces of reasoning_details must all be strings" in events[0].error.message


def test_a_provider_without_an_end_mark_ends_its_stream_with_the_finish() -> None:
    endless = ChatProvider(end_mark=None)
    assert fold(stream(endless, {"content": "hi"}, end=b"")).message.content == "hi"
    assert isinstance(stream(ChatProvider(), {"content": "hi"}, end=b"")[1], ErrorEvent)
    own_host = ChatProvider(always_finishes=False)
    assert (
        read_bytes(own_host, b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\ndata: [DONE]\n\n').content == "hi"
    )
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


AUDIO = {"id": "au", "data": "QUJD", "transcript": "hi", "expires_at": 9}
IMAGES = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]
CUSTOM = {"id": "c", "type": "custom", "custom": {"name": "f", "input": "4"}}


def test_an_answer_s_audio_goes_back_as_its_id_and_its_images_do_not(translate: Make) -> None:
    message = whole(ChatProvider(), role="assistant", content="hi", audio=AUDIO, images=IMAGES).message
    assert message.extensions == {"acme-chat": {"audio": AUDIO, "images": IMAGES}}
    written = translate(adapter_of(ChatProvider()), [USER, message, USER])["messages"][1]
    assert written == {"role": "assistant", "content": "hi", "audio": {"id": "au"}}


def test_a_custom_tool_s_call_cannot_go_back_since_it_can_have_no_result(refusal: Make) -> None:
    message = whole(ChatProvider(), role="assistant", content=None, tool_calls=[CUSTOM]).message
    assert message.extensions == {"acme-chat": {"other_calls": [CUSTOM]}}
    assert "calls custom tools" in refusal(adapter_of(ChatProvider()), [USER, message, USER]).message


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
IDLE = TOOL | {"inputSchema": {"type": "object", "properties": {}, "required": ["a"]}}
RULES = ChatRules(messages_nonempty="acme.nonempty", content_not_null="acme.content", no_lone_assistant="acme.start")
STRICT = ChatProvider(
    message_names=NameRule(re.compile("[a-z]+"), "acme.name"),
    description_length=CountRule(3, "acme.description"),
    array_items_rule="acme.items",
    required_rule="acme.required",
    rules=RULES,
)
REFUSED: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "no message": ([], {}, "acme.nonempty"),
    "no content": ([USER, {"role": "assistant", "content": None}, USER], {}, "acme.content"),
    "a name": ([USER | {"name": "Ann"}], {}, "acme.name"),
    "a description": ([USER], {"tools": [TOOL | {"description": "long"}]}, "acme.description"),
    "an array without items": ([USER], {"tools": [ARRAY]}, "acme.items"),
    "required properties and none": ([USER], {"tools": [IDLE]}, "acme.required"),
    "nothing but the assistant's": ([ASSISTANT], {}, "acme.start"),
}


@pytest.mark.parametrize(("prompt", "options", "rule"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_cites_the_provider_s_own_rule_or_none(
    prompt: list[dict[str, Any]], options: dict[str, Any], rule: str, refusal: Make
) -> None:
    assert refusal(adapter_of(STRICT), prompt, **options).details["rule"] == rule
    lax = ChatProvider(message_names=NameRule(re.compile("[a-z]+")), description_length=CountRule(3))
    if rule not in ("acme.items", "acme.required", "acme.start"):  # whose rules are the limits themselves
        assert "rule" not in refusal(adapter_of(lax), prompt, **options).details


def test_an_empty_list_of_required_properties_is_left_out_where_there_are_none(translate: Make) -> None:
    nothing = {"type": "object", "properties": {}}
    idle = TOOL | {"description": "", "inputSchema": {**nothing, "required": []}}
    payload = translate(adapter_of(STRICT), [USER], tools=[idle])
    assert payload["tools"][0]["function"]["parameters"] == nothing


def test_a_late_system_message_goes_to_the_front_where_the_provider_wants_it(translate: Make, refusal: Make) -> None:
    hoisting = adapter_of(
        ChatProvider(), capabilities=CAPABILITIES - {"late_system"}, repairs=frozenset({"hoists_late_system"})
    )
    first = {"role": "system", "content": "first"}
    prompt = [first, USER, ASSISTANT, LATE, USER]
    sent = translate(hoisting, prompt, late_system="hoist")["messages"]
    assert sent == [first, LATE, USER, ASSISTANT, USER]
    assert "does not declare 'late_system'" in refusal(hoisting, prompt).message
    assert translate(adapter_of(ChatProvider()), prompt, late_system="hoist")["messages"] == prompt


def test_a_message_to_be_continued_is_marked_where_the_provider_wants_a_mark(translate: Make) -> None:
    marking = adapter_of(ChatProvider(prefill_mark="prefix"))
    assert translate(marking, [USER, ASSISTANT])["messages"] == [USER, ASSISTANT | {"prefix": True}]
    assert translate(marking, [USER, ASSISTANT, USER])["messages"] == [USER, ASSISTANT, USER]


@pytest.mark.parametrize(("choice", "sent"), [(None, None), ("auto", None), ("required", "off"), ("look", "off")])
def test_a_forced_choice_takes_its_fields_along_unless_the_caller_has_them(
    choice: str | None, sent: str | None, translate: Make
) -> None:
    calm = adapter_of(ChatProvider(), forced_choice_fields={"thinking": "off"})
    assert translate(calm, [USER], tools=[TOOL], tool_choice=choice).get("thinking") == sent
    own = {"acme-chat": {"thinking": "on"}}
    assert translate(calm, [USER], tools=[TOOL], tool_choice=choice, provider=own)["thinking"] == "on"


def test_a_tool_s_schema_needs_its_type_where_the_provider_wants_it(refusal: Make) -> None:
    typed = adapter_of(ChatProvider(), schema_roots=RootRule((), "acme.root", needs_type=True))
    error = refusal(typed, [USER], tools=[TOOL | {"inputSchema": {}}])
    assert (error.details["rule"], 'must have "type": "object"' in error.message) == ("acme.root", True)


def test_no_limit_is_stated_by_default(translate: Make) -> None:
    tools = [ARRAY | {"name": f"t{number}", "description": "x" * 2000} for number in range(200)]
    prompt = [USER | {"name": "ann lee"}, ASSISTANT, LATE, USER]
    payload = translate(adapter_of(ChatProvider()), prompt, tools=tools, stop=list("abcdefg"))
    assert (len(payload["tools"]), len(payload["stop"]), len(payload["messages"])) == (200, 7, 4)
