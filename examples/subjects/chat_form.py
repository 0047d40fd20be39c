"""A prompt in the form of chat completions, which many libraries take: messages and tools."""

from __future__ import annotations

import json
from typing import Any

from art_sdk import PromptTranslationFailed


def refuse(why: str) -> PromptTranslationFailed:
    """The error for a prompt or an option that the library has no parameter for."""
    return PromptTranslationFailed(why)


def check_messages(prompt: list[dict[str, Any]], dialect: str) -> None:
    """Reasoning that was kept for the next turn, and requests of tools without a content, are not supported."""
    for message in prompt:
        if dialect in (message.get("extensions") or {}) or (
            message["role"] == "tool_request" and not message["content"]
        ):
            raise refuse(f"this {message['role']} message is not supported")


def chat_messages(prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages in the form of chat completions, which many libraries take; tool requests join their turn."""
    messages: list[dict[str, Any]] = []
    for message in prompt:
        chat = _chat_message(message)
        if message["role"] == "tool_request" and messages and messages[-1]["role"] == "assistant":
            messages[-1] |= {"tool_calls": [*messages[-1].get("tool_calls", ()), *chat["tool_calls"]]}
        else:
            messages.append(chat)
    if any(one["role"] == "assistant" and one["content"] is None and not one.get("tool_calls") for one in messages):
        raise refuse("an assistant message has neither a text nor a call")
    return messages


def _chat_message(message: dict[str, Any]) -> dict[str, Any]:
    match message:
        case {"role": "tool_request", "content": request}:
            function = {"name": request["name"], "arguments": request["arguments"]}
            if not isinstance(function["arguments"], str):
                function["arguments"] = json.dumps(function["arguments"])
            calls = [{"id": request["id"], "type": "function", "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        case {"role": "tool" | "tool_result"}:
            return {**message, "role": "tool"}
        case {"role": "user", "content": list()}:
            return {**message, "content": [_chat_part(part) for part in message["content"]]}
        case _:
            pass
    return {name: value for name, value in message.items() if name != "extensions" and value != []}


def _chat_part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return part
    url = part.get("url") or f"data:{part['mime_type']};base64,{part['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


def chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool in the form of chat completions."""
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}
