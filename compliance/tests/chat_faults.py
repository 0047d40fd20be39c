"""The faults of `semantic_faults` in chat completions, and who accepts which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from semantic_faults import OF_MESSAGES, Format, Spoil

_IMAGE: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A red pixel."""


def _call(call_id: str, city: str) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'},
    }


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"type": "function", "function": {"name": name, "description": f"Call {name}.", "parameters": parameters}}


def _good(model: str, *, image: bool) -> dict[str, Any]:
    asked: Any = "How is the weather in Paris and in Rome?"
    if image:
        asked = [{"type": "text", "text": asked}, {"type": "image_url", "image_url": {"url": _IMAGE}}]
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": asked},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [_call("aaaaaaaa1", "Paris"), _call("aaaaaaaa2", "Rome")],
            },
            {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": "sunny"},
            {"role": "tool", "tool_call_id": "aaaaaaaa2", "content": "rainy"},
            {"role": "assistant", "content": "Sunny in Paris, rainy in Rome."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [_tool("get_weather"), _tool("get_time")],
        "max_tokens": 100,
    }


def _drop_tools(body: dict[str, Any]) -> None:
    del body["tools"]
    body["messages"] = body["messages"][:2]
    body["tool_choice"] = "required"


def _doubled_id(body: dict[str, Any]) -> None:
    body["messages"][2]["tool_calls"][1]["id"] = "aaaaaaaa1"
    body["messages"][4]["tool_call_id"] = "aaaaaaaa1"


def _ask_with_image(body: dict[str, Any], url: str) -> None:
    body["messages"][1]["content"] = [{"type": "image_url", "image_url": {"url": url}}]


def _schema_of(body: dict[str, Any]) -> dict[str, Any]:
    return body["tools"][0]["function"]["parameters"]["properties"]["city"]


def _answer_without_name(body: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}


_SPOIL: Final[Mapping[str, Spoil]] = {
    **OF_MESSAGES,
    "unanswered-call": lambda body: body["messages"].pop(4),
    "orphan-result": lambda body: body["messages"].append(
        {"role": "tool", "tool_call_id": "bbbbbbbb1", "content": "no"}
    ),
    "doubled-result": lambda body: body["messages"].insert(4, dict(body["messages"][3])),
    "doubled-call-id": _doubled_id,
    "result-after-other-turn": lambda body: body["messages"].insert(3, {"role": "user", "content": "Well?"}),
    "tool-name-with-space": lambda body: body["tools"][1]["function"].update(name="get time"),
    "tool-name-too-long": lambda body: body["tools"][1]["function"].update(name="g" * 200),
    "two-tools-of-one-name": lambda body: body["tools"].append(_tool("get_time")),
    "choice-of-unknown-tool": lambda body: body.update(
        tool_choice={"type": "function", "function": {"name": "get_news"}}
    ),
    "choice-without-tools": _drop_tools,
    "top-p-out-of-range": lambda body: body.update(top_p=1.5),
    "no-tokens": lambda body: body.update(max_tokens=0),
    "negative-tokens": lambda body: body.update(max_tokens=-1),
    "too-many-stops": lambda body: body.update(stop=[f"stop {n}" for n in range(40)]),
    "invalid-base64": lambda body: _ask_with_image(body, "data:image/png;base64,this is not base64!"),
    "arguments-not-json": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(
        arguments="{city: Paris"
    ),
    "invalid-parameters": lambda body: _schema_of(body).update(type="strin"),
    "answer-schema-without-name": _answer_without_name,
}


_NAMES: Final = "no thread quotes a refusal of it"
_LIMITS: Final = "a limit: those of a server that nobody knows are its own, and OpenAI's are notes"
_TOOLS: Final = "what a server makes of its tools is its own, and depends on the model that it serves"
_ACCEPTED: Final[Mapping[str, Mapping[str, str]]] = {
    "mistral-chat": {
        "no-tokens": "BaseCompletionRequest.max_tokens in mistral-common 1.13.1 is at least 0, as in Mistral's "
        "openapi.yaml: https://docs.mistral.ai/api",
        "arguments-not-json": "Mistral's own validator takes any text, which test_mistral_common runs: "
        "https://github.com/mistralai/mistral-common",
    },
    "openrouter-chat": {
        "missing-model": "the user's default model is taken: https://openrouter.ai/docs/api-reference/overview",
    },
}
_UNKNOWN: Final[Mapping[str, Mapping[str, str]]] = {
    "openai-chat": {
        "two-tools-of-one-name": _NAMES,
        "choice-of-unknown-tool": "a refusal is quoted of the Responses API alone",
        "arguments-not-json": _NAMES,
    },
    "mistral-chat": {
        "two-tools-of-one-name": _NAMES,
        "choice-of-unknown-tool": _NAMES,
        "choice-without-tools": "auto without tools was answered with 200; nothing is known of required",
        "invalid-base64": _NAMES,
        "too-many-stops": "Mistral's openapi.yaml has no limit, and LangChain's documentation says four",
    },
    "deepseek-chat": {
        "choice-of-unknown-tool": _NAMES,
        "choice-without-tools": _NAMES,
        "arguments-not-json": _NAMES,
        "invalid-parameters": "a refusal of another fault deep in a schema is quoted",
    },
    "groq-chat": {
        "unanswered-call": _NAMES,
        "orphan-result": _NAMES,
        "doubled-result": _NAMES,
        "doubled-call-id": _NAMES,
        "result-after-other-turn": _NAMES,
        "two-tools-of-one-name": _NAMES,
        "choice-without-tools": _NAMES,
        "no-tokens": _NAMES,
        "negative-tokens": _NAMES,
        "invalid-base64": _NAMES,
        "arguments-not-json": _NAMES,
    },
    "openrouter-chat": {
        "choice-of-unknown-tool": _NAMES,
        "choice-without-tools": _NAMES,
        "arguments-not-json": "it depends on the provider behind: github.com/NorthlandPositronics/Cogtrix/issues/2290",
    },
    "openai-compatible": {
        "tool-name-with-space": _LIMITS,
        "tool-name-too-long": _LIMITS,
        "two-tools-of-one-name": _TOOLS,
        "choice-of-unknown-tool": _TOOLS,
        "choice-without-tools": _TOOLS,
        "unknown-role": "the roles that a server takes are its own, and its model's",
        "temperature-out-of-range": _LIMITS,
        "top-p-out-of-range": _LIMITS,
        "no-tokens": _LIMITS,
        "negative-tokens": _LIMITS,
        "too-many-stops": _LIMITS,
        "invalid-base64": "a server without vision may never decode an image",
        "arguments-not-json": "text by its shape: Ollama refuses it (ollama.arguments), Mistral takes it",
        "invalid-parameters": _TOOLS,
        "answer-schema-without-name": "Perplexity takes it without a name: recorded",
        "missing-model": "Azure takes it from the path: recorded",
    },
}
"""What a later look may turn into a rule."""


def _format(name: str, model: str, url: str) -> Format:
    return Format(
        good=lambda: _good(model, image=name != "deepseek-chat"),
        url=url,
        spoil=_SPOIL,
        accepted=_ACCEPTED.get(name, {}),
        unknown=_UNKNOWN[name],
    )


FORMATS: Final[Mapping[str, Format]] = {
    name: _format(name, model, url)
    for name, model, url in (
        ("openai-chat", "gpt-4o", "https://api.openai.com/v1/chat/completions"),
        ("mistral-chat", "mistral-large-latest", "https://api.mistral.ai/v1/chat/completions"),
        ("deepseek-chat", "deepseek-chat", "https://api.deepseek.com/chat/completions"),
        ("groq-chat", "qwen/qwen3.8-27b", "https://api.groq.com/openai/v1/chat/completions"),
        ("openrouter-chat", "anthropic/claude-sonnet-4.5", "https://openrouter.ai/api/v1/chat/completions"),
        ("openai-compatible", "written", "http://127.0.0.1:8000/v1/chat/completions"),
    )
}
