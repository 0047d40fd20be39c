"""LlamaIndex: `achat` and `astream_chat` of its models. Their tools are made of functions, so tools go past them.

Its models send a temperature of 0.1 by default: it is left out where a call says none.
"""

from __future__ import annotations

from typing import Any, ClassVar

import anthropic
from answering import the_end
from chat_form import Names, object_arguments
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock
from llama_index.llms.anthropic import Anthropic as AnthropicLLM
from llama_index.llms.openai import OpenAI as OpenAILLM
from openai import omit
from subject import Request, Subject, chosen


class LlamaIndex(Subject):
    """What the two have in common. `additional_kwargs` is the place of a result's call, in each of them."""

    losses, refusals = (*Subject.losses, "message_name", "result_status"), (ValueError,)

    async def answer(self, request: Request) -> Any:
        messages, names = [], Names()
        for chat in request.messages:
            names.learn(chat)
            content, own = chat["content"], {}
            texts = (
                [TextBlock(text=content)] if isinstance(content, str) else [read_part(part) for part in content or ()]
            )
            if chat["role"] == "tool":
                own = {"tool_call_id": chat["tool_call_id"], "name": names.of(chat["tool_call_id"])}
            calls = [
                ToolCallBlock(
                    tool_call_id=call["id"], tool_name=call["function"]["name"], tool_kwargs=self.arguments(call)
                )
                for call in chat.get("tool_calls", ())
            ]
            messages.append(ChatMessage(role=chat["role"], blocks=[*texts, *calls], additional_kwargs=own))
        model, asked, answer, said = self.model(request.model), self.given(request), None, None
        if request.is_streamed:
            async for answer in await model.astream_chat(messages, **asked):
                said = self.said(answer) or said  # OpenAI's is not in the last chunk, which has the usage
                yield answer.delta or ""
        else:
            answer = await model.achat(messages, **asked)
            said = self.said(answer)
            yield "".join(block.text for block in answer.message.blocks if isinstance(block, TextBlock))
        blocks = [block for block in answer.message.blocks if isinstance(block, ToolCallBlock)]
        calls = [(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in blocks]
        counts = [answer.additional_kwargs.get(name) for name in ("prompt_tokens", "completion_tokens")]
        for piece in the_end(calls, said, *counts):
            yield piece

    def arguments(self, call: dict[str, Any]) -> Any:
        return object_arguments(call)


def read_part(part: dict[str, Any]) -> Any:
    return TextBlock(text=part["text"]) if part["type"] == "text" else ImageBlock(url=part["image_url"]["url"])


class OpenAI(LlamaIndex):
    dialect, default = "openai-chat", "gpt-4.1-mini"

    def made(self, model: str) -> Any:
        return OpenAILLM(model, api_key=self.key, api_base=self.url, max_retries=0)

    def given(self, request: Request) -> dict[str, Any]:
        usage = {"stream_options": {"include_usage": True}} if request.is_streamed else {}
        return {"temperature": omit, **request.chat_settings(), **usage}

    def arguments(self, call: dict[str, Any]) -> Any:
        return call["function"]["arguments"]

    def said(self, answer: Any) -> Any:
        return answer.raw.choices[0].finish_reason if answer.raw.choices else None


class Anthropic(LlamaIndex):
    dialect, default, adds = "anthropic-messages", "claude-haiku-4-5", "/v1"
    repairs = ("joins_turns", "always_hoists_late_system", "drops_blank_text")
    missing = ("parallel_tool_calls", "response_schema", "tool_choice")
    renamed: ClassVar = {"stop": "stop_sequences"}
    capabilities = tuple(one for one in Subject.capabilities if one not in {"response_schema", "tool_choice"})

    def made(self, model: str) -> Any:
        return AnthropicLLM(model, api_key=self.key, base_url=self.url, max_retries=0)

    def given(self, request: Request) -> dict[str, Any]:
        tools = [
            {"name": one["name"], "description": one["description"], "input_schema": one["parameters"]}
            for one in request.functions()
        ]
        return {"temperature": anthropic.omit, **request.settings, **chosen(tools=tools or None)}

    def said(self, answer: Any) -> Any:
        return answer.message.additional_kwargs.get("stop_reason") or answer.raw.get("stop_reason")
