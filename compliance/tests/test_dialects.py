from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_compliance.dialects import DIALECTS, DecodeFailed, decode
from art_compliance.findings import HarnessError
from art_compliance.scenarios import WrittenAnswer
from art_sdk import (
    AnthropicAdapter,
    AssistantMessage,
    CallInfo,
    EndEvent,
    FunctionCall,
    GeminiAdapter,
    ImagePart,
    OpenAIAdapter,
    ResponseHead,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)


def chat(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"messages": list(messages), **fields}


def turns(*contents: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"contents": list(contents), **fields}


def function(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **fields}


USER = {"role": "user", "content": "hi"}
CALL = function("look", '{"at": 1}', id="a")
TEXT = {"type": "text", "text": "hi"}

SAME_CHATS = {
    "developer is system": (
        chat({"role": "developer", "content": "s"}, USER),
        chat({"role": "system", "content": "s"}, USER),
    ),
    "text as one part": (chat({"role": "user", "content": [TEXT]}), chat(USER)),
    "result in parts": (
        chat({"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "a", "content": [TEXT]}),
        chat(
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": "hi"},
        ),
    ),
    "both token limits": (chat(USER, max_tokens=5), chat(USER, max_completion_tokens=5)),
    "stop as text": (chat(USER, stop="x"), chat(USER, stop=["x"])),
    "any is required": (chat(USER, tool_choice="any"), chat(USER, tool_choice="required")),
    "null is absent": (chat(USER, temperature=None, stop=None, tools=None, seed=None), chat(USER)),
    "calls without ids": (
        chat({"role": "assistant", "tool_calls": [function("look", {"at": 1})]}, {"role": "tool", "content": "r"}),
        chat(
            {"role": "assistant", "tool_calls": [function("look", '{"at": 1}', id="call_1")]},
            {"role": "tool", "tool_call_id": "call_1", "content": "r"},
        ),
    ),
}

MODEL_CALL = {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "look", "args": {"at": 1}}}]}


def answer(response: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "role": "user",
        "parts": [{"functionResponse": {"id": "a", "name": "look", "response": response, **fields}}],
    }


SAME_TURNS = {
    "no role is user": (turns({"parts": [{"text": "hi"}]}), turns({"role": "user", "parts": [{"text": "hi"}]})),
    "one part is a list": (turns({"parts": {"text": "hi"}}), turns({"parts": [{"text": "hi"}]})),
    "snake case": (
        turns(
            {"parts": [{"text": "hi"}]},
            system_instruction={"parts": [{"text": "s"}]},
            generation_config={"top_p": 0.5, "max_output_tokens": 3, "stop_sequences": ["x"]},
            tools=[{"function_declarations": [{"name": "f", "parameters_json_schema": {"type": "object"}}]}],
            tool_config={"function_calling_config": {"mode": "ANY", "allowed_function_names": ["f"]}},
        ),
        turns(
            {"parts": [{"text": "hi"}]},
            systemInstruction={"parts": [{"text": "s"}]},
            generationConfig={"topP": 0.5, "maxOutputTokens": 3, "stopSequences": ["x"]},
            tools=[{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]}],
            toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        ),
    ),
    "texts of a model's turn": (
        turns({"role": "model", "parts": [{"text": "a"}, {"text": "b"}]}),
        turns({"role": "model", "parts": [{"text": "ab"}]}),
    ),
    "wrappers": (turns(MODEL_CALL, answer({"result": "r"})), turns(MODEL_CALL, answer({"output": "r"}))),
    "whole object": (
        turns(MODEL_CALL, answer({"a": 1, "b": "ü"})),
        turns(MODEL_CALL, answer({"output": '{"a":1,"b":"ü"}'})),
    ),
    "upper-case types": (
        turns(
            {"parts": [{"text": "hi"}]},
            tools=[
                {
                    "functionDeclarations": [
                        {"name": "f", "parameters": {"type": "OBJECT", "items": [{"type": "ARRAY"}]}}
                    ]
                }
            ],
        ),
        turns(
            {"parts": [{"text": "hi"}]},
            tools=[
                {
                    "functionDeclarations": [
                        {"name": "f", "parametersJsonSchema": {"type": "object", "items": [{"type": "array"}]}}
                    ]
                }
            ],
        ),
    ),
}


@pytest.mark.parametrize(
    ("dialect", "pair"),
    [
        *[pytest.param("openai-chat", pair, id=name) for name, pair in SAME_CHATS.items()],
        *[pytest.param("gemini-generate", pair, id=name) for name, pair in SAME_TURNS.items()],
    ],
)
def test_forms_that_a_provider_takes_for_the_same_decode_to_the_same(dialect: str, pair: Any):
    one, other = (decode(dialect, payload) for payload in pair)
    assert (one.prompt, one.tools, one.options) == (other.prompt, other.tools, other.options)
    assert one.opaque == other.opaque == {}


def test_a_chat_decodes_to_the_prompt_that_it_says():
    payload = chat(
        {"role": "system", "content": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]},
        {
            "role": "user",
            "name": "ann",
            "content": [
                TEXT,
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "https://pictures.example/1.png"}},
            ],
        },
        {"role": "assistant", "content": [TEXT, TEXT], "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "a", "content": "r"},
        tool_choice={"type": "function", "function": {"name": "look"}},
        tools=[{"type": "web_search"}, {"type": "function", "function": {"name": "look"}}],
    )
    decoded = decode("openai-chat", payload, url="https://x/openai/deployments/gpt-9/chat/completions")
    assert decoded.prompt == (
        SystemMessage("s"),
        UserMessage(
            (
                TextPart("hi"),
                ImagePart("image/png", data="AAAA"),
                ImagePart("image/*", url="https://pictures.example/1.png"),
            ),
            "ann",
        ),
        AssistantMessage("hihi", (ToolCall("a", FunctionCall("look", '{"at": 1}')),)),
        ToolResultMessage("r", "a"),
    )
    assert decoded.options == {"tool_choice": "look", "model": "gpt-9"}
    assert decoded.opaque == {
        "/messages/0/content/0/cache_control": {"type": "ephemeral"},
        "/messages/1/content/1/image_url/detail": "low",
        "/tools/0/type": "web_search",
    }
    assert decoded.places["prompt/2/tool_calls/0"] == "/messages/2/tool_calls/0"
    assert decoded.places["tools/0"] == "/tools/1"


def test_turns_decode_to_the_prompt_that_they_say():
    payload = turns(
        {
            "role": "user",
            "parts": [
                {"text": "a"},
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                {"fileData": {"mimeType": "image/jpeg", "fileUri": "gs://b/c"}},
            ],
        },
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"functionCall": {"name": "look"}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "look", "response": {"error": "no"}}}, {"text": "b"}],
        },
        toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f", "g"]}},
        generationConfig={"responseMimeType": "text/plain", "topK": 3},
    )
    url = "https://x/v1beta/models/gemini%2Fnine:streamGenerateContent?alt=sse"
    decoded = decode("gemini-generate", payload, url=url)
    assert decoded.prompt == (
        UserMessage(
            (TextPart("a"), ImagePart("image/png", data="AAAA"), ImagePart("image/jpeg", url="gs://b/c")),
        ),
        AssistantMessage(None, (ToolCall("call_1", FunctionCall("look", "{}")),)),
        ToolResultMessage("no", "call_1", "look", "error"),
        UserMessage("b"),
    )
    assert decoded.options == {"tool_choice": "required", "model": "gemini/nine", "stream": True}
    assert decoded.opaque == {
        "/contents/1/parts/0/text": "hm",
        "/contents/1/parts/0/thought": True,
        "/generationConfig/responseMimeType": "text/plain",
        "/generationConfig/topK": 3,
        "/toolConfig/functionCallingConfig/allowedFunctionNames": ["f", "g"],
    }


@pytest.mark.parametrize(
    ("dialect", "payload", "pointer"),
    [
        ("openai-chat", [], ""),
        ("openai-chat", chat(5), "/messages/0"),
        ("openai-chat", {"messages": "hi"}, "/messages"),
        ("openai-chat", chat({"role": "function", "content": "x"}), "/messages/0/role"),
        ("openai-chat", chat({"role": "user", "content": 5}), "/messages/0/content"),
        ("openai-chat", chat({"role": "assistant", "tool_calls": [{"id": "a"}]}), "/messages/0/tool_calls/0/function"),
        ("openai-chat", chat(USER, stop=5), "/stop"),
        ("gemini-generate", None, ""),
        ("gemini-generate", turns({"role": "system", "parts": []}), "/contents/0/role"),
        ("gemini-generate", turns({"parts": [{"text": 5}]}), "/contents/0/parts/0/text"),
        (
            "gemini-generate",
            turns({"role": "model", "parts": [{"functionCall": {"args": "{}"}}]}),
            "/contents/0/parts/0/functionCall/args",
        ),
    ],
)
def test_a_request_of_another_form_is_told_with_its_place(dialect: str, payload: Any, pointer: str):
    with pytest.raises(DecodeFailed) as failed:
        decode(dialect, payload)
    assert failed.value.pointer == pointer


def test_an_unknown_dialect_is_told_with_those_that_are_known():
    with pytest.raises(
        HarnessError, match=r"unknown dialect 'x'; known: anthropic-messages, gemini-generate, openai-chat"
    ):
        decode("x", {})


KEYS = (
    "messages contents role user model assistant tool system content parts text type function functionCall",
    "functionResponse name args arguments id response tools functionDeclarations tool_calls tool_call_id",
    "generationConfig stopSequences toolConfig functionCallingConfig mode response_format json_schema schema",
    "stop systemInstruction parameters tool_choice image_url url inlineData fileData",
)
WORDS = st.sampled_from(" ".join(KEYS).split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@given(payload=JSON)
def test_decoding_any_json_gives_a_prompt_or_says_where_it_cannot(dialect: str, payload: Any):
    try:
        pointer = min(decode(dialect, payload).places.values(), default="")
    except DecodeFailed as error:
        pointer = error.pointer
    assert pointer == "" or pointer.startswith("/")


@pytest.mark.parametrize(
    "message",
    [
        AssistantMessage("Hello ✓"),
        AssistantMessage(
            None, (ToolCall("a", FunctionCall("look", '{"at":1}')), ToolCall("b", FunctionCall("look", "{}")))
        ),
        AssistantMessage("both", (ToolCall("a", FunctionCall("look", '{"at":1}')),)),
    ],
)
@pytest.mark.parametrize("make", [AnthropicAdapter, OpenAIAdapter, GeminiAdapter])
def test_a_written_answer_is_read_back_whole(make: Any, message: AssistantMessage):
    adapter = make(api_key="no-key")
    finish = "tool_calls" if message.tool_calls else "stop"
    answer = WrittenAnswer(content=message.content, tool_calls=message.tool_calls, finish=finish)
    body = DIALECTS[adapter.dialect].write_response(answer)
    assert json.loads(body)
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    end = list(adapter.read_response(ResponseHead(200, {}), body, info))[-1]
    assert isinstance(end, EndEvent)
    assert end.message == message
    assert end.finish == finish
