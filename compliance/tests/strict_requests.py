"""Requests to a strict provider in each format, and its answers read."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.provider import StrictProvider
from request_paths import path_of

KEYS = {
    "openai-chat": {"authorization": "Bearer any"},
    "openai-responses": {"authorization": "Bearer any"},
    "anthropic-messages": {"x-api-key": "any", "anthropic-version": "2023-06-01"},
    "gemini-generate": {"x-goog-api-key": "any"},
    "ollama-chat": {"authorization": "Bearer any"},
    "cohere-chat-v2": {"authorization": "Bearer any"},
}


PATHS = {name: path_of(name, "gemini-2.5-flash") for name in KEYS}


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


HELLO: dict[str, dict[str, Any]] = {
    "openai-chat": {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]},
    "openai-responses": {"model": "gpt-4.1", "input": [{"role": "user", "content": "hi"}]},
    "anthropic-messages": {"model": "claude-x", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]},
    "gemini-generate": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "ollama-chat": {"model": "qwen3:8b", "messages": [{"role": "user", "content": "hi"}], "stream": False},
    "cohere-chat-v2": {"model": "command-a-03-2025", "messages": [{"role": "user", "content": "hi"}]},
}


FUNCTIONS = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in ("look", "see")]


TOOLS: dict[str, dict[str, Any]] = {
    "openai-chat": {"tools": FUNCTIONS},
    "ollama-chat": {"tools": FUNCTIONS},
    "cohere-chat-v2": {"tools": FUNCTIONS},
    "openai-responses": {
        "tools": [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in ("look", "see")]
    },
    "anthropic-messages": {"tools": [{"name": name, "input_schema": SCHEMA} for name in ("look", "see")]},
    "gemini-generate": {
        "tools": [
            {
                "functionDeclarations": [
                    {"name": n, "description": n, "parametersJsonSchema": SCHEMA} for n in ("look", "see")
                ]
            }
        ]
    },
}


def post(provider: StrictProvider, dialect: str, payload: Any, **settings: Any) -> httpx2.Response:
    headers = settings.pop("headers", KEYS[dialect])
    content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return httpx2.post(
        provider.url + settings.pop("path", PATHS[dialect]),
        content=content,
        headers=headers,
        **{"timeout": 60, **settings},
    )


def words(dialect: str, response: httpx2.Response) -> str:
    """The text of an error in the provider's own format."""
    body = response.json()
    fault = body.get("error", body)
    said: str = fault if isinstance(fault, str) else fault["message"]
    assert body == json.loads(DIALECTS[dialect].answers.write_error(response.status_code, said))
    return said


def read_answer(dialect: str, response: httpx2.Response) -> Any:
    """The text and the calls of an answer."""
    text, calls, finish = READERS[dialect](response.json())
    return text or None, [(name, arguments) for name, arguments in calls], finish


def read_openai(body: Any) -> Any:
    message = body["choices"][0]["message"]
    called = [call["function"] for call in message.get("tool_calls", ())]
    calls = [(call["name"], json.loads(call["arguments"])) for call in called]
    return message["content"], calls, body["choices"][0]["finish_reason"]


def read_responses(body: Any) -> Any:
    called = [item for item in body["output"] if item["type"] == "function_call"]
    texts = [part["text"] for item in body["output"] if item["type"] == "message" for part in item["content"]]
    details = body["incomplete_details"]
    finish = details["reason"] if details else "function_call" if called else body["status"]
    return "".join(texts), [(call["name"], json.loads(call["arguments"])) for call in called], finish


def read_anthropic(body: Any) -> Any:
    texts = [block["text"] for block in body["content"] if block["type"] == "text"]
    calls = [(block["name"], block["input"]) for block in body["content"] if block["type"] == "tool_use"]
    return "".join(texts), calls, body["stop_reason"]


def read_gemini(body: Any) -> Any:
    parts = body["candidates"][0]["content"]["parts"]
    called = [part["functionCall"] for part in parts if "functionCall" in part]
    texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
    return "".join(texts), [(call["name"], call["args"]) for call in called], body["candidates"][0]["finishReason"]


def read_ollama(body: Any) -> Any:
    called = [call["function"] for call in body["message"].get("tool_calls", ())]
    return body["message"]["content"], [(call["name"], call["arguments"]) for call in called], body["done_reason"]


def read_cohere(body: Any) -> Any:
    message = body["message"]
    called = [call["function"] for call in message.get("tool_calls", ())]
    text = "".join(part["text"] for part in message.get("content", ()))
    return text, [(call["name"], json.loads(call["arguments"])) for call in called], body["finish_reason"]


READERS: Any = {
    "openai-chat": read_openai,
    "openai-responses": read_responses,
    "anthropic-messages": read_anthropic,
    "gemini-generate": read_gemini,
    "ollama-chat": read_ollama,
    "cohere-chat-v2": read_cohere,
}


FINISH = {
    "openai-chat": ("stop", "length", "tool_calls"),
    "openai-responses": ("completed", "max_output_tokens", "function_call"),
    "anthropic-messages": ("end_turn", "max_tokens", "tool_use"),
    "gemini-generate": ("STOP", "MAX_TOKENS", "STOP"),
    "ollama-chat": ("stop", "length", "stop"),
    "cohere-chat-v2": ("COMPLETE", "MAX_TOKENS", "TOOL_CALL"),
}


each = pytest.mark.parametrize("dialect", PATHS)


def with_results(dialect: str, body: Any) -> Any:
    payload = json.loads(json.dumps(HELLO[dialect] | TOOLS[dialect]))
    match dialect:
        case "openai-chat":
            message = {
                name: value for name, value in body["choices"][0]["message"].items() if value and name != "annotations"
            }
            results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in message["tool_calls"]]
            payload["messages"] += [message, *results]
        case "openai-responses":
            results = [
                {"type": "function_call_output", "call_id": item["call_id"], "output": "ok"}
                for item in body["output"]
                if item["type"] == "function_call"
            ]
            payload["input"] += [*body["output"], *results]
        case "anthropic-messages":
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}
                for block in body["content"]
                if block["type"] == "tool_use"
            ]
            payload["messages"] += [
                {"role": "assistant", "content": body["content"]},
                {"role": "user", "content": results},
            ]
        case "cohere-chat-v2":
            calls = body["message"]["tool_calls"]
            results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in calls]
            payload["messages"] += [body["message"], *results]
        case "ollama-chat":
            names = [call["function"]["name"] for call in body["message"]["tool_calls"]]
            results = [{"role": "tool", "content": "ok", "tool_name": name} for name in names]
            payload["messages"] += [body["message"], *results]
        case _:
            content = body["candidates"][0]["content"]
            results = [
                {"functionResponse": {"id": call["id"], "name": call["name"], "response": {"output": "ok"}}}
                for call in (part["functionCall"] for part in content["parts"] if "functionCall" in part)
            ]
            payload["contents"] += [content, {"role": "user", "parts": results}]
    return payload
