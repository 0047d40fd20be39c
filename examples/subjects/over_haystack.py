"""Haystack: its chat generators. Two of them take a base URL from the client's environment alone: it is given one."""

from contextlib import aclosing
from typing import Any

from answering import listen
from anthropic import AsyncAnthropic
from google.genai import Client
from google.genai.types import HttpOptions, HttpRetryOptions
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, ImageContent, ToolCall
from haystack.tools import Tool
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator
from subject import Request, Subject
from turns import Call, Image, Turn


class Haystack(Subject):
    refusals, counts = (ValueError, TypeError), ("prompt_tokens", "completion_tokens")

    async def answer(self, request: Request) -> Any:
        tools = [Tool(*one, function=print) for one in request.functions()]  # it would call them itself
        asked = {"generation_kwargs": self.given(request), "tools": tools or None}
        generator, messages = self.model(request.model), [write(turn) for turn in request.turns()]

        def run(tell: Any) -> Any:
            return generator.run_async(messages, streaming_callback=tell if request.is_streamed else None, **asked)

        async with aclosing(listen(run)) as chunks:
            async for said in chunks:
                if not isinstance(said, dict):
                    yield said.content
        message = said["replies"][0]
        if not request.is_streamed:
            yield message.text or message.meta.get("refusal") or ""
        calls = [(call.id, call.tool_name, call.arguments) for call in message.tool_calls]
        yield self.end(calls, message.meta.get("finish_reason"), message.meta.get("usage"))

    def given(self, request: Request) -> dict[str, Any]:
        return request.settings


def write(turn: Turn) -> ChatMessage:
    match turn.role:
        case "system":
            return ChatMessage.from_system(turn.content, name=turn.name)
        case "user":
            return ChatMessage.from_user(content_parts=turn.parts_as(image=write_image), name=turn.name)
        case "tool":
            return ChatMessage.from_tool(turn.content, write_call(turn.call), error=turn.is_failed)
    calls = [write_call(call) for call in turn.calls]
    return ChatMessage.from_assistant(turn.content, name=turn.name, tool_calls=calls)


def write_call(call: Call) -> ToolCall:
    return ToolCall(call.name, call.arguments, call.id)


def write_image(image: Image) -> ImageContent:
    return ImageContent(*image.encoded)


class OpenAI(Haystack):
    dialect = "openai-chat"

    def given(self, request: Request) -> dict[str, Any]:
        return {name: value for name, value in request.chat_settings().items() if name != "tools"}

    def made(self, model: str) -> Any:
        return OpenAIChatGenerator(Secret.from_token(self.key), model, api_base_url=self.url, max_retries=0)


class Anthropic(Haystack):
    dialect, adds, repairs = "anthropic-messages", "/v1", ("joins_turns", "always_hoists_late_system")
    missing, renamed = ("tool_choice", "parallel_tool_calls", "response_schema"), {"stop": "stop_sequences"}

    def made(self, model: str) -> Any:
        generator = AnthropicChatGenerator(Secret.from_token(self.key), model, max_retries=0)
        generator.async_client = AsyncAnthropic(api_key=self.key, base_url=self.url, max_retries=0)
        return generator


class Gemini(Haystack):
    dialect, adds, losses = "gemini-generate", "/v1beta", ("schema_keywords",)
    repairs = ("joins_turns", "always_hoists_late_system", "wraps_result")
    missing, renamed = Anthropic.missing, {"stop": "stop_sequences", "max_tokens": "max_output_tokens"}

    def made(self, model: str) -> Any:
        generator = GoogleGenAIChatGenerator(api_key=Secret.from_token(self.key), model=model)
        options = HttpOptions(base_url=self.url, retry_options=HttpRetryOptions(attempts=1))
        generator._async_client = Client(api_key=self.key, http_options=options).aio  # noqa: SLF001
        return generator
