"""Haystack: its chat generators. Two of them take a base URL from the client's environment alone: it is given one."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from answering import the_end
from anthropic import AsyncAnthropic
from chat_form import object_arguments, refuse
from google.genai import Client
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, ImageContent, ToolCall
from haystack.tools import Tool
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator
from subject import Request, Subject


class Haystack(Subject):
    """What the three have in common. It runs tools itself: a tool has a function, and arguments are objects."""

    losses, refusals = Subject.losses, (ValueError, TypeError)

    async def answer(self, request: Request) -> Any:
        tools = [
            Tool(one["name"], one["description"], one["parameters"], function=print) for one in request.functions()
        ]
        asked = {
            "messages": read_messages(request.messages),
            "generation_kwargs": self.given(request),
            "tools": tools or None,
        }
        generator, pieces = self.model(request.model), asyncio.Queue[Any]()

        async def tell(chunk: Any) -> None:
            await pieces.put(chunk.content)

        async def run() -> Any:
            try:
                return await generator.run_async(**asked, streaming_callback=tell if request.is_streamed else None)
            finally:
                await pieces.put(None)

        task = asyncio.create_task(run())
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            message = (await task)["replies"][0]
        finally:
            task.cancel()
        if not request.is_streamed:
            yield message.text or message.meta.get("refusal") or ""
        calls, used = (
            [(call.id, call.tool_name, call.arguments) for call in message.tool_calls],
            message.meta.get("usage") or {},
        )
        counts = [used.get(name) for name in ("prompt_tokens", "completion_tokens")]
        for end in the_end(calls, message.meta.get("finish_reason"), *counts):
            yield end


def read_messages(chats: list[dict[str, Any]]) -> list[ChatMessage]:
    messages, calls = [], dict[str, ToolCall]()
    for chat in chats:
        content, name = chat["content"], chat.get("name")
        match chat["role"]:
            case "system":
                messages.append(ChatMessage.from_system(content, name=name))
            case "user" if isinstance(content, str):
                messages.append(ChatMessage.from_user(content, name=name))
            case "user":
                messages.append(ChatMessage.from_user(content_parts=[read_part(part) for part in content], name=name))
            case "tool":
                origin = calls.get(chat["tool_call_id"])
                if origin is None:
                    raise refuse(f"the result of {chat['tool_call_id']!r} has no call")
                messages.append(ChatMessage.from_tool(content, origin, error=chat.get("status") == "error"))
            case "assistant":
                own = [
                    ToolCall(one["function"]["name"], object_arguments(one), one["id"])
                    for one in chat.get("tool_calls", ())
                ]
                calls |= {one.id: one for one in own if one.id is not None}
                messages.append(ChatMessage.from_assistant(content, name=name, tool_calls=own))
    return messages


def read_part(part: dict[str, Any]) -> Any:
    if part["type"] == "text":
        return part["text"]
    url = part["image_url"]["url"]
    if not url.startswith("data:"):
        raise refuse("an image by its URL is not supported")
    mime, _, data = url.removeprefix("data:").partition(";base64,")
    return ImageContent(data, mime_type=mime)


class OpenAI(Haystack):
    dialect, default, losses = "openai-chat", "gpt-4.1-mini", (*Haystack.losses, "result_status")

    def given(self, request: Request) -> dict[str, Any]:
        asked = request.chat_settings()
        return {name: value for name, value in asked.items() if name != "tools"}

    def made(self, model: str) -> Any:
        return OpenAIChatGenerator(Secret.from_token(self.key), model, api_base_url=self.url, max_retries=0)


class Anthropic(Haystack):
    dialect, default, adds = "anthropic-messages", "claude-haiku-4-5", "/v1"
    losses, repairs = (*Haystack.losses, "message_name"), ("joins_turns", "always_hoists_late_system")
    missing, renamed = ("tool_choice", "parallel_tool_calls", "response_schema"), {"stop": "stop_sequences"}
    capabilities = tuple(one for one in Subject.capabilities if one not in {"tool_choice", "response_schema"})

    def given(self, request: Request) -> dict[str, Any]:
        return request.settings

    def made(self, model: str) -> Any:
        generator = AnthropicChatGenerator(Secret.from_token(self.key), model, max_retries=0)
        generator.async_client = AsyncAnthropic(api_key=self.key, base_url=self.url, max_retries=0)
        return generator


class Gemini(Anthropic):
    dialect, default, adds = "gemini-generate", "gemini-2.5-flash", "/v1beta"
    losses, repairs = (
        (*Haystack.losses, "message_name", "schema_keywords"),
        ("joins_turns", "always_hoists_late_system", "wraps_result"),
    )
    renamed: ClassVar = {"stop": "stop_sequences", "max_tokens": "max_output_tokens"}

    def made(self, model: str) -> Any:
        generator = GoogleGenAIChatGenerator(api_key=Secret.from_token(self.key), model=model)
        generator._async_client = Client(api_key=self.key, http_options={"base_url": self.url}).aio  # noqa: SLF001
        return generator
