"""The floors: code written in a hurry for one provider. A bare loop and `json.dumps`, with no checks.

Each makes the body of a request that means the same as the adapter's, which `test_floors.py` checks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from art_sdk import (
    AnthropicAdapter,
    AzureOpenAIAdapter,
    BaseAdapter,
    BedrockConverseAdapter,
    CohereChatAdapter,
    DeepSeekAdapter,
    GeminiAdapter,
    GroqAdapter,
    MistralAdapter,
    OllamaAdapter,
    OllamaChatAdapter,
    OpenAIAdapter,
    OpenAICompatibleAdapter,
    OpenAIResponsesAdapter,
    OpenRouterAdapter,
    XAIAdapter,
)
from benchmarks.conversation import MODEL, TOOLS, Message

Payload = dict[str, Any]


def openai_payload(prompt: list[Message], sent_id: Callable[[str], str] = str) -> Payload:
    """A body for `/chat/completions`. `sent_id` makes an id that the provider takes of a call's id."""
    messages: list[Payload] = []
    for message in prompt:
        role = message["role"]
        if role == "tool_result":
            call_id = sent_id(message["tool_call_id"])
            messages.append({"role": "tool", "tool_call_id": call_id, "content": message["content"]})
        elif role == "assistant" and message.get("tool_calls"):
            calls = [
                {
                    "id": sent_id(call["id"]),
                    "type": "function",
                    "function": {"name": call["function"]["name"], "arguments": call["function"]["arguments"]},
                }
                for call in message["tool_calls"]
            ]
            messages.append({"role": "assistant", "content": message["content"], "tool_calls": calls})
        else:
            messages.append({"role": role, "content": message["content"]})
    tools = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]},
        }
        for t in TOOLS
    ]
    return {"model": MODEL, "messages": messages, "tools": tools}


def responses_payload(prompt: list[Message]) -> Payload:
    """A body for `/responses`."""
    items: list[Payload] = []
    for message in prompt:
        role = message["role"]
        if role == "tool_result":
            call_id = message["tool_call_id"]
            items.append({"type": "function_call_output", "call_id": call_id, "output": message["content"]})
            continue
        if message["content"]:
            items.append({"type": "message", "role": role, "content": message["content"]})
        for call in message.get("tool_calls", ()):
            function = call["function"]
            called = {"name": function["name"], "arguments": function["arguments"]}
            items.append({"type": "function_call", "call_id": call["id"], **called})
    tools = [
        {
            "type": "function",
            "name": t["name"],
            "description": t["description"],
            "parameters": t["inputSchema"],
            "strict": False,
        }
        for t in TOOLS
    ]
    return {"model": MODEL, "input": items, "tools": tools, "store": False}


def mistral_payload(prompt: list[Message]) -> Payload:
    """A body for `/chat/completions` at Mistral, whose call ids have nine letters and digits."""
    return openai_payload(prompt, lambda call_id: hashlib.sha256(call_id.encode()).hexdigest()[:9])


def gemini_payload(prompt: list[Message]) -> Payload:
    """A body for `generateContent`."""
    system: list[Payload] = []
    contents: list[Payload] = []
    names: dict[str, str] = {}
    for message in prompt:
        role, text = message["role"], message["content"]
        if role == "system":
            system.append({"text": text})
        elif role == "user":
            contents.append({"role": "user", "parts": [{"text": text}]})
        elif role == "tool_result":
            call_id = message["tool_call_id"]
            answer = {"id": call_id, "name": names[call_id], "response": {"output": text}}
            contents.append({"role": "user", "parts": [{"functionResponse": answer}]})
        else:
            parts: list[Payload] = [{"text": text}] if text else []
            for call in message.get("tool_calls", ()):
                function = call["function"]
                names[call["id"]] = function["name"]
                arguments = json.loads(function["arguments"])
                parts.append({"functionCall": {"id": call["id"], "name": function["name"], "args": arguments}})
            contents.append({"role": "model", "parts": parts})
    tools = [
        {"name": t["name"], "description": t["description"], "parametersJsonSchema": t["inputSchema"]} for t in TOOLS
    ]
    return {
        "contents": contents,
        "systemInstruction": {"parts": system},
        "tools": [{"functionDeclarations": tools}],
    }


def bedrock_payload(prompt: list[Message]) -> Payload:
    """A body for Converse."""
    system: list[Payload] = []
    messages: list[Payload] = []
    for message in prompt:
        role, text = message["role"], message["content"]
        if role == "system":
            system.append({"text": text})
        elif role == "tool_result":
            result = {"toolUseId": message["tool_call_id"], "content": [{"text": text}]}
            messages.append({"role": "user", "content": [{"toolResult": result}]})
        else:
            blocks: list[Payload] = [{"text": text}] if text else []
            for call in message.get("tool_calls", ()):
                function = call["function"]
                arguments = json.loads(function["arguments"])
                blocks.append({"toolUse": {"toolUseId": call["id"], "name": function["name"], "input": arguments}})
            messages.append({"role": role, "content": blocks})
    specs = [
        {"name": t["name"], "description": t["description"], "inputSchema": {"json": t["inputSchema"]}} for t in TOOLS
    ]
    return {"messages": messages, "system": system, "toolConfig": {"tools": [{"toolSpec": spec} for spec in specs]}}


def anthropic_payload(prompt: list[Message]) -> Payload:
    """A body for `/messages`."""
    system: list[Payload] = []
    messages: list[Payload] = []
    for message in prompt:
        role, text = message["role"], message["content"]
        if role == "system":
            system.append({"type": "text", "text": text})
        elif role == "user":
            messages.append({"role": "user", "content": text})
        elif role == "tool_result":
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text}
            messages.append({"role": "user", "content": [result]})
        else:
            blocks: list[Payload] = [{"type": "text", "text": text}] if text else []
            for call in message.get("tool_calls", ()):
                function = call["function"]
                arguments = json.loads(function["arguments"])
                blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": arguments})
            messages.append({"role": "assistant", "content": blocks})
    tools = [{"name": t["name"], "description": t["description"], "input_schema": t["inputSchema"]} for t in TOOLS]
    return {"model": MODEL, "max_tokens": 8192, "system": system, "messages": messages, "tools": tools}


def ollama_payload(prompt: list[Message]) -> Payload:
    """A body for Ollama's `/api/chat`."""
    messages: list[Payload] = []
    names: dict[str, str] = {}
    for message in prompt:
        role, text = message["role"], message["content"]
        if role == "tool_result":
            messages.append({"role": "tool", "content": text, "tool_name": names[message["tool_call_id"]]})
        elif role == "assistant" and message.get("tool_calls"):
            calls: list[Payload] = []
            for call in message["tool_calls"]:
                function = call["function"]
                names[call["id"]] = function["name"]
                arguments = json.loads(function["arguments"])
                calls.append({"function": {"name": function["name"], "arguments": arguments}})
            messages.append({"role": "assistant", "content": text or "", "tool_calls": calls})
        else:
            messages.append({"role": role, "content": text})
    tools = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]},
        }
        for t in TOOLS
    ]
    return {"model": MODEL, "messages": messages, "tools": tools, "stream": False}


def cohere_payload(prompt: list[Message]) -> Payload:
    """A body for Cohere's `/v2/chat`."""
    messages: list[Payload] = []
    for message in prompt:
        role, text = message["role"], message["content"]
        if role == "tool_result":
            messages.append({"role": "tool", "tool_call_id": message["tool_call_id"], "content": text})
            continue
        written: Payload = {"role": role, "content": text} if text else {"role": role}
        if message.get("tool_calls"):
            written["tool_calls"] = message["tool_calls"]
        messages.append(written)
    tools = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]},
        }
        for t in TOOLS
    ]
    return {"model": MODEL, "messages": messages, "tools": tools, "stream": False}


class Contest(NamedTuple):
    """A floor and the adapter that is measured against it."""

    payload: Callable[[list[Message]], Payload]
    adapter: BaseAdapter

    def floor(self, prompt: list[Message]) -> bytes:
        """The request body."""
        return json.dumps(self.payload(prompt)).encode()


CONTESTS: Final[Mapping[str, Contest]] = {
    "openai": Contest(openai_payload, OpenAIAdapter(api_key="key")),
    "openai-responses": Contest(responses_payload, OpenAIResponsesAdapter(api_key="key")),
    "anthropic": Contest(anthropic_payload, AnthropicAdapter(api_key="key")),
    "bedrock": Contest(bedrock_payload, BedrockConverseAdapter(api_key="key")),
    "cohere": Contest(cohere_payload, CohereChatAdapter(api_key="key")),
    "gemini": Contest(gemini_payload, GeminiAdapter(api_key="key")),
    "ollama-chat": Contest(ollama_payload, OllamaChatAdapter(api_key="key")),
}

_URL: Final = "https://box.test/openai/v1"

FAMILY: Final[Mapping[str, Contest]] = {
    "azure": Contest(openai_payload, AzureOpenAIAdapter(api_key="key", base_url=_URL, model=MODEL)),
    "deepseek": Contest(openai_payload, DeepSeekAdapter(api_key="key")),
    "groq": Contest(openai_payload, GroqAdapter(api_key="key")),
    "mistral": Contest(mistral_payload, MistralAdapter(api_key="key")),
    "ollama": Contest(openai_payload, OllamaAdapter(api_key="key")),
    "openai-compatible": Contest(openai_payload, OpenAICompatibleAdapter(api_key="key", base_url=_URL, model=MODEL)),
    "openrouter": Contest(openai_payload, OpenRouterAdapter(api_key="key")),
    "xai": Contest(openai_payload, XAIAdapter(api_key="key")),
}
"""The other members of the chat completions family."""
