from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_compliance.dialects import DIALECTS, DecodeFailed, decode
from art_compliance.dialects.urls import model_of
from art_compliance.findings import HarnessError
from art_compliance.scenarios import WrittenAnswer
from art_sdk import (
    AnthropicAdapter,
    AssistantMessage,
    CallInfo,
    CallOptions,
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
    ToolSchema,
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
    "an image's URL alone": (
        chat({"role": "user", "content": [TEXT, {"type": "image_url", "image_url": "https://x/y.png"}]}),
        chat({"role": "user", "content": [TEXT, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]}),
    ),
    "functions are tools": (
        chat(
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": '{"at": 1}'}},
            {"role": "function", "name": "look", "content": "r"},
            functions=[{"name": "look", "parameters": {}}],
            function_call={"name": "look"},
        ),
        chat(
            {"role": "assistant", "tool_calls": [function("look", '{"at": 1}')]},
            {"role": "tool", "name": "look", "content": "r"},
            tools=[{"type": "function", "function": {"name": "look", "parameters": {}}}],
            tool_choice={"type": "function", "function": {"name": "look"}},
        ),
    ),
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

THINKING = {"type": "thinking", "thinking": "h", "signature": "="}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}


def told(content: Any, **fields: Any) -> dict[str, Any]:
    """A result of the call `a`, in a user's message."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": content, **fields}]}


SAME_MESSAGES = {
    "text as one block": (chat({"role": "user", "content": [TEXT]}), chat(USER)),
    "texts of an assistant": (
        chat({"role": "assistant", "content": [TEXT, TEXT]}),
        chat({"role": "assistant", "content": "hihi"}),
    ),
    "system as one block": (chat(USER, system=[TEXT]), chat(USER, system="hi")),
    "system in the list": (chat({"role": "system", "content": "hi"}, USER), chat(USER, system="hi")),
    "empty content is null": (
        chat({"role": "assistant", "content": []}),
        chat({"role": "assistant", "content": None}),
    ),
    "result in blocks": (chat(told([TEXT, TEXT])), chat(told("hihi"))),
    "no result is empty": (chat(told(None)), chat(told(""))),
    "results apart": (
        chat(told("hi"), told("hi")),
        chat({"role": "user", "content": [*told("hi")["content"], *told("hi")["content"]]}),
    ),
    "a result that did not fail": (chat(told("hi", is_error=False)), chat(told("hi"))),
    "no tools": (chat(USER, tools=[], stop_sequences=[]), chat(USER)),
    "a custom tool": (
        chat(USER, tools=[{"type": "custom", "name": "f", "input_schema": {"type": "object"}}]),
        chat(USER, tools=[{"name": "f", "description": "", "input_schema": {"type": "object"}}]),
    ),
    "null is absent": (chat(USER, temperature=None, tools=None, tool_choice=None, output_config=None), chat(USER)),
}

SIGNED = {"role": "model", "parts": [{"text": "x", "thoughtSignature": "="}]}
SAME_TURNS["snake-case signature"] = (
    turns({"role": "model", "parts": [{"text": "x", "thought_signature": "="}]}),
    turns(SIGNED),
)


@pytest.mark.parametrize(
    ("dialect", "pair"),
    [
        *[pytest.param("anthropic-messages", pair, id=name) for name, pair in SAME_MESSAGES.items()],
        *[
            pytest.param(dialect, pair, id=f"{dialect}-{name}")
            for dialect in ("openai-chat", "mistral-chat", "deepseek-chat", "openrouter-chat")
            for name, pair in SAME_CHATS.items()
        ],
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


def test_what_the_format_has_no_slot_for_stays_in_sight():
    custom = {"id": "c", "type": "custom", "custom": {"name": "run", "input": "ls -l"}}
    payload = chat(
        {"role": "assistant", "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c", "content": [TEXT, {"type": "image_url", "image_url": {"url": "u"}}]},
        tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}},
    )
    decoded = decode("openai-chat", payload)
    assert decoded.prompt[0].tool_calls == (ToolCall("c", FunctionCall("run", "ls -l")),)
    assert decoded.opaque == {
        "/messages/0/tool_calls/0/type": "custom",
        "/messages/1/content/1/type": "image_url",
        "/messages/1/content/1/image_url": {"url": "u"},
        "/tool_choice/type": "allowed_tools",
        "/tool_choice/allowed_tools": {"mode": "auto", "tools": []},
    }


def kept(*places: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return {"anthropic-messages": {"blocks": [{"at": at, "block": block} for at, block in places]}}


def test_messages_decode_to_the_prompt_that_they_say():
    cached = {"cache_control": {"type": "ephemeral"}}
    picture = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    payload = chat(
        {
            "role": "user",
            "content": [
                TEXT | cached,
                {"type": "image", "source": picture, "transformations": {}},
                {"type": "image", "source": {"type": "url", "url": "https://pictures.example/1.png"}},
            ],
        },
        {"role": "assistant", "content": [THINKING, TEXT, USE | cached]},
        {"role": "user", "content": [*told("r", is_error=True, **cached)["content"], TEXT]},
        {"role": "system", "content": [TEXT, {"type": "odd", "x": 1}]},
        {"role": "user", "content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}, TEXT]},
        told([TEXT, {"type": "image", "source": picture}]),
        system=[TEXT | cached, TEXT],
        tools=[
            {"type": "web_search_20250305", "name": "web_search"},
            {"name": "look", "description": "d", "input_schema": {"type": "object"}, "strict": True},
        ],
        model="m",
        max_tokens=5,
        temperature=0.5,
        top_p=0.25,
        stream=True,
        stop_sequences=["x"],
        tool_choice={"type": "tool", "name": "look", "disable_parallel_tool_use": True},
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        thinking={"type": "adaptive"},
    )
    decoded = decode("anthropic-messages", payload, url="https://x/v1/messages")
    assert decoded.prompt == (
        SystemMessage("hi"),
        SystemMessage("hi"),
        UserMessage(
            (
                TextPart("hi"),
                ImagePart("image/png", data="AAAA"),
                ImagePart("image/*", url="https://pictures.example/1.png"),
            ),
        ),
        AssistantMessage("hi", (ToolCall("a", FunctionCall("look", '{"at": 1}')),), extensions=kept((0, THINKING))),
        ToolResultMessage("r", "a", None, "error"),
        UserMessage("hi"),
        SystemMessage("hi"),
        UserMessage("hi"),
        ToolResultMessage("hi", "a"),
    )
    assert decoded.tools == (ToolSchema("look", "d", {"type": "object"}),)
    assert decoded.options == {
        "model": "m",
        "max_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.25,
        "stream": True,
        "stop": ("x",),
        "response_schema": {"type": "object"},
        "tool_choice": "look",
        "parallel_tool_calls": False,
    }
    ephemeral = {"type": "ephemeral"}
    assert decoded.opaque == {
        "/system/0/cache_control": ephemeral,
        "/messages/0/content/0/cache_control": ephemeral,
        "/messages/0/content/1/transformations": {},
        "/messages/1/content/2/cache_control": ephemeral,
        "/messages/2/content/0/cache_control": ephemeral,
        "/messages/3/content/1/type": "odd",
        "/messages/3/content/1/x": 1,
        "/messages/4/content/0/type": "image",
        "/messages/4/content/0/source": {"type": "file", "file_id": "f"},
        "/messages/5/content/0/content/1/type": "image",
        "/messages/5/content/0/content/1/source": picture,
        "/tools/0/type": "web_search_20250305",
        "/tools/0/name": "web_search",
        "/tools/1/strict": True,
        "/output_config/effort": "low",
        "/thinking": {"type": "adaptive"},
    }
    assert decoded.places == {
        "prompt/0": "/system/0",
        "prompt/1": "/system/1",
        "prompt/2": "/messages/0/content/0",
        "prompt/3": "/messages/1",
        "prompt/3/tool_calls/0": "/messages/1/content/2",
        "prompt/4": "/messages/2/content/0",
        "prompt/5": "/messages/2/content/1",
        "prompt/6": "/messages/3/content/0",
        "prompt/7": "/messages/4/content/1",
        "prompt/8": "/messages/5/content/0",
        "tools/0": "/tools/1",
        **{f"options/{name}": f"/{name}" for name in ("model", "max_tokens", "temperature", "top_p", "stream")},
        "options/stop": "/stop_sequences",
        "options/response_schema": "/output_config/format",
        "options/tool_choice": "/tool_choice",
        "options/parallel_tool_calls": "/tool_choice/disable_parallel_tool_use",
    }


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        ({"type": "any", "disable_parallel_tool_use": False}, {"tool_choice": "required", "parallel_tool_calls": True}),
    ],
)
def test_a_choice_of_a_tool_is_decoded(choice: Any, options: dict[str, Any]):
    assert decode("anthropic-messages", chat(USER, tool_choice=choice)).options == options


def test_an_output_of_another_format_is_opaque():
    decoded = decode("anthropic-messages", chat(USER, output_config={"format": {"type": "grammar"}}))
    assert (decoded.options, decoded.opaque) == ({}, {"/output_config/format": {"type": "grammar"}})


@pytest.mark.parametrize(
    ("parts", "extensions"),
    [
        ([{"text": "x"}, {"functionCall": {"name": "f"}}], None),
        (SIGNED["parts"], {"text": "="}),
        ([{"text": "", "thoughtSignature": "="}, {"functionCall": {"name": "f"}}], {"text": "="}),
        (
            [
                {"text": "x", "thoughtSignature": "="},
                {"functionCall": {"name": "f"}, "thoughtSignature": "+"},
                {"functionCall": {"name": "f"}},
                {"functionCall": {"name": "f"}, "thought_signature": "-"},
            ],
            {"text": "=", "calls": {"0": "+", "2": "-"}},
        ),
    ],
)
def test_thought_signatures_are_extensions_of_the_model_s_turn(parts: Any, extensions: Any):
    decoded = decode("gemini-generate", turns({"role": "model", "parts": parts}))
    (message,) = decoded.prompt
    assert isinstance(message, AssistantMessage)
    assert message.extensions == (extensions and {"gemini-generate": extensions})
    assert decoded.opaque == {}


@pytest.mark.parametrize(
    ("content", "extensions"),
    [
        ([TEXT, USE], None),
        ([THINKING], kept((0, THINKING))),
        ([THINKING, TEXT, THINKING, USE], kept((0, THINKING), (2, THINKING))),
        ([{"type": "newer", "x": [None], "y": 1}], kept((0, {"type": "newer", "x": [None], "y": 1}))),
    ],
)
def test_blocks_that_are_neither_text_nor_calls_are_extensions(content: Any, extensions: Any):
    decoded = decode("anthropic-messages", chat({"role": "assistant", "content": content}))
    (message,) = decoded.prompt
    assert isinstance(message, AssistantMessage)
    assert message.extensions == extensions
    assert decoded.opaque == {}


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
        ("openai-chat", chat({"role": "model", "content": "x"}), "/messages/0/role"),
        ("openai-chat", chat({"role": "user", "content": 5}), "/messages/0/content"),
        ("openai-chat", chat({"role": "assistant", "tool_calls": [{"id": "a"}]}), "/messages/0/tool_calls/0/function"),
        ("openai-chat", chat(USER, stop=5), "/stop"),
        ("openai-chat", chat(USER, tool_choice=5), "/tool_choice"),
        ("mistral-chat", chat({"role": "assistant", "content": ["x"]}), "/messages/0/content/0"),
        ("deepseek-chat", chat({"role": "user", "content": 5}), "/messages/0/content"),
        ("openrouter-chat", {"messages": "hi"}, "/messages"),
        ("anthropic-messages", [], ""),
        ("anthropic-messages", chat(5), "/messages/0"),
        ("anthropic-messages", {"messages": "hi"}, "/messages"),
        ("anthropic-messages", chat({"role": "tool", "content": "x"}), "/messages/0/role"),
        ("anthropic-messages", chat({"content": "x"}), "/messages/0/role"),
        ("anthropic-messages", chat({"role": "user", "content": 5}), "/messages/0/content"),
        ("anthropic-messages", chat({"role": "user", "content": ["x"]}), "/messages/0/content/0"),
        ("anthropic-messages", chat({"role": "user", "content": [{"text": "x"}]}), "/messages/0/content/0/type"),
        ("anthropic-messages", chat({"role": "assistant", "content": [{}]}), "/messages/0/content/0/type"),
        ("anthropic-messages", chat(USER, system=5), "/system"),
        ("anthropic-messages", chat(USER, system=[TEXT | {"text": 5}]), "/system/0/text"),
        ("anthropic-messages", chat({"role": "user", "content": [{"type": "image"}]}), "/messages/0/content/0/source"),
        (
            "anthropic-messages",
            chat({"role": "user", "content": [{"type": "image", "source": {"type": "path"}}]}),
            "/messages/0/content/0/source/type",
        ),
        (
            "anthropic-messages",
            chat({"role": "assistant", "content": [USE | {"input": None}]}),
            "/messages/0/content/0/input",
        ),
        (
            "anthropic-messages",
            chat({"role": "assistant", "content": [USE | {"input": "{}"}]}),
            "/messages/0/content/0/input",
        ),
        ("anthropic-messages", chat(told(5)), "/messages/0/content/0/content"),
        ("anthropic-messages", chat(USER, stop_sequences="x"), "/stop_sequences"),
        ("anthropic-messages", chat(USER, tools=["f"]), "/tools/0"),
        ("anthropic-messages", chat(USER, tools=[{"name": "f", "input_schema": []}]), "/tools/0/input_schema"),
        ("anthropic-messages", chat(USER, tool_choice="auto"), "/tool_choice"),
        ("anthropic-messages", chat(USER, tool_choice={"type": "all"}), "/tool_choice"),
        ("anthropic-messages", chat(USER, tool_choice={"type": "tool"}), "/tool_choice"),
        ("anthropic-messages", chat(USER, output_config=[]), "/output_config"),
        ("gemini-generate", None, ""),
        (
            "gemini-generate",
            turns({"role": "model", "parts": [{"text": "x", "thoughtSignature": 5}]}),
            "/contents/0/parts/0/thoughtSignature",
        ),
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
        HarnessError,
        match=r"unknown dialect 'x'; known: anthropic-messages, deepseek-chat, gemini-generate, mistral-chat",
    ):
        decode("x", {})


KEYS = (
    "messages contents role user model assistant tool system content parts text type function functionCall",
    "functionResponse name args arguments id response tools functionDeclarations tool_calls tool_call_id",
    "generationConfig stopSequences toolConfig functionCallingConfig mode response_format json_schema schema",
    "stop systemInstruction parameters tool_choice image_url url inlineData fileData thoughtSignature",
    "reasoning_content reasoning reasoning_details thinking functions function_call custom prefix",
    "image source base64 tool_use tool_result tool_use_id input input_schema output_config format stop_sequences",
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


OBJECT = st.dictionaries(WORDS, JSON, max_size=2)
PLAIN = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(str.strip)
SAID = st.one_of(
    PLAIN.map(UserMessage),
    st.lists(PLAIN.map(TextPart), min_size=2, max_size=3).map(lambda parts: UserMessage(tuple(parts))),
    st.tuples(st.sampled_from([ImagePart("image/png", data="AAEC"), ImagePart("image/*", url="https://x/y")])).map(
        UserMessage
    ),
)
KEPT = st.lists(
    st.sampled_from([THINKING, {"type": "redacted_thinking", "data": "+"}, {"type": "newer", "x": [None]}]), max_size=2
)


@st.composite
def answered(draw: st.DrawFn, number: int) -> list[Any]:
    """An assistant's message that ends in text or calls, and the results of its calls."""
    text, many = draw(st.tuples(st.none() | PLAIN, st.integers(0, 2)).filter(any))
    places: list[tuple[int, dict[str, Any]]] = []
    for at in range(many + (text is not None)):
        places += [(at + len(places) + n, block) for n, block in enumerate(draw(KEPT))]
    calls = tuple(
        ToolCall(f"c{number}_{n}", FunctionCall("look", json.dumps(draw(OBJECT), ensure_ascii=False)))
        for n in range(many)
    )
    results = [
        ToolResultMessage(draw(WORDS), call.id, None, draw(st.sampled_from(["success", "error"]))) for call in calls
    ]
    return [AssistantMessage(text, calls, extensions=kept(*places) if places else None), *results]


@st.composite
def prompts(draw: st.DrawFn) -> tuple[Any, ...]:
    begin = [*draw(st.lists(PLAIN.map(SystemMessage), max_size=2)), draw(SAID)]
    rest = [draw(st.lists(SAID, max_size=1)) + draw(answered(number)) for number in range(draw(st.integers(0, 3)))]
    return (*begin, *(message for turn in rest for message in turn), draw(SAID))


OPTIONS = st.fixed_dictionaries(
    {
        "tools": st.lists(
            st.builds(lambda text, rest: ToolSchema("look", text, rest | {"type": "object"}), WORDS, OBJECT),
            min_size=1,
            max_size=1,
        ),
        "model": st.sampled_from(["claude-haiku-4-5", "m"]),
        "max_tokens": st.integers(1, 10**20),
    },
    optional={
        "tool_choice": st.sampled_from(["auto", "required", "look"]),
        "parallel_tool_calls": st.booleans(),
        "stop": st.lists(PLAIN, min_size=1).map(tuple),
        "response_schema": OBJECT,
        "temperature": st.floats(0, 1),
    },
)


@given(prompt=prompts(), options=OPTIONS)
def test_what_the_adapter_for_anthropic_writes_decodes_to_what_was_given(
    prompt: tuple[Any, ...], options: dict[str, Any]
):
    choice = {"tool_choice": "auto"} if "parallel_tool_calls" in options else {}  # the switch stands in a choice
    wanted = choice | options
    adapter = AnthropicAdapter(api_key="no-key")
    payload = adapter.translate(prompt, CallOptions(thread_id="t", **wanted))
    decoded = decode("anthropic-messages", json.loads(json.dumps(payload)))
    assert decoded.prompt == prompt
    assert list(decoded.tools) == wanted["tools"]
    assert decoded.options == {name: value for name, value in wanted.items() if name != "tools"}
    assert decoded.opaque == {}


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
    body = DIALECTS[adapter.dialect].answers.write(answer)
    assert json.loads(body)
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    end = list(adapter.read_response(ResponseHead(200, {}), body, info))[-1]
    assert isinstance(end, EndEvent)
    assert end.message == message
    assert end.finish == finish


@pytest.mark.parametrize(
    ("response", "text", "status"),
    [
        ({"output": "ok"}, "ok", "success"),
        ({"result": "ok"}, "ok", "success"),
        ({"error": "no"}, "no", "error"),
        ({"zone": "ok"}, '{"zone":"ok"}', "success"),
        ({"area": "ok"}, '{"area":"ok"}', "success"),
        ({"output": 7}, '{"output":7}', "success"),
        ({"output": "ok", "error": "no"}, '{"output":"ok","error":"no"}', "success"),
        ({}, "{}", "success"),
    ],
)
def test_a_result_of_geminis_is_the_text_that_was_wrapped(response: Any, text: str, status: str):
    call, answer = {"id": "c", "name": "f", "args": {}}, {"id": "c", "name": "f", "response": response}
    contents = [{"role": "model", "parts": [{"functionCall": call}]}, {"parts": [{"functionResponse": answer}]}]
    found: Any = decode("gemini-generate", {"contents": contents}).prompt[-1]
    assert (found.content, found.status) == (text, status)


def test_the_tools_of_a_chat_are_counted_in_both_lists():
    named = [{"name": name, "parameters": {"type": "object"}} for name in ("a", "b", "c", "d")]
    tools = [{"type": "function", "function": one} for one in named[:2]]
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "tools": tools, "functions": named[2:]}
    found = decode("openai-chat", body)
    assert [tool.name for tool in found.tools] == ["a", "b", "c", "d"]
    places = {name: place for name, place in found.places.items() if name.startswith("tools/")}
    assert places == {
        "tools/0": "/tools/0",
        "tools/1": "/tools/1",
        "tools/2": "/functions/0",
        "tools/3": "/functions/1",
    }


@pytest.mark.parametrize("kind", ["zone", "area", None])
def test_a_choice_that_anthropic_does_not_know_is_told(kind: str | None):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]}
    with pytest.raises(DecodeFailed, match="unknown tool choice"):
        decode("anthropic-messages", {**body, "tool_choice": {"type": kind, "name": "f"}})


def test_the_tools_of_gemini_are_counted_over_their_lists():
    tools = [{"functionDeclarations": [{"name": one} for one in names]} for names in ("ab", "c")]
    found = decode("gemini-generate", {"contents": [{"parts": [{"text": "a"}]}], "tools": tools})
    assert [tool.name for tool in found.tools] == ["a", "b", "c"]
    assert {name: place for name, place in found.places.items() if name.startswith("tools/")} == {
        "tools/0": "/tools/0/functionDeclarations/0",
        "tools/1": "/tools/0/functionDeclarations/1",
        "tools/2": "/tools/1/functionDeclarations/0",
    }


@pytest.mark.parametrize("kind", ["audio", "thinking", "video", "zone"])
def test_a_block_of_no_known_kind_is_nobodys_text(kind: str):
    blocks = [{"type": "text", "text": "a"}, {"type": kind, "text": "b"}]
    found = decode("anthropic-messages", {"model": "m", "messages": [{"role": "user", "content": blocks}]})
    assert [message.content for message in found.prompt] == ["a"]
    assert found.opaque["/messages/0/content/1/type"] == kind


@pytest.mark.parametrize("kind", ["grammar", "json", "text", "yaml"])
def test_a_format_that_is_no_schema_is_opaque(kind: str):
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "output_config": {"format": {"type": kind}}}
    found = decode("anthropic-messages", body)
    assert "response_schema" not in found.options
    assert found.opaque["/output_config/format"] == {"type": kind}


GOES_BACK = {
    "anthropic-messages": {"text", "signature"},
    "gemini-generate": {"signature"},
    "openai-chat": set[str](),
    "mistral-chat": set[str](),
    "deepseek-chat": {"text"},
    "openrouter-chat": {"text", "signature"},
}
"""What of a turn's reasoning its provider wants back: the text that was thought, a signature, both or nothing."""


@pytest.mark.parametrize("name", DIALECTS)
def test_of_reasoning_goes_back(name: str):
    dialect = DIALECTS[name]
    wanted = {"text": dialect.requests.has_thinking, "signature": dialect.requests.has_signature}
    assert {what for what, is_wanted in wanted.items() if is_wanted} == GOES_BACK[name]


@pytest.mark.parametrize("kind", ["aaa", "uri", "zone", None])
def test_an_image_of_no_known_source_is_told(kind: str | None):
    image = {"type": "image", "source": {"type": kind, "url": "https://x", "media_type": "image/png", "data": "AAAA"}}
    with pytest.raises(DecodeFailed, match="unknown image source"):
        decode("anthropic-messages", {"model": "m", "messages": [{"role": "user", "content": [image]}]})


@pytest.mark.parametrize(
    ("config", "is_opaque"),
    [
        ({"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}}, False),
        ({"responseMimeType": "application/json"}, True),
        ({"responseMimeType": "text/x.enum", "responseJsonSchema": {"type": "object"}}, True),
        ({"responseMimeType": "text/plain"}, True),
        ({"responseJsonSchema": {"type": "object"}}, False),
    ],
)
def test_a_mime_type_says_nothing_more_where_it_is_that_of_a_schema(config: dict[str, Any], is_opaque: bool):  # noqa: FBT001
    found = decode("gemini-generate", {"contents": [{"parts": [{"text": "a"}]}], "generationConfig": config})
    assert ("/generationConfig/responseMimeType" in found.opaque) is is_opaque
    assert ("response_schema" in found.options) is ("responseJsonSchema" in config)


def test_arguments_that_are_an_object_are_the_json_of_it():
    called = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"city": "Zürich"}}}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": None, "tool_calls": [called]}]
    found: Any = decode("openai-chat", {"model": "m", "messages": messages}).prompt[-1]
    assert found.tool_calls[0].function.arguments == '{"city": "Zürich"}'


@pytest.mark.parametrize("role", ["assistant", "model2", "system", "tool", "a", "z"])
def test_a_role_that_gemini_does_not_know_is_told(role: str):
    with pytest.raises(DecodeFailed, match=f"unknown role '{role}'"):
        decode("gemini-generate", {"contents": [{"role": role, "parts": [{"text": "a"}]}]})


GEMINI_HOST = "https://generativelanguage.googleapis.com/v1beta"


@pytest.mark.parametrize(
    ("url", "model"),
    [
        (f"{GEMINI_HOST}/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash"),
        (f"{GEMINI_HOST}/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "gemini-2.5-flash"),
        (f"{GEMINI_HOST}/models/vendor%2Fsome:free@2025-05-01:generateContent", "vendor/some:free@2025-05-01"),
        (f"{GEMINI_HOST}/models/vendor%2Fsome%3Afree:streamGenerateContent", "vendor/some:free"),
        (f"{GEMINI_HOST}/tunedModels/mine:generateContent", None),
        ("https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=1", "gpt-4o"),
        ("https://x.example/models/m", "m"),
        ("https://api.openai.com/v1/chat/completions", None),
        (None, None),
    ],
)
def test_a_url_may_name_the_model(url: str | None, model: str | None):
    assert model_of(url) == model
    decoded = decode("gemini-generate", {"contents": [{"parts": [{"text": "a"}]}]}, url=url)
    assert decoded.options.get("model") == model
    assert decoded.options.get("stream", False) is ("streamGenerateContent" in (url or ""))


def test_the_tools_of_anthropic_are_counted_without_the_providers_own():
    own = {"type": "web_search_20250305", "name": "web_search"}
    tools = [{"name": "a"}, own, {"type": "custom", "name": "b"}, {"name": "c"}]
    messages = [{"role": "user", "content": "a"}]
    found = decode("anthropic-messages", {"model": "m", "max_tokens": 9, "messages": messages, "tools": tools})
    assert [tool.name for tool in found.tools] == ["a", "b", "c"]
    places = {name: place for name, place in found.places.items() if name.startswith("tools/")}
    assert places == {"tools/0": "/tools/0", "tools/1": "/tools/2", "tools/2": "/tools/3"}
