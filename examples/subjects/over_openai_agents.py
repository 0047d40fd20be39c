"""OpenAI Agents SDK: its two models, chat completions and responses, called without an agent."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from agents import FunctionTool, ModelSettings, ModelTracing, OpenAIChatCompletionsModel, OpenAIResponsesModel
from answering import the_end
from openai import AsyncOpenAI
from subject import Request, Subject, chosen


class Agents(Subject):
    """What the two have in common. Its items have no names, and its late system messages are items."""

    losses, missing = (*Subject.losses, "message_name", "result_status"), ("stop", "response_schema")
    capabilities = tuple(one for one in Subject.capabilities if one not in {"stop", "response_schema"})

    @cached_property
    def client(self) -> AsyncOpenAI:
        return AsyncOpenAI(api_key=self.key, base_url=self.url, max_retries=0)

    async def answer(self, request: Request) -> Any:
        tools = [
            FunctionTool(one["name"], one["description"], one["parameters"], print, strict_json_schema=False)
            for one in request.functions()
        ]
        choice = chosen(tool_choice=request.tool_choice, parallel_tool_calls=request.parallel_tool_calls)
        settings = ModelSettings(**request.settings, **choice)
        system, items = read_items(request.messages)
        asked = (system, items, settings, tools, None, [], ModelTracing.DISABLED)
        more = {"previous_response_id": None, "conversation_id": None, "prompt": None}
        model, end = self.model(request.model), None
        if request.is_streamed:
            async for event in model.stream_response(*asked, **more):
                if event.type in {"response.output_text.delta", "response.refusal.delta"}:
                    yield event.delta
                elif event.type in {"response.completed", "response.incomplete", "response.failed"}:
                    end = event.response
            output, used = end.output, end.usage
        else:
            end = await model.get_response(*asked, **more)
            output, used = end.output, end.usage
            parts = [part for item in output if item.type == "message" for part in item.content]
            yield "".join(part.text if part.type == "output_text" else part.refusal for part in parts)
        calls = [(item.call_id, item.name, item.arguments) for item in output if item.type == "function_call"]
        counts = (used and used.input_tokens, used and used.output_tokens)
        cut = getattr(end, "incomplete_details", None)  # an answer that is not streamed does not say how it ended
        said = {"max_output_tokens": "length", None: "stop"}.get(cut and cut.reason, "content_filter")
        for piece in the_end(calls, said, *counts):
            yield piece


def read_items(chats: list[dict[str, Any]]) -> tuple[str | None, list[Any]]:
    system, items = None, []
    for chat in chats:
        role, content = chat["role"], chat["content"]
        if role == "system" and system is None and not items:
            system = content
        elif role == "tool":
            items.append({"type": "function_call_output", "call_id": chat["tool_call_id"], "output": content})
        elif content is not None:
            parts = content if isinstance(content, str) else [read_part(part) for part in content]
            items.append({"role": role, "content": parts})
        calls = chat.get("tool_calls", ())
        items.extend({"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls)
    return system, items


def read_part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}


class Chat(Agents):
    dialect, default = "openai-chat", "gpt-4.1-mini"

    def made(self, model: str) -> Any:
        return OpenAIChatCompletionsModel(model, self.client)


class Responses(Agents):
    dialect, default = "openai-responses", "gpt-4.1-mini"

    def made(self, model: str) -> Any:
        return OpenAIResponsesModel(model, self.client)
