"""What each member of the chat completions family does in its own way, one row per fact."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from art_sdk import (
    BUILT_IN,
    AzureOpenAIAdapter,
    BaseAdapter,
    CallInfo,
    DeepSeekAdapter,
    GroqAdapter,
    InvalidConfig,
    MistralAdapter,
    OllamaAdapter,
    OpenRouterAdapter,
    XAIAdapter,
    fold,
    parse_options,
)
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from built_in import read

Make = Callable[..., Any]
USER = {"role": "user", "content": "hello"}
SAID = {"role": "assistant", "content": "hi"}
EMPTY_ANSWER = {"role": "assistant", "content": ""}
LATE = {"role": "system", "content": "late"}
TOOL = {"name": "look", "description": "d", "inputSchema": {"type": "object", "properties": {}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
LOOP = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool_result", "tool_call_id": "call_1", "content": "7"},
]
FORCED = {"tools": [TOOL], "tool_choice": "required"}
INFO = CallInfo(thread_id="t", trace_id="r", model="m", clock=lambda: 2.5)


def called_id(payload: dict[str, Any]) -> str:
    calls = payload["messages"][1]["tool_calls"]
    assert payload["messages"][2]["tool_call_id"] == calls[0]["id"]
    return str(calls[0]["id"])


SENT: dict[str, tuple[type[BaseAdapter], list[Any], dict[str, Any], Callable[[dict[str, Any]], Any], Any]] = {
    "DeepSeek does not think where a choice is forced": (
        *(DeepSeekAdapter, [USER], FORCED),
        *(lambda p: (p["tool_choice"], p["thinking"]), ("required", {"type": "disabled"})),
    ),
    "DeepSeek counts a stream on request": (
        *(DeepSeekAdapter, [USER], {"stream": True}),
        *(lambda p: p["stream_options"], {"include_usage": True}),
    ),
    "DeepSeek has no rule for call ids": (DeepSeekAdapter, LOOP, {}, called_id, "call_1"),
    "Groq's limit": (GroqAdapter, [USER], {"max_tokens": 5}, lambda p: p["max_completion_tokens"], 5),
    "Groq has no names of messages": (
        *(GroqAdapter, [USER | {"name": "Ann"}], {}),
        *(lambda p: p["messages"], [USER]),
    ),
    "Mistral's word for a forced choice": (MistralAdapter, [USER], FORCED, lambda p: p["tool_choice"], "any"),
    "Mistral counts every stream": (
        *(MistralAdapter, [USER], {"stream": True}),
        *(sorted, ["messages", "model", "stream"]),
    ),
    "Mistral's call ids": (MistralAdapter, LOOP, {}, lambda p: len(called_id(p)), 9),
    "Mistral's prefix": (MistralAdapter, [USER, SAID], {}, lambda p: p["messages"][1]["prefix"], True),
    "Mistral's system messages": (
        *(MistralAdapter, [USER, SAID, LATE, USER], {"late_system": "hoist"}),
        *(lambda p: [one["role"] for one in p["messages"]], ["system", "user", "assistant", "user"]),
    ),
    "OpenRouter's call ids": (OpenRouterAdapter, LOOP, {}, called_id, "call_1"),
    "xAI's call ids": (XAIAdapter, LOOP, {}, called_id, "call_1"),
    "xAI's names of tools": (
        *(XAIAdapter, [USER], {"tools": [TOOL | {"name": "a.b"}]}),
        *(lambda p: p["tools"][0]["function"]["name"][:4], "a_b_"),
    ),
    "xAI's models without reasoning take stop sequences": (
        *(XAIAdapter, [USER], {"stop": ["x"], "model": "grok-4-fast-non-reasoning"}),
        *(lambda p: p["stop"], ["x"]),
    ),
    "Ollama's limit": (OllamaAdapter, [USER], {"max_tokens": 5}, lambda p: p["max_tokens"], 5),
    "Ollama's names of messages": (OllamaAdapter, [USER | {"name": "n"}], {}, lambda p: p["messages"], [USER]),
    "Ollama's parallel calls": (
        *(OllamaAdapter, [USER], {"tools": [TOOL], "parallel_tool_calls": False}),
        *(lambda p: "parallel_tool_calls" in p, False),
    ),
    "OpenRouter's limit": (OpenRouterAdapter, [USER], {"max_tokens": 5}, lambda p: p["max_tokens"], 5),
}


@pytest.mark.parametrize(("make", "prompt", "options", "of", "expected"), SENT.values(), ids=SENT)
def test_a_member_sends_what_its_provider_takes(
    make: type[BaseAdapter],
    prompt: list[Any],
    options: dict[str, Any],
    of: Callable[[dict[str, Any]], Any],
    expected: Any,
    translate: Make,
) -> None:
    assert of(translate(make(api_key="no-key"), prompt, **options)) == expected


IMAGE = {"type": "image", "mime_type": "image/png", "url": "https://example.org/a.png"}
BROKEN = [USER, LOOP[1] | {"tool_calls": [CALL | {"function": {"name": "look", "arguments": "[1]"}}]}, LOOP[2]]


class Azure(AzureOpenAIAdapter):
    """A deployment that needs no settings."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(base_url="https://a.openai.azure.com/openai/v1", model="mine", **settings)


EMPTY = TOOL | {"inputSchema": {}}
STOPS = list("abcdefghijklmnopq")
MANY = [TOOL | {"name": f"t{number}"} for number in range(129)]
IMAGE = {"type": "image", "mime_type": "image/png", "url": "https://example.com/a.png"}
REFUSED: dict[str, tuple[type[BaseAdapter], list[Any], dict[str, Any], str]] = {
    "too many stops for DeepSeek": (
        DeepSeekAdapter,
        [USER],
        {"stop": STOPS},
        "deepseek.stop-max16",
    ),
    "too many tools for DeepSeek": (DeepSeekAdapter, [USER], {"tools": MANY}, "deepseek.tools-max128"),
    "a schema without its type": (DeepSeekAdapter, [USER], {"tools": [EMPTY]}, "deepseek.schema-root-object"),
    "a top_p of 0 at DeepSeek": (DeepSeekAdapter, [USER], {"top_p": 0.0}, "deepseek.sampling-range"),
    "too many tokens for DeepSeek": (DeepSeekAdapter, [USER], {"max_tokens": 400_000}, "deepseek.max-tokens-max"),
    "an empty prompt for DeepSeek": (DeepSeekAdapter, [], {}, "deepseek.messages-nonempty"),
    "an empty answer for Mistral": (MistralAdapter, [USER, EMPTY_ANSWER, USER], {}, "mistral.assistant-nonempty"),
    "too many stops for Groq": (GroqAdapter, [USER], {"stop": list("abcde")}, "groq.stop-max4"),
    "too many images for Groq": (
        *(GroqAdapter, [{"role": "user", "content": [IMAGE] * 3}, SAID, {"role": "user", "content": [IMAGE] * 3}], {}),
        "groq.images-max5",
    ),
    "a schema beside tools at Groq": (
        *(GroqAdapter, [USER], {"tools": [TOOL], "response_schema": {}}),
        "groq.json-mode-without-tools",
    ),
    "a schema beside Groq's own tools": (
        *(
            GroqAdapter,
            [USER],
            {"provider": {"groq-chat": {"tools": [{"type": "browser_search"}]}}, "response_schema": {}},
        ),
        "groq.json-mode-without-tools",
    ),
    "too hot for Mistral": (MistralAdapter, [USER], {"temperature": 1.6}, "mistral.temperature"),
    "a top_p of 0 at Mistral": (MistralAdapter, [USER], {"top_p": 0.0}, "mistral.temperature"),
    "an empty prompt for Groq": (GroqAdapter, [], {}, "groq.messages-nonempty"),
    "an empty prompt for Mistral": (MistralAdapter, [], {}, "mistral.start"),
    "a lone answer for Mistral": (MistralAdapter, [SAID], {}, "mistral.start"),
    "too many stops for OpenRouter": (OpenRouterAdapter, [USER], {"stop": list("abcde")}, "openrouter.stop-max4"),
    "too hot for OpenRouter": (OpenRouterAdapter, [USER], {"temperature": 2.1}, "openrouter.sampling-range"),
    "an empty message for xAI": (XAIAdapter, [USER | {"content": ""}], {}, "xai.content"),
    "an image by URL for Ollama": (OllamaAdapter, [USER | {"content": [IMAGE]}], {}, "ollama.image-data"),
    "arguments that are a list for Ollama": (OllamaAdapter, BROKEN, {}, "ollama.arguments"),
    "too many stops for Azure": (Azure, [USER], {"stop": list("abcde")}, "openai.stop-max4"),
    "a schema of alternatives": (
        *(OpenRouterAdapter, [USER], {"tools": [TOOL | {"inputSchema": {"anyOf": []}}]}),
        "openrouter.schema-root-object",
    ),
}


@pytest.mark.parametrize(("make", "prompt", "options", "rule"), REFUSED.values(), ids=REFUSED)
def test_a_member_refuses_what_its_provider_refuses(
    make: type[BaseAdapter], prompt: list[Any], options: dict[str, Any], rule: str, refusal: Make
) -> None:
    assert refusal(make(api_key="no-key"), prompt, **options).details["rule"] == rule


UNDECLARED: dict[str, tuple[type[BaseAdapter], list[Any], dict[str, Any], str]] = {
    "DeepSeek continues at its beta address alone": (DeepSeekAdapter, [USER, SAID], {}, "prefill"),
    "DeepSeek has no schema of answers": (DeepSeekAdapter, [USER], {"response_schema": {}}, "response_schema"),
    "xAI's models that reason take no stop sequences": (XAIAdapter, [USER], {"stop": ["x"]}, "stop"),
    "Ollama ignores the choice of a tool": (OllamaAdapter, [USER], FORCED, "tool_choice"),
    "Mistral has system messages in front": (MistralAdapter, [USER, SAID, LATE, USER], {}, "late_system"),
}


@pytest.mark.parametrize(("make", "prompt", "options", "capability"), UNDECLARED.values(), ids=UNDECLARED)
def test_a_member_declares_only_what_its_provider_can_do(
    make: type[BaseAdapter], prompt: list[Any], options: dict[str, Any], capability: str, refusal: Make
) -> None:
    assert f"does not declare {capability!r}" in refusal(make(api_key="no-key"), prompt, **options).message


DETAILS = [{"type": "reasoning.text", "text": "hm", "signature": "s"}]
CHUNK = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
THOUGHT: dict[str, tuple[type[BaseAdapter], dict[str, Any]]] = {
    "DeepSeek": (DeepSeekAdapter, {"content": "hi", "reasoning_content": "hm"}),
    "Groq": (GroqAdapter, {"content": "hi", "reasoning": "hm"}),
    "Mistral": (MistralAdapter, {"content": [CHUNK, {"type": "text", "text": "hi"}]}),
    "xAI": (XAIAdapter, {"content": "hi", "reasoning_content": "hm"}),
    "Ollama": (OllamaAdapter, {"content": "hi", "reasoning": "hm"}),
    "OpenRouter": (OpenRouterAdapter, {"content": "hi", "reasoning": "hm", "reasoning_details": DETAILS}),
}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("make", "said"), THOUGHT.values(), ids=THOUGHT)
def test_reasoning_is_read_and_goes_back_as_it_came(
    make: type[BaseAdapter], said: dict[str, Any], translate: Make, *, streamed: bool
) -> None:
    adapter = make(api_key="no-key")
    answer = [{"choices": [{"delta" if streamed else "message": said, "finish_reason": "stop"}]}]
    completion = fold(read(adapter, answer, streamed=streamed, info=INFO))
    assert (completion.message.content, completion.thinking) == ("hi", "hm")
    assert translate(adapter, [USER, completion.message, USER])["messages"][1] == {"role": "assistant", **said}


def members() -> dict[str, type[ChatCompletionsAdapter]]:
    places = {name: place.partition(":") for name, place in BUILT_IN.items()}
    found = {name: getattr(import_module(module), kind) for name, (module, _, kind) in places.items()}
    return {name: kind for name, kind in found.items() if issubclass(kind, ChatCompletionsAdapter)}


MEMBERS = members()
LONGEST = 60
"""Lines of a member's file."""


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_is_a_short_file_of_data(name: str) -> None:
    make = MEMBERS[name]
    written = [method for method, value in vars(make).items() if callable(value)]
    assert written == (["__init__"] if name == "openai-compatible" else [])  # it takes its data from the caller
    assert len(Path(inspect.getfile(make)).read_text().splitlines()) <= LONGEST


SETTLED = [name for name, make in MEMBERS.items() if make.default_base_url]
"""Members at an address of their own; the others are told where they are."""


@pytest.mark.parametrize("name", SETTLED)
def test_a_member_is_asked_at_its_own_address(name: str) -> None:
    adapter = MEMBERS[name](api_key="no-key")
    assert adapter.endpoint(parse_options({"thread_id": "t"})) == "/chat/completions"
    assert adapter.base_url == MEMBERS[name].default_base_url


@pytest.mark.parametrize("name", SETTLED)
def test_a_base_url_at_a_member_s_host_has_its_version(name: str) -> None:
    usual = MEMBERS[name].default_base_url
    bare, path = f"https://{urlsplit(usual).netloc}", urlsplit(usual).path
    if not path:
        assert MEMBERS[name](api_key="no-key", base_url=f"{bare}/").base_url == bare
        return
    for given in (bare, f"{bare}/"):
        with pytest.raises(InvalidConfig) as caught:
            MEMBERS[name](api_key="no-key", base_url=given)
        assert caught.value.message == f"{name}: base_url {bare!r} has no version; pass {bare}{path}"
