"""LlamaIndex: `achat` and `astream_chat` of its models. Their tools are made of functions, so tools go past them.

Its models send a temperature of 0.1 by default: it is left out where a call says none.
"""

from typing import Any

import anthropic
import openai
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock
from llama_index.llms.anthropic import Anthropic as AnthropicLLM
from llama_index.llms.openai import OpenAI as OpenAILLM
from subject import Request, Subject
from turns import Call, Turn


class LlamaIndex(Subject):
    losses, refusals = ("message_name", "result_status"), (ValueError,)
    counts = ("prompt_tokens", "completion_tokens")

    async def answer(self, request: Request) -> Any:
        model, asked, answer, said = self.model(request.model), self.given(request), None, None
        messages = [self.write(turn) for turn in request.turns()]
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
        yield self.end(calls, said, answer.additional_kwargs)

    def write(self, turn: Turn) -> ChatMessage:
        blocks = turn.parts_as(lambda text: TextBlock(text=text), lambda image: ImageBlock(url=image.url))
        for call in turn.calls:
            blocks.append(ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=self.kwargs(call)))
        result = {"tool_call_id": turn.call_id, "name": turn.call.name} if turn.role == "tool" else {}
        return ChatMessage(role=turn.role, blocks=blocks, additional_kwargs=result)


class OpenAI(LlamaIndex):
    dialect = "openai-chat"

    def made(self, model: str) -> Any:
        return OpenAILLM(model, api_key=self.key, api_base=self.url, max_retries=0)

    def given(self, request: Request) -> dict[str, Any]:
        usage = {"stream_options": {"include_usage": True}} if request.is_streamed else {}
        return {"temperature": openai.omit, **request.chat_settings(), **usage}

    def kwargs(self, call: Call) -> Any:
        return call.text

    def said(self, answer: Any) -> Any:
        return answer.raw.choices[0].finish_reason if answer.raw.choices else None


class Anthropic(LlamaIndex):
    dialect, adds, repairs = (
        "anthropic-messages",
        "/v1",
        ("joins_turns", "always_hoists_late_system", "drops_blank_text"),
    )
    missing, renamed = ("parallel_tool_calls", "response_schema", "tool_choice"), {"stop": "stop_sequences"}

    def made(self, model: str) -> Any:
        return AnthropicLLM(model, api_key=self.key, base_url=self.url, max_retries=0)

    def given(self, request: Request) -> dict[str, Any]:
        tools = [
            {"name": one.name, "description": one.description, "input_schema": one.parameters}
            for one in request.functions()
        ]
        return {"temperature": anthropic.omit, **request.settings, **({"tools": tools} if tools else {})}

    def kwargs(self, call: Call) -> Any:
        return call.arguments

    def said(self, answer: Any) -> Any:
        return answer.message.additional_kwargs.get("stop_reason") or answer.raw.get("stop_reason")
